import Bluetooth
import GAP
import Text

/// The meaning of AD structures that have no JSON field of their own (Core Specification Supplement, Part A).
enum ADStructureText {
  /// Returns the meaning of an AD structure. Nil for an unknown type, length or value.
  static func meaning(_ structure: ADStructure) -> String? {
    let data = structure.data
    switch (structure.type, data.count) {
    // §1.9. 0xFFFF means no specific value.
    case (0x12, 4):
      let bounds = [number(data[..<2]), number(data[2...])].map { $0 == 0xFFFF ? "any" : interval($0, 1.25) }
      return bounds[0] == bounds[1] ? bounds[0] : "\(bounds[0]) to \(bounds[1])"
    // §1.15. The long form has 3 or 4 bytes.
    case (0x1A, 2), (0x2F, 3), (0x2F, 4): return interval(number(data[...]), 0.625)
    // §1.16: bit 0 of the last byte is set for a random address.
    case (ADType.leDeviceAddress, 7):
      return "\(PeerAddress(Address(rawValue: number(data[..<6])), data[6] & 1 == 0 ? .public : .random))"
    // §1.17.
    case (0x1C, 1):
      let roles = [
        "peripheral only", "central only", "peripheral and central, peripheral preferred",
        "peripheral and central, central preferred",
      ]
      return Int(data[0]) < roles.count ? roles[Int(data[0])] : nil
    // §1.18: the first byte is a code for the scheme. 1 marks a complete URI.
    case (ADType.uri, 1...):
      let schemes: [UInt8: String] = [0x01: "", 0x16: "http:", 0x17: "https:"]
      guard let scheme = schemes[data[0]], DisplayText.isPrintable(data[1...]) else { return nil }
      return scheme + DisplayText.escape(data[1...])
    default: return nil
    }
  }

  /// Decodes a little-endian number.
  private static func number(_ octets: ArraySlice<UInt8>) -> UInt64 { octets.reversed().reduce(0) { $0 << 8 | UInt64($1) } }

  private static func interval(_ number: UInt64, _ unit: Double) -> String { "\((Double(number) * unit).plainText) ms" }
}
