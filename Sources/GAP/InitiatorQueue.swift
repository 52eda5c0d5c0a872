import DequeModule
package import EventLoop

/// A controller has one initiator: who wants to connect waits for its turn, in the order of asking.
@LoopActor
package final class InitiatorQueue {
  private var isTaken = false
  private var waiting: Deque<Wait<Void>> = []

  package init() {}

  /// Every `take` that returns true is followed by one `give`.
  /// - Returns: false when its turn did not come until `deadline`.
  /// - Throws: CancellationError; its place in the queue is given up.
  package func take(until deadline: LoopClock.Instant) async throws -> Bool {
    try Task.checkCancellation()
    guard isTaken else {
      isTaken = true
      return true
    }
    let turn = Wait<Void>()
    waiting.append(turn)
    defer { waiting.removeAll { $0 === turn } }
    return try await turn.value(until: deadline) != nil
  }

  /// It is the next one's turn.
  package func give() {
    while let next = waiting.popFirst() {
      // A cancelled one has given up already.
      guard !next.isOver else { continue }
      return next.resume(returning: ())
    }
    isTaken = false
  }
}
