package import Bluetooth
import Text

/// Cuts an H4 octet stream into packets (Vol 4 Part A §2). H4 has no checksums and no resynchronisation: an indicator that cannot be is the
/// end of the stream, because everything after it would be guesswork.
package struct H4Framer: Sendable {
  private let sender: Direction
  private var buffer: [UInt8] = []
  private var start = 0
  private var total = 0
  private var failure: MalformedPacket?

  /// - Parameter sender: who sends the stream; hosts never send events, controllers never send commands.
  package init(_ sender: Direction) { self.sender = sender }

  /// Octets held: never more than one packet (65 540) and what was appended last, as long as `next` is called until it returns nil.
  package var count: Int { buffer.count - start }

  package mutating func append(_ octets: some Collection<UInt8>) {
    guard failure == nil else { return }
    if start > 0 {
      buffer.removeFirst(start)
      start = 0
    }
    buffer.append(contentsOf: octets)
  }

  /// The next whole packet, indicator included; nil when more octets are needed.
  /// - Throws: when synchronisation is lost, now and from then on. The offset counts from the start of the stream.
  package mutating func next() throws(MalformedPacket) -> [UInt8]? {
    var packet: [UInt8] = []
    return try next(&packet) ? packet : nil
  }

  /// As `next()`, in place of what `packet` held, in the same memory. - Returns: false when more octets are needed.
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

  /// Nil when it is not whole.
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
      // Isochronous lengths have 14 bits; the others are reserved.
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

  /// Call at the end of the stream.
  /// - Throws: when it ends within a packet.
  package func finish() throws(MalformedPacket) {
    if let failure { throw failure }
    guard count == 0 else { throw MalformedPacket("H4: the stream ends after \(count) byte(s) of a packet", at: total) }
  }

  private func octet(_ index: Int) -> UInt8? { index < count ? buffer[start + index] : nil }
}
