// SPDX-License-Identifier: Apache-2.0
/// An HCI ACL Data packet, which carries a fragment of an L2CAP frame (Vol 4 Part E §5.4.2).
package struct ACLData: Sendable, Equatable {
  /// The Packet_Boundary_Flag of a packet.
  package enum Boundary: UInt8, Sendable {
    /// The start of a frame, non-automatically-flushable, as LE hosts send it.
    case firstNonFlushable = 0
    case continuing = 1
    /// The start of a frame, automatically flushable, as controllers send it.
    case firstFlushable = 2
    /// A whole frame, not used on LE.
    case complete = 3
  }

  package var handle: ConnectionHandle
  package var boundary: Boundary
  /// The Broadcast_Flag, 0 on LE.
  package var broadcast: UInt8
  package var payload: [UInt8]

  package init(handle: ConnectionHandle, boundary: Boundary, broadcast: UInt8 = 0, payload: [UInt8]) {
    (self.handle, self.boundary, self.broadcast, self.payload) = (handle, boundary, broadcast, payload)
  }

  /// Parses an ACL Data packet.
  /// - Parameter reader: The reader, after the H4 indicator. Its bytes must end with the packet.
  init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    let word = try reader.uint16("ACL data: handle")
    let length = Int(try reader.uint16("ACL data: length"))
    handle = ConnectionHandle(word)
    boundary = Boundary(rawValue: UInt8(truncatingIfNeeded: word >> 12) & 3) ?? .complete
    broadcast = UInt8(truncatingIfNeeded: word >> 14)
    payload = try reader.bytes(length, "ACL data: payload")
    try reader.finish("ACL data")
  }

  /// The packet in H4 form, with at most the first 65,535 bytes of the payload.
  package var encoded: [UInt8] {
    var packet: [UInt8] = []
    packet.reserveCapacity(min(payload.count, 0xFFFF) + 5)
    Self.write(handle, boundary, broadcast: broadcast, payload[...], to: &packet)
    return packet
  }

  /// Writes the H4 form of a packet into `packet`. Replaces the content of the array, but reuses its memory.
  package static func write(
    _ handle: ConnectionHandle, _ boundary: Boundary, broadcast: UInt8 = 0, _ payload: ArraySlice<UInt8>, to packet: inout [UInt8]
  ) {
    let payload = payload.prefix(0xFFFF)
    let word = handle.rawValue | UInt16(boundary.rawValue) << 12 | UInt16(broadcast & 3) << 14
    packet.removeAll(keepingCapacity: true)
    packet.append(Packet.aclIndicator)
    packet.append(UInt8(truncatingIfNeeded: word))
    packet.append(UInt8(truncatingIfNeeded: word >> 8))
    packet.append(UInt8(truncatingIfNeeded: payload.count))
    packet.append(UInt8(truncatingIfNeeded: payload.count >> 8))
    packet.append(contentsOf: payload)
  }
}
