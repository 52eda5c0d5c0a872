// SPDX-License-Identifier: Apache-2.0
/// The fields that a decoder found in the value of a characteristic.
package struct DecodedValue: Equatable, Sendable {
  package let fields: [DecodedField]

  /// Whether the value is a text and nothing else.
  package var isText: Bool {
    guard fields.count == 1, case .text = fields[0].content else { return false }
    return true
  }
}

package struct DecodedField: Equatable, Sendable {
  /// The name of the field in the specification: `Heart Rate`.
  package let name: String
  /// The name of the field in JSON: `heart_rate`, or `heart_rate_2` for the second field of the same name.
  package let key: String
  /// The common symbol of the unit, such as `bpm`. Nil for a field without a unit.
  package let unit: String?
  package let content: Content

  package enum Content: Equatable, Sendable {
    case number(DecimalNumber)
    case numbers([DecimalNumber])
    /// A binary floating-point number.
    case real(Double)
    /// A raw value, and the name of its meaning.
    case choice(Int64, String)
    /// The reason for a missing number, such as `not known` or `NaN`.
    case noNumber(String)
    case flags(UInt64, [Flag])
    /// Text without NULs at its end.
    case text(String)
    case uuid(UUID)
    /// A date in the format of RFC 3339 without a time zone. Unknown parts are question marks.
    case date(String)
    case bytes([UInt8])
    /// An identifier, most significant byte first.
    case identifier([UInt8])
  }

  package struct Flag: Equatable, Sendable {
    package let name: String
    package let value: Int
    /// The name that the specification gives to `value`, the number in these bits. Nil for an unnamed value.
    package let meaning: String?
    package let isSingleBit: Bool
  }
}

/// A mismatch between a value and the description of its fields.
package enum ValueMismatch: Error, Equatable, Sendable {
  /// The value ends before a mandatory field. `bytes` is the length of the value in bytes.
  case tooShort(field: String, bytes: Int)
  /// This number of bytes follows the last field.
  case tooLong(by: Int)
  case notText(field: String)
  /// The year, month, day, hour, minute or second is out of range.
  case notADate(field: String)
  /// A record in the value has this invalid length, in bytes.
  case recordLength(Int)
  /// The number of the field exceeds 128 bits.
  case tooLarge(field: String)
}
