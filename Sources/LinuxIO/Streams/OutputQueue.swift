import DequeModule

/// Packets that the kernel has not taken yet, in order, one behind the other in memory that is kept for the next ones. A stream may take a part
/// of the first one, or many at once.
struct OutputQueue {
  /// What is left of each packet.
  private var lengths: Deque<Int> = []
  /// The bytes of the packets, from `taken` on.
  private var memory: [UInt8] = []
  private var taken = 0

  /// More memory than this is given back when nothing waits any more.
  private static let kept = 65_536

  var isEmpty: Bool { lengths.isEmpty }
  var count: Int { lengths.count }
  /// What is left of all packets.
  var octets: Int { memory.count - taken }

  /// What is left of the first packet.
  var front: ArraySlice<UInt8>? { lengths.first.map { memory[taken..<taken + $0] } }

  /// What is left of all of them.
  var all: ArraySlice<UInt8> { memory[taken...] }

  mutating func append(_ packet: [UInt8]) {
    // What was taken gives way when it is as much as what would have to be moved.
    if taken > 4096, taken >= octets {
      memory.removeFirst(taken)
      taken = 0
    }
    lengths.append(packet.count)
    memory.append(contentsOf: packet)
  }

  /// The kernel took this many octets.
  mutating func removeFirst(_ octets: Int) {
    var left = min(max(0, octets), self.octets)
    taken += left
    while let first = lengths.first, first <= left {
      left -= first
      lengths.removeFirst()
    }
    if left > 0, let first = lengths.first { lengths[0] = first - left }
    if lengths.isEmpty { empty() }
  }

  /// The kernel took the first packet.
  mutating func removeFirst() {
    guard let first = lengths.popFirst() else { return }
    taken += first
    if lengths.isEmpty { empty() }
  }

  private mutating func empty() {
    memory.removeAll(keepingCapacity: memory.capacity <= Self.kept)
    taken = 0
  }
}
