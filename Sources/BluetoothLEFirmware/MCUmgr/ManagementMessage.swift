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
    guard bytes.count >= ManagementMessage.headerSize else {
      bytes = []
      return nil
    }
    func big(_ index: Int) -> UInt16 { UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]) }
    let end = ManagementMessage.headerSize + Int(big(2))
    guard bytes.count >= end else { return nil }
    defer { bytes = [] }
    var message = ManagementMessage(
      operation: bytes[0] & 7, group: big(4), sequence: bytes[6], command: bytes[7], body: Array(bytes[ManagementMessage.headerSize..<end]))
    message.version = bytes[0] >> 3 & 3
    return message
  }

  /// Forgets the beginning of a message, the rest of which was lost.
  mutating func reset() { bytes = [] }
}
