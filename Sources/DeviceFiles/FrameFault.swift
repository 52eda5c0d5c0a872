package import Text

/// A value that its field cannot hold.
package struct FieldFault: Error, Sendable, Equatable {
  package let field: String
  package let reason: Reason

  package enum Reason: Sendable, Equatable {
    /// There is none, and no default.
    case missing
    case notANumber
    /// Text where a number should be.
    case noNumber(String)
    case notWhole(String)
    /// The value, and what fits.
    case outOfRange(String, String?)
    /// The value, and the nearest that can be sent.
    case betweenSteps(String, nearest: String)
    /// A name that the field does not know, and those it does.
    case unknownName(String, [String])
    case notHex(String)
    case oddDigits(HexError)
    case notText
    case notBytes
    case notAList
    /// So many of them, where there must be others.
    case wrongLength(Int, allowed: Int, Unit)
    case tooLong(Int, allowed: Int, Unit)

    package enum Unit: String, Sendable { case octets, items, fields }
  }
}

/// Why a packet is not what its frame describes.
package enum PacketFault: Error, Sendable, Equatable {
  /// Constant octets at its beginning say that it is another.
  case foreign
  /// It has fewer octets than it must have.
  case cut(Int, needs: Int)
  /// It has more octets than it may have.
  case tooLong(Int, allowed: Int)
  case checksum(expected: [UInt8], found: [UInt8])
  /// Constant octets behind what is variable: a trailer.
  case octets(offset: Int, expected: [UInt8], found: [UInt8])
  /// Text that is no UTF-8, or none of those there are.
  case text(field: String, [UInt8])
  /// A size field that says less than nothing, or more than a packet can have.
  case size(Int128)
}
