/// Bytes that tests send, and their checksum.
package enum Bytes {
  /// Returns bytes without a period in any segment size, so that a lost, doubled or swapped segment changes the CRC.
  package static func picture(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

  package static func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  package static func hex(_ text: String) -> String { hex(Array(text.utf8)) }

  package static func u32le(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

  /// Computes the CRC-32 bit by bit, independent of the code under test.
  package static func crc32(_ bytes: some Sequence<UInt8>, after start: UInt32 = 0) -> UInt32 {
    var crc = ~start
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
    }
    return ~crc
  }
}
