import Foundation
import TestSupport

/// BlueZ's daemon with its D-Bus, as on most machines. It takes every adapter without an open user channel and powers it on.
final class Bluetoothd {
  private let bus: RunningProcess
  private let process: RunningProcess
  private let adapter: String

  init(_ adapter: String) throws {
    self.adapter = adapter
    // Lock-01 must be set up first, or bluetoothd takes its adapter.
    try Guest.lock()
    try Guest.must("mkdir", "-p", "/run/dbus")
    bus = try RunningProcess(["dbus-daemon", "--system", "--nofork", "--nopidfile", "--print-address"])
    guard bus.nextLine(where: { $0.hasPrefix("unix:") }) != nil else { throw Guest.ToolFailed(description: "dbus-daemon does not start") }
    process = try RunningProcess(["/usr/libexec/bluetooth/bluetoothd", "-n"])
    guard process.waitForOutput(containing: "management interface") else {
      throw Guest.ToolFailed(description: "bluetoothd does not start: \(process.wait().errors)")
    }
  }

  /// Starts a bluetoothctl that has selected the adapter.
  func control() throws -> Conversation {
    let address = try Guest.must("hciconfig", adapter).firstMatch(of: /BD Address: (\S+)/).map { String($0.1) } ?? "?"
    let tool = try Conversation("bluetoothctl")
    try tool.say("version", until: "Agent registered")
    try Guest.wait(for: "bluetoothd to find \(adapter), \(address)") {
      let list = try tool.say("select \(address)\nlist\nversion", until: "Version").split(separator: "\n")
      return list.contains { $0.contains("Controller \(address)") && $0.hasSuffix("[default]") }
    }
    try tool.say("power on", until: "power on succeeded")
    return tool
  }

  /// Makes bluetoothd find Lock-01, connect, and discover its attributes.
  func connect(_ tool: Conversation) throws {
    try tool.say("scan on", until: "Device \(BumbleAir.peer)")
    try tool.say("scan off", until: "Discovering: no")
    try tool.say("connect \(BumbleAir.peer)", until: "ServicesResolved: yes")
  }

  /// Stops the daemon and disconnects its links.
  func stop() {
    for process in [process, bus] {
      process.end(by: SIGTERM)
    }
    _ = try? Guest.switchOff(adapter)
    _ = try? Guest.switchOn(adapter)
  }
}
