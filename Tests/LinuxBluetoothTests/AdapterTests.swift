import CBluetoothLEBlueZ
import Foundation
import Glibc
import SystemPackage
import TestSupport

@testable import BluetoothLE
@testable import BluetoothLELinux

@Suite(.timeLimit(.minutes(15))) struct AdapterTests {
  /// This machine lists its adapters, or its kernel has no Bluetooth.
  @Test func listing() {
    do {
      let adapters = try AdapterList.adapters()
      #expect(adapters.map(\.index) == adapters.map(\.index).sorted())
    } catch {
      #expect(error == .kernelWithoutBluetooth)
      #expect(throws: AdapterProblem.kernelWithoutBluetooth) { _ = try AdapterList.choose(0) }
    }
  }

  private static let good = AdapterInfo(index: 1, address: Address(rawValue: 1), isUp: true, bus: "usb", le: true)
  private static let block = RFKill.Switch(device: "rfkill1", name: "hci0", state: .softBlocked)
  private static func other(_ change: (inout AdapterInfo) -> Void) -> AdapterInfo {
    var adapter = good
    adapter.index = 0
    change(&adapter)
    return adapter
  }

  @Test func theFirstThatCanBeUsedIsChosen() throws {
    let switches = RFKill(folder: "/nowhere")
    let down = Self.other { $0.isUp = false }
    #expect(try AdapterList.choose(nil, from: [down, Self.good], switches).index == 1)
    #expect(try AdapterList.choose(1, from: [down, Self.good], switches).index == 1)
    #expect(throws: AdapterProblem.unknown("hci2", others: ["hci0", "hci1"])) {
      _ = try AdapterList.choose(2, from: [down, Self.good], switches)
    }
    #expect(throws: AdapterProblem.none(platformBlock: nil)) { _ = try AdapterList.choose(nil, from: [], switches) }
  }

  @Test(arguments: [
    (other { $0.isUp = false }, AdapterProblem.down("hci0")),
    (other { ($0.isUp, $0.block) = (false, block) }, .blocked("hci0", by: block)),
    (other { $0.isTaken = true }, .taken("hci0")),
    (other { $0.le = false }, .withoutLE("hci0")),
  ]) func whatKeepsAnAdapterFromUse(adapter: AdapterInfo, problem: AdapterProblem) {
    for index in [nil, 0] {
      #expect(throws: problem) { _ = try AdapterList.choose(index, from: [adapter], RFKill(folder: "/nowhere")) }
    }
  }

  @Test(arguments: [
    (EPERM, AdapterProblem.notPermitted("hci3", to: .scanning)), (EACCES, .notPermitted("hci3", to: .scanning)),
    (ENETDOWN, .down("hci3")), (ENODEV, .unknown("hci3", others: [])), (EPIPE, .unplugged("hci3")), (EBADFD, .unplugged("hci3")),
    (ERFKILL, .blocked("hci3", by: nil)), (EUSERS, .taken("hci3")), (EAFNOSUPPORT, .kernelWithoutBluetooth),
    (EINVAL, .other("hci3", .scanning, .invalidArgument)),
  ]) func errnoOfARawSocket(code: Int32, problem: AdapterProblem) {
    #expect(AdapterProblem.of(Errno(rawValue: code), adapter: "hci3", .scanning) == problem)
  }

  @Test(arguments: [
    (EBUSY, AdapterProblem.inUse("hci3")), (EUSERS, .taken("hci3")), (EPERM, .notPermitted("hci3", to: .openingUserChannel)),
    (ENODEV, .unknown("hci3", others: [])),
  ])
  func errnoOfTheUserChannel(code: Int32, problem: AdapterProblem) {
    #expect(UserChannel.problem(Errno(rawValue: code), adapter: "hci3") == problem)
  }

  @Test func switches() throws {
    let folder = TemporaryPath()
    unsafe mkdir(folder.path, 0o700)
    defer { _ = unsafe system("rm -r \(folder.path)") }
    for (number, type, name, soft, hard) in [
      (0, "bluetooth", "hci0", "1", "0"), (1, "wlan", "phy0", "1", "0"), (2, "bluetooth", "hci1", "0", "0"),
      (3, "bluetooth", "tpacpi_bluetooth_sw", "0", "1"),
    ] {
      unsafe mkdir("\(folder.path)/rfkill\(number)", 0o700)
      for (file, value) in [("type", type), ("name", name), ("soft", soft), ("hard", hard)] {
        let descriptor = try SystemCall.open("\(folder.path)/rfkill\(number)/\(file)", O_WRONLY | O_CREAT, mode: 0o600)
        _ = try SystemCall.write(descriptor.rawValue, Array("\(value)\n".utf8)[...])
      }
    }
    let found = RFKill(folder: folder.path)
    #expect(found.switches.map(\.name) == ["hci0", "hci1", "tpacpi_bluetooth_sw"])
    #expect(
      found.block(of: "hci0") == RFKill.Switch(device: "rfkill0", name: "hci0", state: .softBlocked) && found.block(of: "hci1") == nil)
    #expect(found.platformBlock == RFKill.Switch(device: "rfkill3", name: "tpacpi_bluetooth_sw", state: .hardBlocked))
    #expect(RFKill(folder: "/nowhere").platformBlock == nil)
  }

  private static func answer(to command: UInt16, _ packet: [UInt8]) throws -> ManagementChannel.Answer? {
    if case .answer(command, let answer)? = try ManagementEvent.parse(packet)?.event { answer } else { nil }
  }

  @Test func managedAdapters() throws {
    let answer: [UInt8] = [1, 0, 0xFF, 0xFF, 9, 0, 3, 0, 0, 2, 0, 0, 0, 5, 1]
    let parameters = try #require(try Self.answer(to: 3, answer)).parameters
    #expect(try ManagementChannel.parseIndexes(parameters) == [0, 0x0105])
    // An event for all sockets, and the answer to another command.
    #expect(try Self.answer(to: 3, [4, 0, 0xFF, 0xFF, 0, 0]) == nil)
    #expect(try Self.answer(to: 4, answer) == nil)
    hostile([answer], mutations: 20_000) { _ = try? Self.answer(to: 3, $0) }
    hostile([parameters], mutations: 20_000) { _ = try? ManagementChannel.parseIndexes($0) }
  }

  @Test func linksOfOthers() throws {
    let answer: [UInt8] = [2, 0, 6, 5, 4, 3, 2, 0xC1, 2, 1, 0, 0, 0, 0, 0, 0]
    #expect(try ManagementChannel.parseConnections(answer) == [PeerAddress(Address(rawValue: 0xC102_0304_0506), .random)])
    hostile([answer], mutations: 20_000) { _ = try? ManagementChannel.parseConnections($0) }
    // Not permitted: Command Status.
    #expect(try Self.answer(to: 0x15, [2, 0, 0, 0, 3, 0, 0x15, 0, 0x14])?.status == 0x14)
  }
}

/// The kernel's files show which programs share an adapter.
@Suite(.timeLimit(.minutes(15))) struct SocketUsersTests {
  private static let table = """
    sk               RefCnt Rmem   Wmem   User   Inode  Parent
    0000000000000000 2      0      0      0      17531  0
    0000000000000000 2      0      0      1000   20001  0
    0000000000000000 2      0      0      1000   20002  0
    0000000000000000 2      0      0      1000   20003  0
    cut
    """

  @Test func whoHasSockets() {
    let (daemon, tool) = (RunningProgram(process: 1, name: "bluetoothd"), RunningProgram(process: 2, name: "btmon"))
    let own = RunningProgram(process: Int(ProcessInfo.processInfo.processIdentifier), name: "blectl")
    let has: [RunningProgram: Set<UInt64>] = [daemon: [17531], tool: [20001], own: [20002]]
    let users = SocketUsers(
      .hci, among: [daemon, tool, own], table: { $0 == .hci ? Self.table : nil }, sockets: { has[$0, default: []].intersection($1) })
    #expect(users == SocketUsers(programs: [daemon, tool], unknown: 1))
    #expect(SocketUsers(.l2cap, among: [daemon], table: { _ in nil }, sockets: { _, _ in [1] }) == SocketUsers())
  }

  /// A listening channel of ATT, a connected one and one of another adapter are no Security Manager.
  @Test(arguments: [
    ("00:aa:01:00:00:00 (1) 00:00:00:00:00:00 (0) 4 0 0x0006 0x0000 672 672 1 0", true),
    ("00:aa:01:00:00:00 (1) 00:00:00:00:00:00 (0) 4 0 0x0004 0x0000 672 672 1 0", false),
    ("00:aa:01:00:00:00 (1) f0:f1:f2:f3:f4:f5 (2) 1 0 0x0006 0x0006 672 672 1 0", false),
    ("00:aa:01:01:00:01 (1) 00:00:00:00:00:00 (0) 4 0 0x0006 0x0000 672 672 1 0", false), ("", false), ("nonsense", false),
  ]) func securityManager(channels: String, has: Bool) {
    let adapter = AdapterInfo(index: 7, address: Address(rawValue: 0x00AA_0100_0000), isUp: true, bus: "usb", le: true)
    #expect(adapter.hasSecurityManager(among: "\(channels)\n") == has)
    #expect(adapter.hasSecurityManager(folder: "/nowhere") == nil)
  }

  @Test func devicesOfTheKernelsOwnConnections() throws {
    let list = """
      00:11:22:33:44:55 (type 0)
      C0:FF:EE:00:00:01 (type 0) 3
      C0:FF:EE:00:00:02 (type 1) 2
      C0:FF:EE:00:00:03 (type 1) 1
      C0:FF:EE:00:00:04 (type 1) 5
      C0:FF:EE:00:00:05 (type 1) 0
      nonsense (type 1) 3

      """
    #expect(AdapterInfo.autoConnections(list).map(\.description) == ["C0:FF:EE:00:00:01/public", "C0:FF:EE:00:00:02/random"])
    let adapter = AdapterInfo(index: 7, address: nil, isUp: true, bus: "usb", le: true)
    #expect(adapter.autoConnections(folder: "/nowhere") == nil)
  }

  @Test func wifiOfTheSameDevice() throws {
    let root = TemporaryFolder.path()
    let files = FileManager.default
    func folder(_ path: String) throws { try files.createDirectory(atPath: "\(root)/\(path)", withIntermediateDirectories: true) }
    func link(_ path: String, to target: String) throws {
      try folder(String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)))
      try files.createSymbolicLink(atPath: "\(root)/\(path)", withDestinationPath: "\(root)/\(target)")
    }
    try folder("usb/1-4/1-4:1.0")
    try folder("usb/1-4/1-4:1.2/net/wlan3")
    try folder("usb/1-5/1-5:1.0")
    try folder("pci/net/wlan0")
    try link("class/bluetooth/hci0/device", to: "usb/1-4/1-4:1.0")
    try link("class/bluetooth/hci1/device", to: "usb/1-5/1-5:1.0")
    try link("class/ieee80211/phy0/device", to: "pci")
    try link("class/ieee80211/phy1/device", to: "usb/1-4/1-4:1.2")
    func wifi(_ index: Int, _ bus: String = "usb") -> String? {
      AdapterInfo(index: index, address: nil, isUp: true, bus: bus, le: true).wifiOfSameDevice(folder: "\(root)/class")
    }
    #expect(wifi(0) == "wlan3" && wifi(1) == nil && wifi(2) == nil && wifi(0, "uart") == nil)
  }
}

/// The sizes and offsets of these layouts are part of the kernel's interface.
@Suite(.timeLimit(.minutes(15))) struct SocketAddressTests {
  @Test func att() {
    let address = Address(rawValue: 0xF0F1_F2F3_F4F5)
    #expect(SocketAddress.att(address, .random).bytes == [31, 0, 0, 0, 0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 4, 0, 2, 0])
    #expect(SocketAddress.att(address, .public).bytes == [31, 0, 0, 0, 0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 4, 0, 1, 0])
    #expect(SocketAddress.att(nil, .public).bytes == [31, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0])
  }

  @Test func hci() {
    #expect(SocketAddress.hci(adapter: 0x0102, channel: 1).bytes == [31, 0, 2, 1, 1, 0])
    #expect(SocketAddress.hci(adapter: 0xFFFF, channel: HCI_CHANNEL_CONTROL).bytes == [31, 0, 0xFF, 0xFF, 3, 0])
  }

  @Test func filter() {
    #expect(MemoryLayout<hci_filter>.size == 16)
    let needed = HCIFilter.needed.structure
    #expect(needed.type_mask == 0x12)
    #expect(needed.event_mask.0 == 1 << 5 | 1 << 8 | 1 << 14 | 1 << 15)
    #expect(needed.event_mask.1 == 1 << 30)
  }

  @Test func optionStructures() {
    #expect(MemoryLayout<l2cap_conninfo>.size == 6)
    #expect(MemoryLayout<timeval>.size == 16)
  }

  @Test func unix() {
    #expect(SocketAddress.unix("/a")?.bytes == [1, 0, 0x2F, 0x61, 0])
    #expect(SocketAddress.unix("") == nil)
    #expect(SocketAddress.unix("a\0b") == nil)
    #expect(SocketAddress.unix(String(repeating: "a", count: 107))?.bytes.count == 110)
    #expect(SocketAddress.unix(String(repeating: "a", count: 108)) == nil)
  }
}
