import Bluetooth
import Text

/// Decoders for iBeacon (Apple, Proximity Beacon Specification), AltBeacon (AltBeacon Technical Specification 1.0) and Eddystone (Google,
/// protocol specification of 2016).
enum Beacons {
  static func iBeacon(_ data: [UInt8]) -> DecodedData? {
    guard data.count == 23, data.starts(with: [0x02, 0x15]) else { return nil }
    return DecodedData(
      "ibeacon",
      [
        .init("uuid", .text(UUID(littleEndian: data[2..<18].reversed())?.fullDescription ?? "")),
        .init("major", .integer(bigEndian(data[18..<20]))),
        .init("minor", .integer(bigEndian(data[20..<22]))), .init("tx_power", .integer(signed(data[22]))),
      ])
  }

  /// Decodes an AltBeacon of any company except 004C and 0006, whose data has other layouts.
  static func altBeacon(_ data: [UInt8]) -> DecodedData? {
    guard data.count == 24, data.starts(with: [0xBE, 0xAC]) else { return nil }
    return DecodedData(
      "altbeacon",
      [
        .init("id", .text(Hex.encode(data[2..<22]))), .init("tx_power", .integer(signed(data[22]))),
        .init("reserved", .text(Hex.encode(data[23..<24]))),
      ])
  }

  static func eddystone(_ data: [UInt8]) -> DecodedData? {
    switch data.first {
    case 0x00 where data.count == 18 || data.count == 20:
      DecodedData(
        "eddystone_uid",
        [
          .init("tx_power", .integer(signed(data[1]))), .init("namespace", .text(Hex.encode(data[2..<12]))),
          .init("instance", .text(Hex.encode(data[12..<18]))),
        ])
    case 0x10 where data.count >= 3:
      url(data[2...]).map { DecodedData("eddystone_url", [.init("tx_power", .integer(signed(data[1]))), .init("url", .text($0))]) }
    case 0x20 where data.count == 14 && data[1] == 0: telemetry(data)
    case 0x20 where data.count == 18 && data[1] == 1: DecodedData("eddystone_tlm", [.init("encrypted", .bool(true))])
    case 0x30 where data.count == 10:
      DecodedData("eddystone_eid", [.init("tx_power", .integer(signed(data[1]))), .init("eid", .text(Hex.encode(data[2..<10])))])
    default: nil
    }
  }

  /// Decodes Eddystone telemetry. Omits a battery of 0 and a temperature of 0x8000, which mean "not supported".
  private static func telemetry(_ data: [UInt8]) -> DecodedData {
    var fields: [DecodedData.Field] = [.init("encrypted", .bool(false))]
    let battery = bigEndian(data[2..<4])
    if battery != 0 { fields.append(.init("battery_mv", .integer(battery))) }
    let temperature = Int16(truncatingIfNeeded: bigEndian(data[4..<6]))
    if temperature != .min { fields.append(.init("temperature_c", .number(Double(temperature) / 256))) }
    fields.append(.init("advertisements", .integer(bigEndian(data[6..<10]))))
    fields.append(.init("uptime_s", .number(Double(bigEndian(data[10..<14])) / 10)))
    return DecodedData("eddystone_tlm", fields)
  }

  private static let schemes = ["http://www.", "https://www.", "http://", "https://"]
  private static let endings = [
    ".com/", ".org/", ".edu/", ".net/", ".info/", ".biz/", ".gov/", ".com", ".org", ".edu", ".net", ".info", ".biz", ".gov",
  ]

  /// Decodes an Eddystone URL. Returns nil for an invalid URL.
  private static func url(_ data: ArraySlice<UInt8>) -> String? {
    guard let first = data.first, Int(first) < schemes.count else { return nil }
    var url = schemes[Int(first)]
    for octet in data.dropFirst() {
      if Int(octet) < endings.count {
        url += endings[Int(octet)]
      } else if (0x21..<0x7F).contains(octet) {
        url.unicodeScalars.append(Unicode.Scalar(octet))
      } else {
        return nil
      }
    }
    return url
  }

  private static func signed(_ octet: UInt8) -> Int { Int(Int8(bitPattern: octet)) }

  /// Returns the number in at most seven bytes, most significant byte first.
  private static func bigEndian(_ octets: ArraySlice<UInt8>) -> Int { octets.reduce(0) { $0 << 8 | Int($1) } }
}
