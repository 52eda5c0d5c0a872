package import Bluetooth
import Text

/// Splits an H4 byte stream into packets (Vol 4 Part A §2). H4 has no checksums and cannot resynchronize, so an invalid indicator
/// ends the stream.
package struct H4Framer: Sendable {
  private let sender: Direction
  private var buffer: [UInt8] = []
  private var start = 0
  private var total = 0
  private var failure: MalformedPacket?

  /// Creates a framer.
  /// - Parameter sender: the sender of the stream. Hosts never send events, controllers never send commands.
  package init(_ sender: Direction) { self.sender = sender }

  /// The number of stored bytes. At most one packet (65,540 bytes) plus the last append, if the caller calls `next` until it returns nil.
  package var count: Int { buffer.count - start }

  package mutating func append(_ octets: some Collection<UInt8>) {
    guard failure == nil else { return }
    if start > 0 {
      buffer.removeFirst(start)
      start = 0
    }
    buffer.append(contentsOf: octets)
  }

  /// Returns the next whole packet with its indicator. Nil if more bytes are necessary.
  /// - Throws: `MalformedPacket` if synchronization is lost, now and from then on. The byte offset counts from the start of the stream.
  package mutating func next() throws(MalformedPacket) -> [UInt8]? {
    var packet: [UInt8] = []
    return try next(&packet) ? packet : nil
  }

  /// Writes the next whole packet, with its indicator, to `packet`, and reuses the memory of `packet`.
  /// - Returns: false if more bytes are necessary.
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

  /// Returns the length of the next packet in bytes. Nil if the packet is incomplete.
  private mutating func nextLength() throws(MalformedPacket) -> Int? {
    if let failure { throw failure }
    guard let indicator = octet(0) else { return nil }
    let length: Int
    switch indicator {
    case Packet.commandIndicator where sender == .hostToController:
      guard let octets = octet(3) else { return nil }
      length = 4 + Int(octets)
    case Packet.eventIndicator where sender == .controllerToHost:
      guard let octets = octet(2) else { return nil }
      length = 3 + Int(octets)
    case Packet.synchronousIndicator:
      guard let octets = octet(3) else { return nil }
      length = 4 + Int(octets)
    case Packet.aclIndicator, Packet.isochronousIndicator:
      guard let low = octet(3), let high = octet(4) else { return nil }
      // Isochronous lengths have 14 bits. The other two are reserved.
      let octets = Int(low) | Int(high) << 8
      length = 5 + (indicator == Packet.isochronousIndicator ? octets & 0x3FFF : octets)
    default:
      let lost = MalformedPacket("H4: unknown packet type 0x\(Hex.encode(indicator)), synchronization lost", at: total)
      failure = lost
      buffer = []
      start = 0
      throw lost
    }
    return count >= length ? length : nil
  }

  /// Checks the end of the stream.
  /// - Throws: `MalformedPacket` if the stream ends inside a packet.
  package func finish() throws(MalformedPacket) {
    if let failure { throw failure }
    guard count == 0 else { throw MalformedPacket("H4: the stream ends after \(count) byte(s) of a packet", at: total) }
  }

  private func octet(_ index: Int) -> UInt8? { index < count ? buffer[start + index] : nil }
}
