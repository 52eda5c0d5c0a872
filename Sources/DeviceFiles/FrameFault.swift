package import Text

/// A value that its field cannot hold.
package struct FieldFault: Error, Sendable, Equatable {
  package let field: String
  package let reason: Reason

  package enum Reason: Sendable, Equatable {
    /// The field has neither a value nor a default.
    case missing
    case notANumber
    /// The text is not a number.
    case noNumber(String)
    case notWhole(String)
    /// The value is out of range, with the range that fits.
    case outOfRange(String, String?)
    /// The value lies between two steps, with the nearest value that fits the field.
    case betweenSteps(String, nearest: String)
    /// The name is unknown, with the valid names.
    case unknownName(String, [String])
    case notHex(String)
    case oddDigits(HexError)
    case notText
    case notBytes
    case notAList
    /// The number of bytes, items or fields is wrong, with the only number that fits.
    case wrongLength(Int, allowed: Int, Unit)
    case tooLong(Int, allowed: Int, Unit)

    package enum Unit: String, Sendable { case octets = "bytes", items, fields }
  }
}

/// The reason why a packet does not fit its frame.
package enum PacketFault: Error, Sendable, Equatable {
  /// The first constant bytes of the packet belong to another frame.
  case foreign
  /// The packet has too few bytes, with their number and the necessary number.
  case cut(Int, needs: Int)
  /// The packet has too many bytes, with their number and the maximum.
  case tooLong(Int, allowed: Int)
  case checksum(expected: [UInt8], found: [UInt8])
  /// Wrong constant bytes after variable ones: a trailer.
  case octets(offset: Int, expected: [UInt8], found: [UInt8])
  /// Text that is not UTF-8, or not one of the allowed values.
  case text(field: String, [UInt8])
  /// A size field with a negative size, or one that no packet can have.
  case size(Int128)
}
