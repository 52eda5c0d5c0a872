import Text

/// The opcode of an HCI command: OGF in the upper 6 bits, OCF in the lower 10 (Vol 4 Part E §5.4.1).
/// Declared opcodes have a name and a bit. Received opcodes have only the number, and equal the declared ones.
package struct Opcode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  package let rawValue: UInt16
  /// The specification's name. "HCI command" for a received opcode.
  package let name: String
  /// The byte and bit in the Supported Commands configuration, each from 0 (Vol 4 Part E §6.27). Nil if the opcode has none.
  let supportedBit: (octet: Int, bit: Int)?

  package init(rawValue: UInt16) {
    self.rawValue = rawValue
    name = "HCI command"
    supportedBit = nil
  }

  /// Declares the opcode of a command.
  /// - Parameter bit: byte 0…63 and bit 0…7 in the Supported Commands. Nil if the command has none.
  init(_ rawValue: UInt16, _ name: String, bit: (octet: Int, bit: Int)?) {
    self.rawValue = rawValue
    self.name = name
    supportedBit = bit
  }

  /// The opcode "No command", which controllers use to give command credits.
  package static let none = Self(0x0000, "No command", bit: nil)

  package static func == (one: Self, other: Self) -> Bool { one.rawValue == other.rawValue }

  package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

  /// The name and number: `LE Set Scan Enable (0x200c)`.
  package var description: String { "\(name) (0x\(Hex.encode(rawValue)))" }
}
