// SPDX-License-Identifier: Apache-2.0
/// The opcode of an HCI command, with the OGF in bits 10–15 and the OCF in bits 0–9 (Vol 4 Part E §5.4.1).
/// An opcode that a command declares has a name and a bit. A received opcode with the same number is equal to it.
package struct Opcode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  package let rawValue: UInt16
  /// The specification's name of the command, or "HCI command" for a received opcode.
  package let name: String
  /// The byte and bit in the Supported Commands, each from 0 (Vol 4 Part E §6.27). Nil if the field has no bit for the command.
  let supportedBit: (byte: Int, bit: Int)?

  package init(rawValue: UInt16) {
    self.rawValue = rawValue
    name = "HCI command"
    supportedBit = nil
  }

  /// Declares the opcode of a command.
  /// - Parameter bit: The byte (0…63) and bit (0…7) in the Supported Commands. Nil if the field has no bit for the command.
  init(_ rawValue: UInt16, _ name: String, bit: (byte: Int, bit: Int)?) {
    self.rawValue = rawValue
    self.name = name
    supportedBit = bit
  }

  /// The opcode "No command" in events that only give command credits.
  package static let none = Self(0x0000, "No command", bit: nil)

  package static func == (one: Self, other: Self) -> Bool { one.rawValue == other.rawValue }

  package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

  /// The name and number of the command, for example `LE Set Scan Enable (0x200c)`.
  package var description: String { "\(name) (0x\(Hex.encode(rawValue)))" }
}
