import DequeModule

/// The HCI packets that wait on one side of a link, and how far the first one has got.
struct PacketQueue {
  struct PDU {
    let octets: ArraySlice<UInt8>
    /// LLID: true for the start of an L2CAP frame.
    let isStart: Bool
  }

  /// The first one without what the peer has acknowledged of it.
  private var packets: Deque<PDU> = []

  var isEmpty: Bool { packets.isEmpty }
  var count: Int { packets.count }

  mutating func append(_ octets: [UInt8], isStart: Bool) { packets.append(PDU(octets: octets[...], isStart: isStart)) }

  /// Payload of the next LL PDU, 0 for an empty one.
  func nextCount(limit: Int) -> Int { min(limit, packets.first?.octets.count ?? 0) }

  func next(limit: Int) -> PDU? { packets.first.map { PDU(octets: $0.octets.prefix(limit), isStart: $0.isStart) } }

  /// Returns true when that was the rest of a packet.
  mutating func advance(_ octets: Int) -> Bool {
    guard let first = packets.popFirst() else { return false }
    let rest = first.octets.dropFirst(octets)
    guard !rest.isEmpty else { return true }
    packets.prepend(PDU(octets: rest, isStart: first.isStart && octets == 0))
    return false
  }
}
