/// CRC-32 as in Ethernet and zip: what peripherals report about what they received.
package struct CRC32: Hashable, Sendable {
  private var state: UInt32 = 0xFFFF_FFFF

  package init() {}

  package mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { state = Self.table[Int((state ^ UInt32(byte)) & 0xFF)] ^ (state >> 8) }
  }

  package var value: UInt32 { ~state }

  /// Of the end of something: what remains when its beginning is taken away.
  /// - Parameters:
  ///   - whole: CRC-32 of all of it.
  ///   - beginning: CRC-32 of its beginning.
  ///   - count: octets behind the beginning, not negative.
  package static func end(of whole: UInt32, without beginning: UInt32, count: Int) -> UInt32 {
    // That of the beginning, followed by as many zeros: times x^(8 · count), in the field of two elements and modulo the polynomial.
    var (factor, square, exponent) = (UInt32(1) << 31, UInt32(1) << 30, UInt64(max(0, count)) &* 8)
    while exponent > 0 {
      if exponent & 1 == 1 { factor = product(square, factor) }
      square = product(square, square)
      exponent >>= 1
    }
    return whole ^ product(factor, beginning)
  }

  /// Bit 31 is the coefficient of x^0.
  private static func product(_ a: UInt32, _ b: UInt32) -> UInt32 {
    var (sum, b, bit) = (UInt32(0), b, UInt32(1) << 31)
    while bit != 0 {
      if a & bit != 0 { sum ^= b }
      b = b & 1 == 1 ? b >> 1 ^ 0xEDB8_8320 : b >> 1
      bit >>= 1
    }
    return sum
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
  }
}
