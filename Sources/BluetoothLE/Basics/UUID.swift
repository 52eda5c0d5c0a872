// SPDX-License-Identifier: Apache-2.0
/// A UUID of 128 bits. A short form equals its full form: `180f` is `0000180f-0000-1000-8000-00805f9b34fb` (Vol 3 Part B §2.5.1).
package struct UUID: Hashable, Sendable, CustomStringConvertible {
  /// The upper 64 bits, which are the first 8 bytes of the text form, most significant first.
  package let high: UInt64
  /// The lower 64 bits, which are the last 8 bytes of the text form, most significant first.
  package let low: UInt64

  private static let baseHigh: UInt64 = 0x0000_0000_0000_1000
  private static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB

  package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

  /// Creates a UUID from a 16- or 32-bit value and the Bluetooth Base UUID.
  package init(_ short: UInt32) { self.init(high: UInt64(short) << 32 | Self.baseHigh, low: Self.baseLow) }

  /// Parses `ffe1`, `0xFFE1`, eight digits, or 32 digits with or without the usual dashes, in upper or lower case. Nil for other text.
  package init?(_ text: some StringProtocol) {
    var digits = String(text)
    if digits.hasPrefix("0x") || digits.hasPrefix("0X") { digits.removeFirst(2) }
    switch digits.utf8.count {
    case 4, 8:
      guard let short = Hex.number(digits) else { return nil }
      self.init(UInt32(truncatingIfNeeded: short))
    case 36, 32:
      if digits.utf8.count == 36 {
        let groups = digits.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12] else { return nil }
        digits = groups.joined()
      }
      guard let high = Hex.number(digits.prefix(16)), let low = Hex.number(digits.suffix(16)) else { return nil }
      self.init(high: high, low: low)
    default: return nil
    }
  }

  /// Creates a UUID from 2, 4 or 16 bytes, least significant first. ATT has 2 or 16 bytes, advertisements also 4. Nil for other counts.
  package init?(littleEndian bytes: some Collection<UInt8>) { self.init(littleEndian: Array(bytes)[...]) }

  /// Creates a UUID from a slice of 2, 4 or 16 bytes, least significant first. Nil for other counts.
  package init?(littleEndian bytes: ArraySlice<UInt8>) {
    guard bytes.count == 2 || bytes.count == 4 || bytes.count == 16 else { return nil }
    var (high, low): (UInt64, UInt64) = (0, 0)
    for byte in bytes.reversed() { (high, low) = (high << 8 | low >> 56, low << 8 | UInt64(byte)) }
    self = bytes.count == 16 ? Self(high: high, low: low) : Self(UInt32(truncatingIfNeeded: low))
  }

  private var onBase: UInt32? {
    guard low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh else { return nil }
    return UInt32(truncatingIfNeeded: high >> 32)
  }

  /// The 16-bit form of the UUID. Nil if the UUID has no 16-bit form.
  package var short: UInt16? { onBase.flatMap { UInt16(exactly: $0) } }

  /// The bytes in an ATT PDU, least significant first: 2 bytes for a UUID with a 16-bit form, otherwise 16. ATT has no 32-bit form
  /// (Vol 3 Part F §3.2.1).
  package var attBytes: [UInt8] {
    if let short { return [UInt8(truncatingIfNeeded: short), UInt8(truncatingIfNeeded: short >> 8)] }
    return littleEndianBytes
  }

  /// Whether these bytes of a declaration have the UUID in full although it has a 16-bit form.
  package func isLong(in bytes: some Collection<UInt8>) -> Bool { bytes.count == 16 && short != nil }

  /// All 16 bytes of the UUID, least significant first.
  package var littleEndianBytes: [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: low >> (8 * UInt64($0))) } + (0..<8).map { UInt8(truncatingIfNeeded: high >> (8 * UInt64($0))) }
  }

  /// The shortest text form in lower case: `ffe1`, `12345678`, or the full form with dashes.
  package var description: String {
    if let short { return Hex.encode(short) }
    let text = fullDescription
    return onBase != nil ? String(text.prefix(8)) : text
  }

  /// The full text form, 36 characters in lower case.
  package var fullDescription: String {
    let head = Hex.encode(high >> 32, bytes: 4) + "-" + Hex.encode(high >> 16, bytes: 2) + "-" + Hex.encode(high, bytes: 2)
    return head + "-" + Hex.encode(low >> 48, bytes: 2) + "-" + Hex.encode(low, bytes: 6)
  }
}

/// The UUIDs of attribute types (Vol 3 Part G §3.4).
extension UUID {
  package static let primaryService = UUID(0x2800)
  package static let secondaryService = UUID(0x2801)
  package static let include = UUID(0x2802)
  package static let characteristic = UUID(0x2803)
  package static let characteristicExtendedProperties = UUID(0x2900)
  package static let userDescription = UUID(0x2901)
  package static let clientCharacteristicConfiguration = UUID(0x2902)
  package static let presentationFormat = UUID(0x2904)
  package static let aggregateFormat = UUID(0x2905)
  package static let serviceChanged = UUID(0x2A05)
  package static let clientSupportedFeatures = UUID(0x2B29)
  package static let databaseHash = UUID(0x2B2A)
}
