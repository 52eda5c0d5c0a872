// SPDX-License-Identifier: Apache-2.0
/// A writer that appends little-endian fields to a packet.
package struct ByteWriter: Sendable {
  package private(set) var bytes: [UInt8]

  package init(capacity: Int = 32) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  package mutating func uint8(_ value: UInt8) { bytes.append(value) }

  package mutating func int8(_ value: Int8) { bytes.append(UInt8(bitPattern: value)) }

  package mutating func uint16(_ value: UInt16) { integer(UInt64(value), count: 2) }

  /// Writes the lower 24 bits.
  package mutating func uint24(_ value: UInt32) { integer(UInt64(value), count: 3) }

  package mutating func uint32(_ value: UInt32) { integer(UInt64(value), count: 4) }

  package mutating func uint64(_ value: UInt64) { integer(value, count: 8) }

  package mutating func uint128(_ value: UInt128) {
    uint64(UInt64(truncatingIfNeeded: value))
    uint64(UInt64(truncatingIfNeeded: value >> 64))
  }

  package mutating func address(_ value: Address) { integer(value.rawValue, count: 6) }

  package mutating func append(_ value: some Sequence<UInt8>) { bytes.append(contentsOf: value) }

  private mutating func integer(_ value: UInt64, count: Int) {
    for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(index)))) }
  }
}
