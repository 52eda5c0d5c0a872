import Text

/// HCI command opcode: OGF in the upper 6 bits, OCF in the lower 10 (Vol 4 Part E §5.4.1). One that a command declares has its name and its
/// bit with it; one that came over a transport is only the number, and equal to the declared one.
package struct Opcode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  package let rawValue: UInt16
  /// The specification's name; "HCI command" for an opcode that came over a transport.
  package let name: String
  /// In the Supported Commands configuration (Vol 4 Part E §6.27); nil when there is none.
  let supportedBit: (octet: Int, bit: Int)?

  package init(rawValue: UInt16) {
    self.rawValue = rawValue
    name = "HCI command"
    supportedBit = nil
  }

  /// For the declaration of a command. - Parameter bit: octet, 0…63, and bit in the Supported Commands; nil when it has none.
  init(_ rawValue: UInt16, _ name: String, bit: (octet: Int, bit: Int)?) {
    self.rawValue = rawValue
    self.name = name
    supportedBit = bit
  }

  /// "No command": controllers use it to give command credits.
  package static let none = Self(0x0000, "No command", bit: nil)

  package static func == (one: Self, other: Self) -> Bool { one.rawValue == other.rawValue }

  package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

  /// `LE Set Scan Enable (0x200c)`.
  package var description: String { "\(name) (0x\(Hex.encode(rawValue)))" }
}
