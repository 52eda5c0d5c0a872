// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// A message of MCUmgr's Simple Management Protocol (SMP): a header of eight bytes, in which numbers are big endian, and a CBOR map.
package struct ManagementMessage: Hashable, Sendable {
  /// The operation, 0…7: 0 read, 2 write, and the odd number that follows for an answer.
  package var operation: UInt8
  /// The version of the protocol, 0…3. Version 1 has errors by group.
  package var version: UInt8 = 1
  package var group: UInt16
  package var sequence: UInt8
  package var command: UInt8
  /// The CBOR map, not decoded, at most 65535 bytes.
  package var body: [UInt8]

  package static let headerSize = 8

  package init(operation: UInt8, group: UInt16, sequence: UInt8, command: UInt8, body: [UInt8]) {
    (self.operation, self.group, self.sequence, self.command, self.body) = (operation, group, sequence, command, body)
  }

  /// Reads a message. Its body ends with the bytes if they are fewer than `size`. Returns nil for fewer than eight bytes.
  package init?(_ bytes: [UInt8]) {
    guard let size = Self.size(of: bytes) else { return nil }
    (operation, version, group) = (bytes[0] & 7, bytes[0] >> 3 & 3, UInt16(truncatingIfNeeded: ByteOrder.big.number(bytes[4...5])))
    (sequence, command, body) = (bytes[6], bytes[7], Array(bytes[..<min(size, bytes.count)].dropFirst(Self.headerSize)))
  }

  /// The number of bytes of the message that begins with these. Nil for fewer than eight bytes.
  package static func size(of bytes: [UInt8]) -> Int? {
    bytes.count < headerSize ? nil : headerSize + Int(ByteOrder.big.number(bytes[2...3]))
  }

  package var encoded: [UInt8] {
    func big(_ number: Int) -> [UInt8] { [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)] }
    return [version << 3 | operation, 0] + big(body.count) + big(Int(group)) + [sequence, command] + body
  }
}

/// Joins the values of the characteristic to messages. A message begins with a value, and ends after the length in its header.
struct MessageJoiner: Sendable {
  private var bytes: [UInt8] = []

  /// Adds a value and returns the message that it completes. Ignores bytes after the message, and values too short for a header.
  mutating func add(_ value: [UInt8]) -> ManagementMessage? {
    bytes += value
    if let size = ManagementMessage.size(of: bytes), bytes.count < size { return nil }
    defer { bytes = [] }
    return ManagementMessage(bytes)
  }

  /// Forgets the beginning of a message, the rest of which was lost.
  mutating func reset() { bytes = [] }
}
