import Foundation
import TestSupport

@testable import BluetoothLELinux

/// `blectl peripheral` in a process of its own.
final class ServedPeripheral {
  /// The text of a peripheral file. Its attributes begin at 0x000a.
  static func device(_ more: String = "", advertisement: String = #"{"flags": 6, "name": "Kernel-02"}"#) -> String {
    """
    {"name": "Kernel-02", "address": "F0:F1:F2:00:00:01/random", "interval_ms": 40, "advertisement": \(advertisement), \(more)
     "services": [{"uuid": "ffe0", "characteristics": [
       {"uuid": "ffe1", "properties": ["read", "write", "notify"], "value": "0102"},
       {"uuid": "ffe2", "properties": ["read"], "permissions": ["read_encrypted"], "value": {"utf8": "secret"}},
       {"uuid": "ffe3", "properties": ["read"], "permissions": ["read_authenticated"], "value": {"utf8": "more secret"}}]}]}
    """
  }

  /// The folder of bonds and of the numbers of advertising instances.
  static let state = "/tmp/served-\(UUID().uuidString)"

  let process: RunningProcess
  /// The address and its type, as the device advertises them.
  let address: String
  let type: String
  var peer: String { "\(address)/\(type)" }

  static func start(_ adapter: String, _ file: String, state: String = state) throws -> RunningProcess {
    try Blectl.start(
      ["-i", adapter, "peripheral", file, "--json"], environment: ["XDG_STATE_HOME": state], adapter: nil, virtual: false)
  }

  init(_ adapter: String, _ device: String = ServedPeripheral.device(), state: String = ServedPeripheral.state) throws {
    process = try Self.start(adapter, try TemporaryFolder.file(device), state: state)
    guard let line = process.nextLine(where: { $0.contains(#""event":"advertising""#) }), let address = try Record(line).string("address"),
      let type = try Record(line).string("address_type")
    else { throw Guest.ToolFailed(description: "peripheral does not start: \(process.wait().errors)") }
    (self.address, self.type) = (address, type)
  }

  /// Returns the next event with this name that no earlier call returned.
  func event(_ name: String) -> Record? {
    process.nextLine { $0.contains("\"event\":\"\(name)\"") }.flatMap { try? Record($0) }
  }
}
