// SPDX-License-Identifier: Apache-2.0
/// A reader of little-endian fields from the front of a packet. Every read checks the length first, and throws instead of trapping.
package struct ByteReader: Sendable {
  private let bytes: ArraySlice<UInt8>
  private var position: Int

  package init(_ bytes: [UInt8]) { self.init(bytes[...]) }

  package init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  /// The number of bytes read so far.
  package var offset: Int { position - bytes.startIndex }
  /// The number of unread bytes.
  package var remaining: Int { bytes.endIndex - position }
  package var isAtEnd: Bool { position == bytes.endIndex }

  package mutating func uint8(_ what: StaticString) throws(MalformedPacket) -> UInt8 {
    guard remaining >= 1 else { throw truncated(what, 1) }
    defer { position += 1 }
    return bytes[position]
  }

  package mutating func int8(_ what: StaticString) throws(MalformedPacket) -> Int8 { Int8(bitPattern: try uint8(what)) }

  package mutating func uint16(_ what: StaticString) throws(MalformedPacket) -> UInt16 {
    UInt16(truncatingIfNeeded: try uint(what, count: 2))
  }

  package mutating func uint24(_ what: StaticString) throws(MalformedPacket) -> UInt32 {
    UInt32(truncatingIfNeeded: try uint(what, count: 3))
  }

  package mutating func uint32(_ what: StaticString) throws(MalformedPacket) -> UInt32 {
    UInt32(truncatingIfNeeded: try uint(what, count: 4))
  }

  package mutating func uint64(_ what: StaticString) throws(MalformedPacket) -> UInt64 { try uint(what, count: 8) }

  package mutating func uint128(_ what: StaticString) throws(MalformedPacket) -> UInt128 {
    let low = UInt128(try uint64(what))
    return UInt128(try uint64(what)) << 64 | low
  }

  /// Reads an address of six bytes, least significant first (Vol 6 Part B §1.3).
  package mutating func address(_ what: StaticString) throws(MalformedPacket) -> Address { Address(rawValue: try uint(what, count: 6)) }

  package mutating func bytes(_ count: Int, _ what: StaticString) throws(MalformedPacket) -> [UInt8] { Array(try slice(count, what)) }

  package mutating func slice(_ count: Int, _ what: StaticString) throws(MalformedPacket) -> ArraySlice<UInt8> {
    guard count >= 0, remaining >= count else { throw truncated(what, count) }
    defer { position += count }
    return bytes[position..<position + count]
  }

  /// Reads all remaining bytes, possibly none.
  package mutating func rest() -> [UInt8] {
    defer { position = bytes.endIndex }
    return Array(bytes[position...])
  }

  /// Checks that no bytes remain at the end of a whole packet. Throws `MalformedPacket` for trailing bytes, which are not padding.
  package func finish(_ what: StaticString) throws(MalformedPacket) {
    guard isAtEnd else { throw MalformedPacket("\(what): \(remaining.counted("trailing byte"))", at: offset) }
  }

  private mutating func uint(_ what: StaticString, count: Int) throws(MalformedPacket) -> UInt64 {
    guard remaining >= count else { throw truncated(what, count) }
    var value: UInt64 = 0
    for index in (0..<count).reversed() { value = value << 8 | UInt64(bytes[position + index]) }
    position += count
    return value
  }

  private func truncated(_ what: StaticString, _ wanted: Int) -> MalformedPacket {
    MalformedPacket("\(what): needs \(wanted.counted("byte")), has \(remaining)", at: offset)
  }
}

extension Array<UInt8> {
  /// Returns the number in the bytes at `index` and `index + 1`, least significant byte first. Traps without both bytes.
  package func uint16(at index: Int) -> UInt16 { UInt16(self[index]) | UInt16(self[index + 1]) << 8 }
}
