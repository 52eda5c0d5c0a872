// SPDX-License-Identifier: Apache-2.0
/// The CRC-32 of Ethernet and zip, computed incrementally. Peripherals report it for received data.
package struct CRC32: Hashable, Sendable {
  private var state: UInt32 = 0xFFFF_FFFF

  package init() {}

  /// Adds bytes to the checksum.
  package mutating func add(_ slice: ArraySlice<UInt8>) {
    let (bytes, tables) = (slice.span, Self.tables.span)
    // Check the count once here instead of at each byte.
    guard tables.count == 2048 else { return }
    var state = state
    var index = 0
    while bytes.count &- index >= 8 {
      state ^= UInt32(bytes[index]) | UInt32(bytes[index &+ 1]) << 8
      state ^= UInt32(bytes[index &+ 2]) << 16 | UInt32(bytes[index &+ 3]) << 24
      let first = tables[0x700 &+ Int(state & 0xFF)] ^ tables[0x600 &+ Int(state >> 8 & 0xFF)]
      let second = tables[0x500 &+ Int(state >> 16 & 0xFF)] ^ tables[0x400 &+ Int(state >> 24)]
      let third = tables[0x300 &+ Int(bytes[index &+ 4])] ^ tables[0x200 &+ Int(bytes[index &+ 5])]
      state = first ^ second ^ third ^ tables[0x100 &+ Int(bytes[index &+ 6])] ^ tables[Int(bytes[index &+ 7])]
      index &+= 8
    }
    while index < bytes.count {
      state = tables[Int((state ^ UInt32(bytes[index])) & 0xFF)] ^ (state >> 8)
      index &+= 1
    }
    self.state = state
  }

  package mutating func add(_ bytes: [UInt8]) { add(bytes[...]) }

  package var value: UInt32 { ~state }

  /// Computes the CRC-32 of the last `count` bytes from the CRCs of the whole data (`whole`) and of the preceding bytes (`head`).
  package static func ofTail(_ count: Int, whole: UInt32, head: UInt32) -> UInt32 {
    // The contribution of the head is its remainder, shifted by the length of the tail: a product modulo the polynomial.
    var shift: UInt32 = 1 << 31
    var power: UInt32 = 1 << 23
    var left = max(0, count)
    while left > 0 {
      if left & 1 == 1 { shift = product(shift, power) }
      power = product(power, power)
      left >>= 1
    }
    return whole ^ product(head, shift)
  }

  /// Multiplies two polynomials modulo the CRC's polynomial. The lowest bit of a number is the coefficient of x³¹.
  private static func product(_ one: UInt32, _ other: UInt32) -> UInt32 {
    var (result, factor): (UInt32, UInt32) = (0, other)
    for bit in (0..<UInt32(32)).reversed() {
      if one >> bit & 1 == 1 { result ^= factor }
      factor = next(factor)
    }
    return result
  }

  private static let polynomial: UInt32 = 0xEDB8_8320

  private static func next(_ value: UInt32) -> UInt32 { value & 1 == 1 ? polynomial ^ (value >> 1) : value >> 1 }

  /// The CRC remainders of each byte value, in eight tables of 256. Table N holds the remainders of a byte followed by N zero bytes.
  private static let tables: [UInt32] = {
    var tables = (0..<256).map { index in (0..<8).reduce(UInt32(index)) { value, _ in next(value) } }
    for index in 256..<2048 { tables.append(tables[index - 256] >> 8 ^ tables[Int(tables[index - 256] & 0xFF)]) }
    return tables
  }()
}
