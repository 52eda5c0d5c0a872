// SPDX-License-Identifier: Apache-2.0
/// Splits an H4 byte stream into packets (Vol 4 Part A §2). An invalid indicator ends the stream, because H4 cannot resynchronize.
package struct H4Framer: Sendable {
  private let sender: Direction
  private var buffer: [UInt8] = []
  private var start = 0
  private var total = 0
  private var failure: MalformedPacket?

  /// Creates a framer for a stream.
  /// - Parameter sender: The direction of the stream. An event from a host or a command from a controller ends the stream.
  package init(_ sender: Direction) { self.sender = sender }

  /// The number of stored bytes. A caller that empties the framer with `next` limits it to one packet (65,540 bytes) and the last append.
  package var count: Int { buffer.count - start }

  package mutating func append(_ bytes: some Collection<UInt8>) {
    guard failure == nil else { return }
    if start > 0 {
      buffer.removeFirst(start)
      start = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// Returns the next whole packet with its indicator. Nil if the framer needs more bytes.
  /// - Throws: `MalformedPacket` after an invalid indicator, at this and all later calls. The error has the byte offset in the stream.
  package mutating func next() throws(MalformedPacket) -> [UInt8]? {
    var packet: [UInt8] = []
    return try next(&packet) ? packet : nil
  }

  /// Writes the next whole packet, with its indicator, to `packet`. Reuses the memory of `packet`.
  /// - Returns: False if the framer needs more bytes.
  package mutating func next(_ packet: inout [UInt8]) throws(MalformedPacket) -> Bool {
    guard let length = try nextLength() else { return false }
    packet.removeAll(keepingCapacity: true)
    packet.append(contentsOf: buffer[start..<start + length])
    start += length
    total &+= length
    if start == buffer.count {
      buffer.removeAll(keepingCapacity: true)
      start = 0
    }
    return true
  }

  /// Returns the length of the next packet in bytes, with its indicator. Nil if the packet is incomplete.
  private mutating func nextLength() throws(MalformedPacket) -> Int? {
    if let failure { throw failure }
    guard let indicator = byte(0) else { return nil }
    let length: Int
    switch indicator {
    case Packet.commandIndicator where sender == .hostToController:
      guard let bytes = byte(3) else { return nil }
      length = 4 + Int(bytes)
    case Packet.eventIndicator where sender == .controllerToHost:
      guard let bytes = byte(2) else { return nil }
      length = 3 + Int(bytes)
    case Packet.synchronousIndicator:
      guard let bytes = byte(3) else { return nil }
      length = 4 + Int(bytes)
    case Packet.aclIndicator, Packet.isochronousIndicator:
      guard let low = byte(3), let high = byte(4) else { return nil }
      // Isochronous lengths have 14 bits. The other two are reserved.
      let bytes = Int(low) | Int(high) << 8
      length = 5 + (indicator == Packet.isochronousIndicator ? bytes & 0x3FFF : bytes)
    default:
      let lost = MalformedPacket("H4: unknown packet type 0x\(Hex.encode(indicator)), synchronization lost", at: total)
      failure = lost
      buffer = []
      start = 0
      throw lost
    }
    return count >= length ? length : nil
  }

  private func byte(_ index: Int) -> UInt8? { index < count ? buffer[start + index] : nil }
}
