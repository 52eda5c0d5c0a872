// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

/// The requests of an upload: what to send next, and which of them the device has answered. The device decides about the offset.
struct ImageUpload: Sendable {
  struct Request: Hashable, Sendable {
    let sequence: UInt8
    let bytes: Range<Int>
    /// The number of jumps to another offset before the request.
    fileprivate let round: Int
    let limit: Duration
    let deadline: LoopClock.Instant
  }

  /// Five jumps without progress, or five restarts from 0, are an error.
  static let tries = 5
  let total, window: Int
  /// The offset after the last byte sent, and the offset that the device asks for.
  private(set) var next = 0
  private(set) var confirmed = 0
  /// The requests without an answer, in order.
  private(set) var open: [Request] = []
  private var round = 0
  private var highest = 0
  private var failures = 0
  private var restarts = 0

  init(total: Int, window: Int) { (self.total, self.window) = (total, max(1, window)) }

  /// The first request goes alone, because it erases the slot, or tells where to resume.
  var canSend: Bool { next < total && (open.isEmpty || confirmed > 0 && open.count < window) }
  var isComplete: Bool { confirmed == total }

  @LoopActor mutating func sent(_ sequence: UInt8, _ count: Int, within limit: Duration) {
    let deadline = EventLoop.shared.now.advanced(by: limit)
    open.append(Request(sequence: sequence, bytes: next..<next + count, round: round, limit: limit, deadline: deadline))
    next += count
  }

  /// Takes the offset in an answer. Earlier requests without an answer are over too: the device answers in order.
  ///
  /// After a lost request, the device answers each later one with the same offset. Only the first of these answers counts.
  mutating func answered(_ sequence: UInt8, offset: Int) throws(ManagementError) {
    guard (0...total).contains(offset) else { throw .invalidAnswer(.upload) }
    guard let index = open.firstIndex(where: { $0.sequence == sequence }) else { return }
    let request = open[index]
    open.removeFirst(index + 1)
    guard request.round == round else { return }
    guard offset == request.bytes.upperBound else { return try jump(to: offset) }
    confirmed = offset
    if offset > highest { (highest, failures) = (offset, 0) }
  }

  /// Continues at an offset.
  /// - Throws: `ManagementError.uploadStuck`.
  private mutating func jump(to offset: Int) throws(ManagementError) {
    if offset == 0 { (highest, restarts) = (0, restarts + 1) }
    failures = offset > highest ? 0 : failures + 1
    (next, confirmed, highest, round) = (offset, offset, max(highest, offset), round + 1)
    guard failures < Self.tries, restarts < Self.tries else { throw .uploadStuck(at: offset, tries: Self.tries) }
  }

  /// Starts again from an offset, after the device was silent or busy, or because it has bytes of another upload.
  mutating func restart(at offset: Int) { (next, confirmed, open, round) = (offset, offset, [], round + 1) }
}
