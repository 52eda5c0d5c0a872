import Foundation
import TestSupport

/// A device with a sink that fails once, at one packet, described by a peripheral file.
struct FaultyDevice {
  enum Fault: String, CaseIterable, Sendable {
    /// The device goes out of range.
    case loss
    /// The device refuses one request.
    case refusal
    /// The central's controller resets itself.
    case reset
    /// The device accepts nothing more, and its link layer acknowledges nothing.
    case stalledCredits
    /// The device silently drops commands, and does not answer requests.
    case droppingServer
  }

  let fault: Fault
  /// The number of the faulty packet in the transfer, from 1.
  let packet: Int

  /// The address with its type.
  var address: String { String(format: "D1:00:00:00:%02X:%02X/random", packet >> 8, packet & 0xFF) }

  /// The reactions to the faulty packet, after `packet` - 1 packets.
  private var reactions: String {
    let here = #"{"variable": "n", "is": \#(packet - 1)}"#
    let counts = #"{"count": "n"}"#
    let reaction =
      switch fault {
      case .loss: #"{"if": \#(here), "then": [\#(counts), {"disconnect": "out_of_range"}]}"#
      case .refusal: #"{"if": \#(here), "error": 17, "then": [\#(counts)]}"#
      case .reset: #"{"if": \#(here), "then": [\#(counts), {"controller_error": 66}]}"#
      case .stalledCredits: #"{"if": \#(here), "then": [\#(counts), {"busy_ms": 3600000}]}"#
      // An error ends a command silently. A request with a suppressed answer is done.
      case .droppingServer: #"{"if": {"variable": "n", "at_least": \#(packet - 1)}, DROP, "then": [\#(counts)]}"#
      }
    return "\(reaction), {\"then\": [\(counts)]}"
  }

  /// - Parameter byRequest: Whether the device is written to by requests.
  func description(byRequest: Bool) -> String {
    let reactions = reactions.replacingOccurrences(of: "DROP", with: byRequest ? #""answer": false"# : #""error": 17"#)
    return """
      {"name": "Sink", "address": "\(address)", "mtu": 23, "variables": {"n": 0}, \(fault == .stalledCredits ? #""firmware": {"buffers": 4},"# : "")
        "on_disconnect": [{"let": "n", "value": -1000000}], "services": [{"uuid": "fff0", "characteristics": [
          {"uuid": "fff6", "properties": ["write", "write_without_response"], "sink": {"report": "fff7"}, "reactions": [\(reactions)]},
          {"uuid": "fff7", "properties": ["read", "notify"]}]}]}
      """
  }

  /// Creates an air with these devices, for `-i`.
  static func air(_ devices: [FaultyDevice], byRequest: Bool) throws -> String {
    let list = devices.map { $0.description(byRequest: byRequest) }.joined(separator: ",\n")
    return "sim:\(try TemporaryFolder.file("[\(list)]"))"
  }
}
