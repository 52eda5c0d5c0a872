import Bluetooth
import CBluetooth
import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing

@testable import LinuxBluetooth

@Suite(.timeLimit(.minutes(1))) struct AdapterTests {
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

  @Test func managedAdapters() throws {
    let answer: [UInt8] = [1, 0, 0xFF, 0xFF, 9, 0, 3, 0, 0, 2, 0, 0, 0, 5, 1]
    let parameters = try #require(try ManagementChannel.answer(to: 3, answer)).parameters
    #expect(try ManagementIndexes.parse(parameters) == [0, 0x0105])
    // An event for all sockets, and the answer to another command.
    #expect(try ManagementChannel.answer(to: 3, [4, 0, 0xFF, 0xFF, 0, 0]) == nil)
    #expect(try ManagementChannel.answer(to: 4, answer) == nil)
    hostile([answer], mutations: 20_000) { _ = try? ManagementChannel.answer(to: 3, $0) }
    hostile([parameters], mutations: 20_000) { _ = try? ManagementIndexes.parse($0) }
  }

  @Test func linksOfOthers() throws {
    let answer: [UInt8] = [2, 0, 6, 5, 4, 3, 2, 0xC1, 2, 1, 0, 0, 0, 0, 0, 0]
    #expect(try ManagementConnections.parse(answer) == [PeerAddress(Address(rawValue: 0xC102_0304_0506), .random)])
    hostile([answer], mutations: 20_000) { _ = try? ManagementConnections.parse($0) }
    // Not permitted: Command Status.
    #expect(try ManagementChannel.answer(to: 0x15, [2, 0, 0, 0, 3, 0, 0x15, 0, 0x14])?.status == 0x14)
  }
}
