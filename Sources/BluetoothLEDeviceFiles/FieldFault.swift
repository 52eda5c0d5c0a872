// SPDX-License-Identifier: Apache-2.0
package import BluetoothLEText

/// The error for a field without a value, or with a value that the field cannot hold.
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
    /// The first string, a value, is out of range. The second string is the valid range, or nil for a float.
    case outOfRange(String, String?)
    /// The value lies between two steps of the field's scale. `nearest` is the nearest value that fits.
    case betweenSteps(String, nearest: String)
    /// The field has no value with this name. The list contains the valid names.
    case unknownName(String, [String])
    case notHex(String)
    case oddDigits(HexError)
    case notText
    case notBytes
    case notAList
    /// The number of bytes, items or fields is wrong. `allowed` is the only valid number.
    case wrongLength(Int, allowed: Int, Unit)
    case tooLong(Int, allowed: Int, Unit)

    package enum Unit: String, Sendable { case bytes = "bytes", items, fields }
  }
}
