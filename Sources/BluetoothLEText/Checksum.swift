// SPDX-License-Identifier: Apache-2.0
/// A checksum that devices append to a packet.
package enum Checksum: Hashable, Sendable {
  /// The sum of all bytes modulo 256.
  case sum8
  /// The two's complement of the sum of all bytes, so that all bytes and the checksum add up to 0 modulo 256.
  case sum8Complement
  /// The exclusive or of all bytes.
  case xor8
  case crc(CRC)

  /// Parses the name `sum8`, `sum8_complement`, `xor8` or a CRC's name in the catalogue, in upper or lower case. Nil for other names.
  package init?(_ name: String) {
    switch name.lowercased() {
    case "sum8": self = .sum8
    case "sum8_complement": self = .sum8Complement
    case "xor8": self = .xor8
    default:
      guard let crc = CRC(named: name) else { return nil }
      self = .crc(crc)
    }
  }

  /// Returns the names of the checksums that an unknown name may mean, separated by commas. A width in the name, such as the 16 of `crc16`,
  /// excludes the checksums of other widths.
  package static func names(like name: String) -> String {
    let width = [8, 16, 32].first { name.contains("\($0)") }
    let others = width ?? 8 == 8 ? ["sum8", "sum8_complement", "xor8"] : []
    return (others + CRC.all.filter { width ?? $0.width == $0.width }.map(\.name)).joined(separator: ", ")
  }

  package func value(of bytes: some Sequence<UInt8>) -> UInt32 {
    switch self {
    case .sum8: UInt32(bytes.reduce(0, &+))
    case .sum8Complement: UInt32(0 &- bytes.reduce(0, &+))
    case .xor8: UInt32(bytes.reduce(0, ^))
    case .crc(let crc): crc.value(of: bytes)
    }
  }

  /// Returns the checksum of a packet as one, two or four bytes in the given byte order.
  package func bytes(of bytes: some Sequence<UInt8>, _ order: ByteOrder) -> [UInt8] {
    let value = value(of: bytes)
    let little = (0..<width / 8).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
    return order == .little ? little : little.reversed()
  }

  /// The width of the checksum in bits: 8, 16 or 32.
  package var width: Int { if case .crc(let crc) = self { crc.width } else { 8 } }
}
