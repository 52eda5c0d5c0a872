// SPDX-License-Identifier: Apache-2.0
import DequeModule

/// A queue of the HCI packets that one side of a link has not transferred completely.
struct PacketQueue {
  struct PDU {
    let bytes: ArraySlice<UInt8>
    /// Whether the PDU starts an L2CAP frame (LLID).
    let isStart: Bool
  }

  /// The waiting packets in order. The first packet lacks the bytes that the peer has acknowledged.
  private var packets: Deque<PDU> = []

  var isEmpty: Bool { packets.isEmpty }
  var count: Int { packets.count }

  mutating func append(_ bytes: [UInt8], isStart: Bool) { packets.append(PDU(bytes: bytes[...], isStart: isStart)) }

  /// Returns the payload length of the next LL PDU in bytes, 0 for an empty one.
  func nextCount(limit: Int) -> Int { min(limit, packets.first?.bytes.count ?? 0) }

  func next(limit: Int) -> PDU? { packets.first.map { PDU(bytes: $0.bytes.prefix(limit), isStart: $0.isStart) } }

  /// Removes this number of acknowledged bytes from the first packet. Returns whether the packet is complete.
  mutating func advance(_ bytes: Int) -> Bool {
    guard let first = packets.popFirst() else { return false }
    let rest = first.bytes.dropFirst(bytes)
    guard !rest.isEmpty else { return true }
    packets.prepend(PDU(bytes: rest, isStart: first.isStart && bytes == 0))
    return false
  }
}
