import Foundation
import TestSupport

/// BlueZ's daemon, as most machines run it, and its D-Bus. It takes every adapter that nobody has the user channel of, so Lock-01 must be on the
/// air before.
final class Bluetoothd {
  private let bus: RunningProcess
  private let process: RunningProcess

  init() throws {
    try Guest.must("mkdir", "-p", "/run/dbus")
    bus = try RunningProcess(["dbus-daemon", "--system", "--nofork", "--nopidfile", "--print-address"])
    guard bus.nextLine(where: { $0.hasPrefix("unix:") }) != nil else { throw Guest.ToolFailed(description: "dbus-daemon does not start") }
    process = try RunningProcess(["/usr/libexec/bluetooth/bluetoothd", "-n"])
  }

  /// A bluetoothctl that has chosen hci0.
  func control() throws -> Conversation {
    let address = try Guest.must("hciconfig", "hci0").firstMatch(of: /BD Address: (\S+)/).map { String($0.1) } ?? "?"
    let tool = try Conversation("bluetoothctl")
    try tool.say("version", until: "Agent registered")
    // The daemon needs a moment to find its adapters.
    for _ in 0..<100 {
      let list = try tool.say("select \(address)\nlist\nversion", until: "Version").split(separator: "\n")
      if list.contains(where: { $0.contains("Controller \(address)") && $0.hasSuffix("[default]") }) {
        try tool.say("power on", until: "power on succeeded")
        return tool
      }
      usleep(50_000)
    }
    throw Guest.ToolFailed(description: "bluetoothd does not find hci0, \(address)")
  }

  /// Ends it, and leaves no link of its.
  func stop() {
    for process in [process, bus] {
      process.signal(SIGTERM)
      _ = process.wait()
    }
    _ = try? Guest.switchOff("hci0")
    _ = try? Guest.switchOn("hci0")
  }
}
