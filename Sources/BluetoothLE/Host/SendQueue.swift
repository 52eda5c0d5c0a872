// SPDX-License-Identifier: Apache-2.0
import DequeModule

/// The queue for the controller's LE ACL buffers, which all links share (Vol 4 Part E §4.1.1).
/// Links take turns. Each link leaves buffers for the other links, so that a peer that stopped listening does not block them.
/// Only Number Of Completed Packets and the end of a link free a buffer. After a lost event, its buffers stay in use until the link ends.
package struct SendQueue {
  /// The largest payload of an ACL packet, in bytes.
  let length: Int
  /// The number of the controller's buffers.
  let total: Int

  private struct Line {
    let handle: ConnectionHandle
    var fragments: Deque<(length: Int, isStart: Bool)> = []
    /// The bytes of all waiting fragments, from index `taken` on.
    var bytes: [UInt8] = []
    var taken = 0
    var inFlight = 0
    /// The number of uncompleted fragments of each uncompleted frame, in sending order.
    var frames: Deque<Int> = []

    /// Frees the memory of the taken bytes if no byte waits or at least 4096 bytes are taken.
    mutating func makeRoom() {
      guard taken == bytes.count || taken >= 4096 else { return }
      if taken == bytes.count { bytes.removeAll(keepingCapacity: true) } else { bytes.removeFirst(taken) }
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

  /// Removes a link and frees its buffers, which the controller flushes with the link (Vol 4 Part E §7.7.5).
  package mutating func close(_ handle: ConnectionHandle) { lines.removeAll { $0.handle == handle } }

  /// Removes the fragments of a link that wait in this process. Fragments in the controller stay in flight.
  package mutating func discard(_ handle: ConnectionHandle) {
    guard let index = lines.firstIndex(where: { $0.handle == handle }) else { return }
    let inFlight = lines[index].inFlight
    close(handle)
    lines.append(Line(handle: handle, inFlight: inFlight, frames: inFlight > 0 ? [inFlight] : []))
  }

  /// Cuts a frame for the controller's buffers and queues it (Vol 3 Part A §7.2.1). Does nothing for a handle that is not open.
  package mutating func add(_ channel: ChannelIdentifier, _ payload: [UInt8], to handle: ConnectionHandle) {
    guard let index = lines.firstIndex(where: { $0.handle == handle }) else { return }
    lines[index].makeRoom()
    let count = L2CAPFrame.append(channel, payload, to: &lines[index].bytes)
    for start in stride(from: 0, to: count, by: length) { lines[index].fragments.append((min(length, count - start), start == 0)) }
    lines[index].frames.append((count + length - 1) / length)
  }

  /// Returns the number of fragments of a link that wait in this process.
  package func queued(_ handle: ConnectionHandle) -> Int { lines.first { $0.handle == handle }?.fragments.count ?? 0 }

  /// Returns the number of fragments of a link that wait in this process or in the controller.
  package func outstanding(_ handle: ConnectionHandle) -> Int {
    lines.first { $0.handle == handle }.map { $0.fragments.count + $0.inFlight } ?? 0
  }

  /// Returns the number of frames of a link that the controller has not completed.
  package func frames(_ handle: ConnectionHandle) -> Int { lines.first { $0.handle == handle }?.frames.count ?? 0 }

  /// Replaces `packet` with the fragment to send now, in H4 form. Returns false if no fragment waits or no buffer is free.
  package mutating func next(_ packet: inout [UInt8]) -> Bool {
    let used = lines.reduce(0) { $0 + $1.inFlight }
    guard used < total else { return false }
    // Reserve one buffer for each other link.
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
        lines[index].bytes[start..<start + fragment.length], to: &packet)
      return true
    }
    return false
  }

  /// Frees the buffers that Number Of Completed Packets reports for a link, but never more buffers than are in use.
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
