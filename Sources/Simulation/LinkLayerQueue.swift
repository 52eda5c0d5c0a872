import DequeModule

/// The HCI packets that wait on one side of a link, and the progress of the first one.
struct PacketQueue {
  struct PDU {
    let octets: ArraySlice<UInt8>
    /// Whether the PDU starts an L2CAP frame (LLID).
    let isStart: Bool
  }

  /// The waiting packets, in order. The first one lacks its acknowledged part.
  private var packets: Deque<PDU> = []

  var isEmpty: Bool { packets.isEmpty }
  var count: Int { packets.count }

  mutating func append(_ octets: [UInt8], isStart: Bool) { packets.append(PDU(octets: octets[...], isStart: isStart)) }

  /// Returns the payload length of the next LL PDU in bytes, 0 for an empty one.
  func nextCount(limit: Int) -> Int { min(limit, packets.first?.octets.count ?? 0) }

  func next(limit: Int) -> PDU? { packets.first.map { PDU(octets: $0.octets.prefix(limit), isStart: $0.isStart) } }

  /// Removes acknowledged bytes. Returns whether they complete a packet.
  mutating func advance(_ octets: Int) -> Bool {
    guard let first = packets.popFirst() else { return false }
    let rest = first.octets.dropFirst(octets)
    guard !rest.isEmpty else { return true }
    packets.prepend(PDU(octets: rest, isStart: first.isStart && octets == 0))
    return false
  }
}
