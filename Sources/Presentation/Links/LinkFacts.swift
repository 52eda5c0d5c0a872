package import BluetoothLE
package import BluetoothLEText

extension LinkSecurity {
  /// The security in a few words.
  package var text: String { isAuthenticated ? "encrypted, authenticated" : "encrypted, not authenticated" }
}

/// The current parameters of a connection, with their output as JSON and text.
package struct LinkFacts {
  /// The current ATT_MTU in bytes.
  let mtu: Int
  let parameters: LinkParameters
  /// The security of the connection. Nil while it is not encrypted.
  let security: LinkSecurity?

  package init(_ parameters: LinkParameters, mtu: Int, _ security: LinkSecurity?) {
    (self.parameters, self.mtu, self.security) = (parameters, mtu, security)
  }

  package func write(_ json: inout RecordWriter) {
    json.integer("mtu", mtu)
    json.number("interval_ms", parameters.interval?.inMilliseconds)
    json.integer("latency", parameters.latency)
    json.number("supervision_timeout_ms", parameters.supervisionTimeout?.inMilliseconds)
    json.string("phy", parameters.phy?.name)
    json.integer("data_length", parameters.maxTxOctets)
    json.integer("rssi", parameters.rssi)
    json.bool("encrypted", security != nil)
    json.bool("authenticated", security?.isAuthenticated ?? false)
  }

  /// The known parameters, with one line for each.
  package var lines: [String] {
    let facts: [(String, String?)] = [
      ("MTU", Quantity.bytes(mtu)), ("interval", parameters.interval.map { "\($0.millisecondsText) ms" }),
      ("latency", parameters.latency.map { "\($0) events" }),
      ("supervision timeout", parameters.supervisionTimeout.map { "\($0.millisecondsText) ms" }),
      ("PHY", parameters.phy?.name), ("data length", parameters.maxTxOctets.map(Quantity.bytes)),
      ("RSSI", parameters.rssi.map { "\($0) dBm" }), ("security", security.map(\.text)),
    ]
    return facts.compactMap { name, value in value.map { "\(name): \($0)" } }
  }

  /// The known parameters on one line, such as `MTU 185, 15 ms, 1M, 251 bytes, -61 dBm`.
  package var short: String {
    let facts = [
      "MTU \(mtu)", parameters.interval.map { "\($0.millisecondsText) ms" }, parameters.phy.map { $0.name.uppercased() },
      parameters.maxTxOctets.map(Quantity.bytes), parameters.rssi.map { "\($0) dBm" }, security?.text,
    ]
    return facts.compactMap(\.self).joined(separator: ", ")
  }
}
