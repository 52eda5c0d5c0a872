package import Bluetooth

/// A characteristic's value as what it means.
package struct DecodedValue: Equatable, Sendable {
  package let fields: [DecodedField]
}

package struct DecodedField: Equatable, Sendable {
  /// As the specification has it: `Heart Rate`.
  package let name: String
  /// `heart_rate`; with `_2` and so on where a value has several of that name.
  package let key: String
  /// As people write it: `bpm`.
  package let unit: String?
  package let content: Content

  package enum Content: Equatable, Sendable {
    case number(DecimalNumber)
    case numbers([DecimalNumber])
    /// A binary float, or what is computed as one.
    case real(Double)
    /// A raw value that stands for something else than a number: a choice.
    case choice(Int64, String)
    /// In place of a measured number: `not known`, `NaN`.
    case noNumber(String)
    case flags(UInt64, [Flag])
    /// Without the NULs at its end.
    case text(String)
    case uuid(UUID)
    /// As in RFC 3339, without a time zone; unknown parts are question marks.
    case date(String)
    case octets([UInt8])
    /// Most significant octet first.
    case identifier([UInt8])
  }

  package struct Flag: Equatable, Sendable {
    package let name: String
    package let value: Int
    /// What this value of the bits means.
    package let meaning: String?
    package let isSingleBit: Bool
  }
}

/// Why octets are not what their description says.
package enum ValueMismatch: Error, Equatable, Sendable {
  /// Fewer octets than the fields that have to be there take.
  case tooShort(field: String, octets: Int)
  /// So many octets behind the last field.
  case tooLong(by: Int)
  case notText(field: String)
  /// A month, day, hour, minute or second that there is not.
  case notADate(field: String)
  /// The length in front of a record is none.
  case recordLength(Int)
  /// More digits than any description gives.
  case tooLarge(field: String)
}
