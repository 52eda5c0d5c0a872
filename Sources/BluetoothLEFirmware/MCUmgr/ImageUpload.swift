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

  /// Five requests from one offset without progress, or five restarts from 0, are an error.
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
    guard let request = take(sequence), request.round == round else { return }
    guard offset == request.bytes.upperBound else { return try jump(to: offset) }
    confirmed = offset
    if offset > highest { (highest, failures) = (offset, 0) }
  }

  /// Removes a request, and all before it. Returns nil for an unknown one.
  private mutating func take(_ sequence: UInt8) -> Request? {
    guard let index = open.firstIndex(where: { $0.sequence == sequence }) else { return nil }
    defer { open.removeFirst(index + 1) }
    return open[index]
  }

  /// Continues at an offset.
  /// - Throws: `ManagementError.uploadStuck`.
  private mutating func jump(to offset: Int) throws(ManagementError) {
    round += 1
    if offset == 0 { (highest, restarts) = (0, restarts + 1) }
    failures = offset > highest ? 0 : failures + 1
    (next, confirmed, highest) = (offset, offset, max(highest, offset))
    guard failures < Self.tries, restarts < Self.tries else { throw .uploadStuck(at: offset, tries: Self.tries) }
  }

  /// Starts again after the device was silent: it lost the open requests, or its answers were lost.
  mutating func timedOut() throws(ManagementError) {
    open = []
    try jump(to: confirmed)
  }

  /// Sends the bytes after the confirmed ones again, because the device was busy.
  /// - Returns: Whether this is the first such answer since the last jump.
  mutating func wasBusy(_ sequence: UInt8) -> Bool {
    guard let request = take(sequence), request.round == round else { return false }
    (round, next) = (round + 1, confirmed)
    return true
  }

  /// Starts at 0, because the device has bytes of another upload.
  mutating func restart() { (next, confirmed, highest, failures, open, round) = (0, 0, 0, 0, [], round + 1) }
}
