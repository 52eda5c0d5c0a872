import DequeModule
package import HCI
package import L2CAP

/// The controller's LE ACL buffers, shared by all links (Vol 4 Part E §4.1.1): fragments wait here until one is free. Links take turns,
/// and one link never holds the buffers that the others need to go on: a peer that stopped listening must not stop them all.
///
/// Only Number Of Completed Packets and the end of a link free a buffer. An ATT response would prove that the peer has what was sent before its
/// request, but not that the controller counts as the host does: an event that is only late would then free a buffer twice. A lost event thus
/// costs its buffers until the link ends; who waits for one has a limit.
package struct SendQueue {
  /// Largest payload of one ACL packet, octets.
  let length: Int
  /// Buffers of the controller.
  let total: Int

  private struct Line {
    let handle: ConnectionHandle
    var fragments: Deque<(length: Int, isStart: Bool)> = []
    /// Those of the fragments, one behind the other, from `taken` on: the same memory for all, because a transfer has thousands.
    var octets: [UInt8] = []
    var taken = 0
    var inFlight = 0
    /// Fragments still to be completed of each frame that is not through yet, in order.
    var frames: Deque<Int> = []

    /// The octets that were taken give their place to others, when they are all or many.
    mutating func makeRoom() {
      guard taken == octets.count || taken >= 4096 else { return }
      if taken == octets.count { octets.removeAll(keepingCapacity: true) } else { octets.removeFirst(taken) }
      taken = 0
    }
  }

  private var lines: [Line] = []
  private var turn = 0

  package init(length: Int, total: Int) {
    self.length = max(1, length)
    self.total = max(1, total)
  }

  package mutating func open(_ handle: ConnectionHandle) {
    close(handle)
    lines.append(Line(handle: handle))
  }

  /// Buffers in use by the link are free again: the controller flushes them with the link (§7.7.5).
  package mutating func close(_ handle: ConnectionHandle) { lines.removeAll { $0.handle == handle } }

  /// Takes back what waits in this process; what the controller has stays in flight.
  package mutating func discard(_ handle: ConnectionHandle) {
    guard let index = lines.firstIndex(where: { $0.handle == handle }) else { return }
    let inFlight = lines[index].inFlight
    close(handle)
    lines.append(Line(handle: handle, inFlight: inFlight, frames: inFlight > 0 ? [inFlight] : []))
  }

  /// Queues a frame, cut for the controller's buffers (Vol 3 Part A §7.2.1). Does nothing for a handle that is not open.
  package mutating func add(_ channel: ChannelIdentifier, _ payload: [UInt8], to handle: ConnectionHandle) {
    guard let index = lines.firstIndex(where: { $0.handle == handle }) else { return }
    lines[index].makeRoom()
    let count = L2CAPFrame.append(channel, payload, to: &lines[index].octets)
    for start in stride(from: 0, to: count, by: length) { lines[index].fragments.append((min(length, count - start), start == 0)) }
    lines[index].frames.append((count + length - 1) / length)
  }

  /// Fragments that wait in this process.
  package func queued(_ handle: ConnectionHandle) -> Int { lines.first { $0.handle == handle }?.fragments.count ?? 0 }

  /// Fragments that wait here or in the controller.
  package func outstanding(_ handle: ConnectionHandle) -> Int {
    lines.first { $0.handle == handle }.map { $0.fragments.count + $0.inFlight } ?? 0
  }

  /// Frames that are not completed.
  package func frames(_ handle: ConnectionHandle) -> Int { lines.first { $0.handle == handle }?.frames.count ?? 0 }

  /// The fragment to send now, in H4 form in place of what `packet` held. - Returns: false when there is none.
  package mutating func next(_ packet: inout [UInt8]) -> Bool {
    let used = lines.reduce(0) { $0 + $1.inFlight }
    guard used < total else { return false }
    // One buffer stays reserved for each of the others.
    let limit = max(1, total - (lines.count - 1))
    for step in 0..<lines.count {
      let index = (turn + step) % lines.count
      guard lines[index].inFlight < limit, let fragment = lines[index].fragments.popFirst() else { continue }
      lines[index].inFlight += 1
      turn = (index + 1) % lines.count
      let start = lines[index].taken
      lines[index].taken += fragment.length
      ACLData.write(
        lines[index].handle, fragment.isStart ? .firstNonFlushable : .continuing,
        lines[index].octets[start..<start + fragment.length], to: &packet)
      return true
    }
    return false
  }

  /// Number Of Completed Packets. Never frees more than was sent, whatever the controller says.
  package mutating func completed(_ handle: ConnectionHandle, _ count: Int) {
    guard let index = lines.firstIndex(where: { $0.handle == handle }) else { return }
    var left = min(max(0, count), lines[index].inFlight)
    lines[index].inFlight -= left
    while left > 0, let first = lines[index].frames.first {
      let taken = min(left, first)
      left -= taken
      if taken == first { lines[index].frames.removeFirst() } else { lines[index].frames[0] = first - taken }
    }
  }
}
