// SPDX-License-Identifier: Apache-2.0
/// A cyclic redundancy check of 8, 16 or 32 bits with a name and parameters from the catalogue of CRC algorithms (reveng.sourceforge.io).
/// The computation works bit by bit, which suffices for packets. For files, use the faster `CRC32`.
package struct CRC: Hashable, Sendable {
  /// The name in the catalogue, such as `CRC-16/MODBUS`.
  package let name: String
  /// The width in bits: 8, 16 or 32.
  package let width: Int
  let polynomial: UInt32
  let initial: UInt32
  /// Whether the algorithm processes the lowest bit of each byte first and reflects the result.
  let isReflected: Bool
  let finalXOR: UInt32
  /// The catalogue's check value, the CRC of the nine bytes `123456789`.
  package let check: UInt32

  init(
    _ name: String, _ width: Int, polynomial: UInt32, initial: UInt32 = 0, isReflected: Bool = false, finalXOR: UInt32 = 0, check: UInt32
  ) {
    self.name = name
    self.width = width
    self.polynomial = polynomial
    self.initial = initial
    self.isReflected = isReflected
    self.finalXOR = finalXOR
    self.check = check
  }

  /// Finds an algorithm by name or alias. Only letters and digits count, in upper or lower case: `crc16_modbus` means `CRC-16/MODBUS`.
  /// The result is nil for a name that is not in the catalogue.
  package init?(named name: String) {
    func key(_ name: String) -> String { name.uppercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) } }
    let wanted = key(name)
    let catalogued = Self.aliases.first { key($0.alias) == wanted }.map { key($0.name) } ?? wanted
    guard let found = Self.all.first(where: { key($0.name) == catalogued }) else { return nil }
    self = found
  }

  package func value(of bytes: some Sequence<UInt8>) -> UInt32 { isReflected ? reflected(bytes) : straight(bytes) }

  private var top: UInt32 { 1 << UInt32(width - 1) }
  private var mask: UInt32 { top | (top - 1) }

  private func straight(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var register = initial
    for byte in bytes {
      register ^= UInt32(byte) << UInt32(width - 8)
      for _ in 0..<8 { register = register & top != 0 ? register << 1 ^ polynomial : register << 1 }
    }
    return (register ^ finalXOR) & mask
  }

  private func reflected(_ bytes: some Sequence<UInt8>) -> UInt32 {
    let mirrored = mirror(polynomial)
    var register = mirror(initial)
    for byte in bytes {
      register ^= UInt32(byte)
      for _ in 0..<8 { register = register & 1 != 0 ? register >> 1 ^ mirrored : register >> 1 }
    }
    return (register ^ finalXOR) & mask
  }

  private func mirror(_ value: UInt32) -> UInt32 { (0..<width).reduce(0) { $0 << 1 | (value >> UInt32($1)) & 1 } }
}
