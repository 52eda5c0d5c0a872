import Foundation
import TestSupport
import Testing

/// Devices with a sink, each of which fails once, at a packet of its own, as a peripheral file describes it.
struct FaultyDevice {
  enum Fault: String, CaseIterable, Sendable {
    /// It walks out of range.
    case loss
    /// It refuses one request.
    case refusal
    /// The central's controller resets itself.
    case reset
    /// It takes nothing any more, and its link layer acknowledges nothing.
    case stalledCredits
    /// It takes commands without a word and drops them; it does not answer requests.
    case droppingServer
  }

  let fault: Fault
  /// Which packet of the transfer goes wrong, from 1.
  let packet: Int

  /// With its type.
  var address: String { String(format: "D1:00:00:00:%02X:%02X/random", packet >> 8, packet & 0xFF) }

  /// What happens with the packet, behind which `n` packets have been counted.
  private var reactions: String {
    let here = #"{"variable": "n", "is": \#(packet - 1)}"#
    let counts = #"{"count": "n"}"#
    let reaction =
      switch fault {
      case .loss: #"{"if": \#(here), "then": [\#(counts), {"disconnect": "out_of_range"}]}"#
      case .refusal: #"{"if": \#(here), "error": 17, "then": [\#(counts)]}"#
      case .reset: #"{"if": \#(here), "then": [\#(counts), {"controller_error": 66}]}"#
      case .stalledCredits: #"{"if": \#(here), "then": [\#(counts), {"busy_ms": 3600000}]}"#
      // An error ends a command without a word. A request with an answer that is not sent is done.
      case .droppingServer: #"{"if": {"variable": "n", "at_least": \#(packet - 1)}, DROP, "then": [\#(counts)]}"#
      }
    return "\(reaction), {\"then\": [\(counts)]}"
  }

  /// - Parameter byRequest: how it is written to.
  func description(byRequest: Bool) -> String {
    let reactions = reactions.replacingOccurrences(of: "DROP", with: byRequest ? #""answer": false"# : #""error": 17"#)
    return """
      {"name": "Sink", "address": "\(address)", "mtu": 23, "variables": {"n": 0}, \(fault == .stalledCredits ? #""firmware": {"buffers": 4},"# : "")
        "on_disconnect": [{"let": "n", "value": -1000000}], "services": [{"uuid": "fff0", "characteristics": [
          {"uuid": "fff6", "properties": ["write", "write_without_response"], "sink": {"report": "fff7"}, "reactions": [\(reactions)]},
          {"uuid": "fff7", "properties": ["read", "notify"]}]}]}
      """
  }

  /// An air with these, for `-i`.
  static func air(_ devices: [FaultyDevice], byRequest: Bool) throws -> String {
    let list = devices.map { $0.description(byRequest: byRequest) }.joined(separator: ",\n")
    return "sim:\(try TemporaryFolder.file(Array("[\(list)]".utf8)))"
  }
}
