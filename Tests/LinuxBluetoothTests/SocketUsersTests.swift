import Bluetooth
import Foundation
import LinuxIO
import TestSupport
import Testing

@testable import LinuxBluetooth

/// The kernel's files show which programs share an adapter.
@Suite(.timeLimit(.minutes(1))) struct SocketUsersTests {
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
