/// Packets that the kernel has not taken yet, in order. A stream may take a part of the first one.
struct OutputQueue {
  private var packets: [[UInt8]] = []
  private var head = 0
  private var offset = 0

  var isEmpty: Bool { head == packets.count }
  var count: Int { packets.count - head }

  /// What is left of the first packet.
  var front: ArraySlice<UInt8>? { isEmpty ? nil : packets[head][offset...] }

  mutating func append(_ packet: [UInt8]) { packets.append(packet) }

  /// The kernel took this many octets of `front`.
  mutating func removeFirst(_ octets: Int) {
    guard !isEmpty else { return }
    offset += octets
    if offset >= packets[head].count { removeFirst() }
  }

  /// The kernel took the first packet.
  mutating func removeFirst() {
    guard !isEmpty else { return }
    packets[head] = []
    head += 1
    offset = 0
    // Moving the rest down now and then keeps a long transfer from remembering everything.
    if head == packets.count || head >= 256 {
      packets.removeFirst(head)
      head = 0
    }
  }
}
