// SPDX-License-Identifier: Apache-2.0
import DequeModule

/// A queue of packets that the kernel has not taken yet. One block of memory holds all packets.
package struct OutputQueue {
  package init() {}

  /// The remaining length of each packet, in bytes.
  private var lengths: Deque<Int> = []
  /// The bytes of the packets. The first remaining byte is at index `taken`.
  private var memory: [UInt8] = []
  private var taken = 0

  /// The maximum capacity in bytes of `memory` in an empty queue.
  private static let kept = 65_536

  package var isEmpty: Bool { lengths.isEmpty }
  package var count: Int { lengths.count }
  /// The number of remaining bytes of all packets.
  package var bytes: Int { memory.count - taken }

  /// The remaining bytes of the first packet. Nil if the queue is empty.
  package var front: ArraySlice<UInt8>? { lengths.first.map { memory[taken..<taken + $0] } }

  /// The remaining bytes of all packets.
  package var all: ArraySlice<UInt8> { memory[taken...] }

  package mutating func append(_ packet: [UInt8]) {
    // Remove the taken bytes if there are at least as many as bytes to move.
    if taken > 4096, taken >= bytes {
      memory.removeFirst(taken)
      taken = 0
    }
    lengths.append(packet.count)
    memory.append(contentsOf: packet)
  }

  /// Removes `bytes` bytes, which the kernel took, from the front of the queue.
  package mutating func removeFirst(_ bytes: Int) {
    var left = min(max(0, bytes), self.bytes)
    taken += left
    while let first = lengths.first, first <= left {
      left -= first
      lengths.removeFirst()
    }
    if left > 0, let first = lengths.first { lengths[0] = first - left }
    if lengths.isEmpty { empty() }
  }

  /// Removes the first packet, which the kernel took.
  package mutating func removeFirst() {
    guard let first = lengths.popFirst() else { return }
    taken += first
    if lengths.isEmpty { empty() }
  }

  private mutating func empty() {
    memory.removeAll(keepingCapacity: memory.capacity <= Self.kept)
    taken = 0
  }
}
