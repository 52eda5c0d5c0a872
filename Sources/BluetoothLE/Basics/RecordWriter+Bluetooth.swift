// SPDX-License-Identifier: Apache-2.0
// Most declarations of BluetoothLE use hex, value formats or JSON, so each file that imports BluetoothLE also sees BluetoothLEText.
@_exported public import BluetoothLEText

// Writes addresses and UUIDs to records without the string that `description` creates.

extension RecordWriter {
  package mutating func address(_ key: Text, _ address: Address?) {
    guard let address else { return string(key, nil) }
    hex(key, address.rawValue, bytes: 6, separator: UInt8(ascii: ":"), .upper)
  }

  /// Writes the address and the type of a peer as two members.
  package mutating func peer(_ key: Text, _ typeKey: Text, _ peer: PeerAddress?) {
    address(key, peer?.address)
    string(typeKey, peer?.type.rawValue)
  }

  package mutating func uuid(_ key: Text, _ uuid: UUID?) {
    guard let short = uuid?.short else { return string(key, uuid?.description) }
    hex(key, UInt64(short), bytes: 2)
  }
}

extension RecordWriter.Text {
  package init(_ uuid: UUID) {
    if let short = uuid.short { self.init(hex: UInt64(short), bytes: 2) } else { self.init(uuid.description) }
  }
}
