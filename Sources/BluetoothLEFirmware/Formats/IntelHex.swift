// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// The contents of an Intel HEX file (Intel, Hexadecimal Object File Format Specification, revision A). Start addresses are ignored.
package struct IntelHex: Sendable {
  /// Bytes at consecutive addresses.
  package struct Segment: Hashable, Sendable {
    package let address: UInt32
    package fileprivate(set) var bytes: [UInt8]

    fileprivate var end: Int { Int(address) + bytes.count }
  }

  /// The segments by address. They neither overlap nor touch, and there is at least one.
  package let segments: [Segment]

  /// Returns whether a file looks like Intel HEX: a colon and hex digits, perhaps after white space.
  package static func isHex(_ file: [UInt8]) -> Bool {
    let text = file.prefix(4096).drop { isSpace($0) }
    let digits = text.dropFirst().prefix(8)
    return text.first == UInt8(ascii: ":") && digits.count == 8 && digits.allSatisfy { Hex.nibble($0) != nil }
  }

  /// Reads a file, and checks each record.
  package init(_ file: [UInt8]) throws(FirmwareFileError) {
    var (parts, base, isLinear, isAtEnd): ([Segment], Int, Bool, Bool) = ([], 0, true, false)
    var (line, rest) = (0, file[...])
    while !rest.isEmpty {
      line += 1
      let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
      let text = rest[..<end]
      rest = rest[end...].dropFirst()
      guard let record = try Self.record(text, line) else { continue }
      guard !isAtEnd else { throw .hexRecord(line: line, .afterEnd) }
      switch (record.type, record.data.count) {
      case (0, 0): break
      case (0, let count):
        let start = base + record.offset
        // The offset of a segment address has 16 bits, and the sum of a linear address has 32.
        guard isLinear ? start + count <= 1 << 32 : record.offset + count <= 1 << 16, let address = UInt32(exactly: start) else {
          throw .hexRecord(line: line, .address)
        }
        if parts.last?.end == start {
          parts[parts.count - 1].bytes += record.data
        } else {
          parts.append(Segment(address: address, bytes: Array(record.data)))
        }
      case (1, 0): isAtEnd = true
      case (2, 2), (4, 2):
        isLinear = record.type == 4
        base = Int(ByteOrder.big.number(record.data)) << (isLinear ? 16 : 4)
      case (3, 4), (5, 4): break
      case (1...5, _): throw .hexRecord(line: line, .length)
      default: throw .hexRecord(line: line, .unknownType(record.type))
      }
    }
    guard isAtEnd else { throw .hexEndsEarly }
    guard !parts.isEmpty else { throw .hexWithoutData }
    segments = try Self.joined(parts.sorted { $0.address < $1.address })
  }

  /// Joins ordered segments that touch.
  private static func joined(_ parts: [Segment]) throws(FirmwareFileError) -> [Segment] {
    var segments: [Segment] = []
    for part in parts {
      // No copy of the last segment: that would copy its bytes when others are added.
      guard let end = segments.last?.end, part.address <= end else {
        segments.append(part)
        continue
      }
      guard part.address == end else { throw .hexOverlap(address: part.address) }
      segments[segments.count - 1].bytes += part.bytes
    }
    return segments
  }

  /// Reads a line. Returns nil for a blank one.
  private static func record(
    _ line: ArraySlice<UInt8>, _ number: Int
  ) throws(FirmwareFileError) -> (type: UInt8, offset: Int, data: ArraySlice<UInt8>)? {
    var digits = line.drop { isSpace($0) }
    while let last = digits.last, isSpace(last) { digits.removeLast() }
    guard let colon = digits.popFirst() else { return nil }
    // Longer lines are no records, and would need memory.
    guard colon == UInt8(ascii: ":"), digits.count >= 10, digits.count % 2 == 0, digits.count <= 520 else {
      throw .hexRecord(line: number, .syntax)
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for index in stride(from: digits.startIndex, to: digits.endIndex, by: 2) {
      guard let high = Hex.nibble(digits[index]), let low = Hex.nibble(digits[index + 1]) else { throw .hexRecord(line: number, .syntax) }
      bytes.append(high << 4 | low)
    }
    guard bytes.count == Int(bytes[0]) + 5 else { throw .hexRecord(line: number, .length) }
    guard bytes.reduce(0, &+) == 0 else { throw .hexRecord(line: number, .checksum) }
    return (bytes[3], Int(ByteOrder.big.number(bytes[1...2])), bytes[4..<bytes.count - 1])
  }

  private static func isSpace(_ character: UInt8) -> Bool { [0x20, 0x09, 0x0D, 0x0A].contains(character) }

  /// Returns the bytes from the lowest address, with 0xFF in the gaps. Leaves out segments that end more than `limit` bytes behind it, such as the
  /// settings of a chip.
  package func binary(limit: Int) -> [UInt8] {
    guard let first = segments.first else { return [] }
    var bytes: [UInt8] = []
    for segment in segments {
      let offset = Int(segment.address) - Int(first.address)
      guard offset + segment.bytes.count <= limit else { break }
      bytes += [UInt8](repeating: 0xFF, count: offset - bytes.count)
      bytes += segment.bytes
    }
    return bytes
  }
}
