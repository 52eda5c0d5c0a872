/// The HCI packets that wait on one side of a link, and how far the first one has got.
struct PacketQueue {
  struct PDU {
    let octets: ArraySlice<UInt8>
    /// LLID: true for the start of an L2CAP frame.
    let isStart: Bool
  }

  private var packets: [(octets: [UInt8], isStart: Bool)] = []
  /// Packets before this index are gone.
  private var head = 0
  /// Octets of the first packet that the peer has acknowledged.
  private var sent = 0

  var isEmpty: Bool { head == packets.count }
  var count: Int { packets.count - head }

  mutating func append(_ octets: [UInt8], isStart: Bool) { packets.append((octets, isStart)) }

  /// Payload of the next LL PDU, 0 for an empty one.
  func nextCount(limit: Int) -> Int { isEmpty ? 0 : min(limit, packets[head].octets.count - sent) }

  func next(limit: Int) -> PDU? {
    guard !isEmpty else { return nil }
    let packet = packets[head]
    return PDU(octets: packet.octets[sent..<sent + nextCount(limit: limit)], isStart: packet.isStart && sent == 0)
  }

  /// Returns true when that was the rest of a packet.
  mutating func advance(_ octets: Int) -> Bool {
    guard !isEmpty else { return false }
    sent += octets
    guard sent >= packets[head].octets.count else { return false }
    packets[head].octets = []
    head += 1
    sent = 0
    if head >= 64 {
      packets.removeFirst(head)
      head = 0
    }
    return true
  }
}
