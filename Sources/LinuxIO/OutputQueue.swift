import DequeModule

/// Packets that the kernel has not taken yet, in order. A stream may take a part of the first one.
struct OutputQueue {
  private var packets: Deque<ArraySlice<UInt8>> = []
  /// What is left of all packets.
  private(set) var octets = 0

  var isEmpty: Bool { packets.isEmpty }
  var count: Int { packets.count }

  /// What is left of the first packet.
  var front: ArraySlice<UInt8>? { packets.first }

  mutating func append(_ packet: [UInt8]) {
    packets.append(packet[...])
    octets += packet.count
  }

  /// The kernel took this many octets of `front`.
  mutating func removeFirst(_ octets: Int) {
    guard let front = packets.popFirst() else { return }
    let rest = front.dropFirst(octets)
    if !rest.isEmpty { packets.prepend(rest) }
    self.octets -= front.count - rest.count
  }

  /// The kernel took the first packet.
  mutating func removeFirst() { octets -= packets.popFirst()?.count ?? 0 }
}
