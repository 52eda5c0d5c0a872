// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

extension BeaconLayout {
  /// Decodes data with the layout under `key` whose length and first bytes fit. Returns nil if none fits.
  static func decode(_ key: String, _ data: [UInt8]) -> DecodedData? {
    guard let layout = all[key]?.first(where: { $0.length == data.count && data.starts(with: $0.start) }) else { return nil }
    let fields = layout.fields.compactMap { field in field.value(data).map { DecodedData.Field(field.name, $0) } }
    // Without fixed first bytes, an impossible share means that the data has another layout.
    let isImpossible =
      layout.start.isEmpty
      && fields.contains { field in
        guard field.name.hasSuffix("_percent") else { return false }
        return switch field.value {
        case .integer(let share): share > 100
        case .number(let share): share > 100
        default: false
        }
      }
    return isImpossible ? nil : DecodedData(layout.format, fields)
  }
}

extension BeaconLayout.Field {
  /// Returns the value of the field. Nil if it is not available.
  fileprivate func value(_ data: [UInt8]) -> DecodedData.Value? {
    let bytes = data[(places[0].offset / 8)..<((places[0].offset + places[0].count + 7) / 8)]
    if type == .hex { return .text(Hex.encode(bytes)) }
    if type == .mac { return bytes.allSatisfy { $0 == 0xFF } ? nil : .text(Hex.encode(bytes, separator: UInt8(ascii: ":"), .upper)) }
    if type == .uuid { return .text(UUID(littleEndian: bytes.reversed())?.fullDescription ?? "") }
    var (bits, count) = (0 as UInt64, 0 as UInt64)
    for place in places {
      for bit in place.offset..<place.offset + place.count { bits = bits << 1 | UInt64(data[bit / 8] >> UInt8(7 - bit % 8) & 1) }
      count += UInt64(place.count)
    }
    if missing.contains(bits) { return nil }
    let number: Double
    switch type {
    case .flag: return .bool(bits == 1)
    // Two's complement.
    case .signed: number = Double(bits) - (bits >> (count - 1) == 1 ? Double(1 << count as UInt64) : 0)
    // A sign, whole degrees, and hundredths in a byte of their own.
    case .degrees: return .number((bits >> 15 == 1 ? -1 : 1) * Double((bits >> 8 & 0x7F) * 100 + (bits & 0xFF)) / 100)
    // 254 steps of equal ratio, the 254th root of 65,536.
    case .ratio: return .number((((0..<bits).reduce(1) { value, _ in value * 1.0446300614125956 } - 1) * 100).rounded() / 100)
    case .unsigned, .hex, .mac, .uuid: number = Double(bits)
    }
    let value = (number + addend) * factor / divisor
    return divisor == 1 ? .integer(Int(value)) : .number(value)
  }
}
