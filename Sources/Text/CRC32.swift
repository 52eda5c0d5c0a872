/// CRC-32 as in Ethernet and zip: what peripherals report about what they received.
package struct CRC32: Hashable, Sendable {
  private var state: UInt32 = 0xFFFF_FFFF

  package init() {}

  package mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { state = Self.table[Int((state ^ UInt32(byte)) & 0xFF)] ^ (state >> 8) }
  }

  package var value: UInt32 { ~state }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
  }
}
