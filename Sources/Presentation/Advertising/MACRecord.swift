package import BluetoothLE
import BluetoothLEText
package import Terminal

/// The output of a MAC that blectl found in advertising data, as text or JSON.
@LoopActor
package enum MACRecord {
  /// Writes a MAC to the output.
  /// - Parameters:
  ///   - line: The number of its line in the input, from 1. Nil if a scan received the MAC.
  ///   - rssi: The signal strength of the device that the user searched by its MAC, in dBm. Nil in other searches.
  package static func show(_ mac: FoundMAC, sender: PeerAddress?, line: Int? = nil, rssi: Int? = nil, _ output: Output) async throws {
    if output.style.json {
      try await output.record {
        $0.string("event", "mac")
        $0.string("mac", mac.text)
        $0.address("address", sender?.address)
        $0.string("source", mac.source)
        $0.string("rule", mac.rule)
        $0.integer("offset", mac.offset)
        $0.string("order", mac.order.rawValue)
        $0.bool("matches_sender", mac.matchesSender)
        $0.string("confidence", mac.confidence.name)
        if let rssi { $0.integer("rssi", rssi) }
        if mac.isPartial { $0.bool("partial", true) }
        if let line { $0.integer("line", line) }
        if output.resultsNamePeer { $0.string("peer", sender?.description) }
      }
    } else {
      let other = rssi == nil ? "≠ sender \(sender.map { $0.address.description } ?? "")" : ""
      let match = mac.matchesSender.map { $0 ? "= sender" : other } ?? ""
      let device = rssi.map { ["\(sender.map { $0.description } ?? "")", "\($0) dBm"] } ?? []
      let fields =
        device + [
          "\(mac.text)", "\(mac.source)", "offset \(mac.offset)", "\(mac.order.rawValue)-endian", (rssi == nil ? "" : "--rule ") + mac.rule,
          match,
        ]
        + [mac.confidence == .low ? "weak" : "", line.map { "line \($0)" } ?? ""]
      try await output.line(output.displayText(fields.filter { !$0.isEmpty }.joined(separator: "  ")))
    }
  }
}

extension FoundMAC.Confidence {
  /// The name of the confidence in options and output.
  package var name: String {
    switch self {
    case .low: "low"
    case .medium: "medium"
    case .high: "high"
    }
  }
}
