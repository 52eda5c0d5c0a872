// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// Decoders for Eddystone (Google, protocol specification of 2016) and Fast Pair (Google, developers.google.com/nearby/fast-pair).
enum Beacons {
  static func eddystone(_ data: [UInt8]) -> DecodedData? {
    guard data.first == 0x10, data.count >= 3 else { return BeaconLayout.decode("feaa", data) }
    return url(data[2...]).map {
      DecodedData("eddystone_url", [.init("tx_power", .integer(Int(Int8(bitPattern: data[1])))), .init("url", .text($0))])
    }
  }

  private static let schemes = ["http://www.", "https://www.", "http://", "https://"]
  private static let endings = [
    ".com/", ".org/", ".edu/", ".net/", ".info/", ".biz/", ".gov/", ".com", ".org", ".edu", ".net", ".info", ".biz", ".gov",
  ]

  /// Decodes an Eddystone URL. Returns nil for an invalid URL.
  private static func url(_ data: ArraySlice<UInt8>) -> String? {
    guard let first = data.first, Int(first) < schemes.count else { return nil }
    var url = schemes[Int(first)]
    for byte in data.dropFirst() {
      if Int(byte) < endings.count {
        url += endings[Int(byte)]
      } else if (0x21..<0x7F).contains(byte) {
        url.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        return nil
      }
    }
    return url
  }

  /// Decodes the model of a device in pairing mode, or the account key filter, salt and battery levels of another device.
  /// Each field after the version has a byte with its length and its type, four bits each.
  static func fastPair(_ data: [UInt8]) -> DecodedData? {
    if data.count == 3 { return DecodedData("fast_pair", [.init("model_id", .text(Hex.encode(data)))]) }
    guard let first = data.first, first >> 4 == 0, data.count > 1 else { return nil }
    var fields: [DecodedData.Field] = []
    var rest = data.dropFirst()
    while let head = rest.popFirst() {
      let value = rest.prefix(Int(head >> 4))
      rest = rest.dropFirst(value.count)
      guard value.count == Int(head >> 4) else { return nil }
      switch head & 0x0F {
      case 0, 2: fields += [.init("account_key_filter", .text(Hex.encode(value))), .init("shows_ui", .bool(head & 0x0F == 0))]
      case 1: fields.append(.init("salt", .text(Hex.encode(value))))
      // Bit 7: charging. 127: unknown.
      case 3, 4:
        let levels = value.map { ("\($0 & 0x7F == 0x7F ? "unknown" : "\($0 & 0x7F) %")" + ($0 > 0x7F ? " charging" : "")) }
        fields.append(.init("battery", .texts(levels)))
      default: fields.append(.init("field_\(head & 0x0F)", .text(Hex.encode(value))))
      }
    }
    return DecodedData("fast_pair", fields)
  }
}
