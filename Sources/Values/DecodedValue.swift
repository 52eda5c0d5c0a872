package import Bluetooth

/// The decoded value of a characteristic.
package struct DecodedValue: Equatable, Sendable {
  package let fields: [DecodedField]
}

package struct DecodedField: Equatable, Sendable {
  /// The name in the specification: `Heart Rate`.
  package let name: String
  /// The name in JSON: `heart_rate`, then `heart_rate_2` for the next field of that name.
  package let key: String
  /// The common sign of the unit: `bpm`.
  package let unit: String?
  package let content: Content

  package enum Content: Equatable, Sendable {
    case number(DecimalNumber)
    case numbers([DecimalNumber])
    /// A binary float.
    case real(Double)
    /// A raw value with a name.
    case choice(Int64, String)
    /// The reason for a missing number: `not known`, `NaN`.
    case noNumber(String)
    case flags(UInt64, [Flag])
    /// Text without NULs at its end.
    case text(String)
    case uuid(UUID)
    /// A date in the format of RFC 3339 without a time zone. Unknown parts are question marks.
    case date(String)
    case octets([UInt8])
    /// An identifier, most significant byte first.
    case identifier([UInt8])
  }

  package struct Flag: Equatable, Sendable {
    package let name: String
    package let value: Int
    /// The meaning of this value of the bits.
    package let meaning: String?
    package let isSingleBit: Bool
  }
}

/// A difference between a value and its description.
package enum ValueMismatch: Error, Equatable, Sendable {
  /// The mandatory fields need more bytes.
  case tooShort(field: String, octets: Int)
  /// Bytes follow the last field.
  case tooLong(by: Int)
  case notText(field: String)
  /// The month, day, hour, minute or second is out of range.
  case notADate(field: String)
  /// The length of a record is invalid.
  case recordLength(Int)
  /// The number has too many digits.
  case tooLarge(field: String)
}
