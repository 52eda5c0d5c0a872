import DequeModule
import HCI
import L2CAP

/// The controller's LE ACL buffers, shared by all links (Vol 4 Part E §4.1.1): fragments wait here until one is free. Links take turns,
/// and one link never holds the buffers that the others need to go on: a peer that stopped listening must not stop them all.
struct SendQueue {
  /// Largest payload of one ACL packet, octets.
  let length: Int
  /// Buffers of the controller.
  let total: Int

  private struct Line {
    let handle: ConnectionHandle
    var fragments: Deque<ACLData> = []
    var inFlight = 0
    /// Fragments still to be completed of each frame that is not through yet, in order.
    var frames: Deque<Int> = []
  }

  private var lines: [Line] = []
  private var turn = 0

  init(length: Int, total: Int) {
    self.length = max(1, length)
    self.total = max(1, total)
  }

  mutating func open(_ handle: ConnectionHandle) {
    close(handle)
    lines.append(Line(handle: handle))
  }

  /// Buffers in use by the link are free again: the controller flushes them with the link (§7.7.5).
  mutating func close(_ handle: ConnectionHandle) { lines.removeAll { $0.handle == handle } }

  /// Does nothing for a handle that is not open.
  mutating func add(_ frame: L2CAPFrame, to handle: ConnectionHandle) {
    guard let index = lines.firstIndex(where: { $0.handle == handle }) else { return }
    let fragments = frame.fragments(handle: handle, length: length)
    lines[index].fragments += fragments
    lines[index].frames.append(fragments.count)
  }

  /// Fragments that wait in this process.
  func queued(_ handle: ConnectionHandle) -> Int { lines.first { $0.handle == handle }?.fragments.count ?? 0 }

  /// Fragments that wait here or in the controller.
  func outstanding(_ handle: ConnectionHandle) -> Int { lines.first { $0.handle == handle }.map { $0.fragments.count + $0.inFlight } ?? 0 }

  /// Frames that are not completed.
  func frames(_ handle: ConnectionHandle) -> Int { lines.first { $0.handle == handle }?.frames.count ?? 0 }

  /// The fragment to send now.
  mutating func next() -> ACLData? {
    let used = lines.reduce(0) { $0 + $1.inFlight }
    guard used < total else { return nil }
    // One buffer stays reserved for each of the others.
    let limit = max(1, total - (lines.count - 1))
    for step in 0..<lines.count {
      let index = (turn + step) % lines.count
      guard lines[index].inFlight < limit, let fragment = lines[index].fragments.popFirst() else { continue }
      lines[index].inFlight += 1
      turn = (index + 1) % lines.count
      return fragment
    }
    return nil
  }

  /// Number Of Completed Packets. Never frees more than was sent, whatever the controller says.
  mutating func completed(_ handle: ConnectionHandle, _ count: Int) {
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
