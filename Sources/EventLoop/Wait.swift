/// One value that is waited for and that someone else provides, once; whoever comes second is ignored. When several tasks wait, one that is
/// cancelled, or whose time is over, leaves alone.
/// The bridge from handlers to `async`: every pending operation ends exactly once, cancellation included.
@LoopActor
package final class Wait<Value> {
  private var result: Result<Value, any Error>?
  private var waiting: [(number: Int, continuation: CheckedContinuation<Void, Never>)] = []
  private var count = 0
  private var wasLeft = false

  package init() {}

  package var isSettled: Bool { result != nil }

  /// Nobody will take the value any more: it is there, or whoever waited for it was cancelled.
  package var isOver: Bool { isSettled || wasLeft && waiting.isEmpty }

  package func resume(returning value: Value) { settle(.success(value)) }

  package func resume(throwing error: any Error) { settle(.failure(error)) }

  private func settle(_ result: Result<Value, any Error>) {
    guard self.result == nil else { return }
    self.result = result
    let all = waiting
    waiting = []
    for waiter in all { waiter.continuation.resume() }
  }

  /// - Throws: what was given to `resume(throwing:)`, or CancellationError when the task is cancelled first.
  package func value() async throws -> Value {
    guard let value = try await value(until: nil) else { throw CancellationError() }
    return value
  }

  /// - Parameter deadline: nil is no limit.
  /// - Returns: nil when there was nothing at `deadline`; for others who wait, and for whoever provides the value, nothing has changed then.
  /// - Throws: as `value()`.
  package func value(until deadline: LoopClock.Instant?) async throws -> Value? {
    let number = count
    count += 1
    return try await withTaskCancellationHandler {
      if result == nil {
        if Task.isCancelled { throw CancellationError() }
        let timer = deadline.map { EventLoop.shared.schedule(at: $0) { self.leave(number) } }
        defer { timer?.cancel() }
        await withCheckedContinuation { waiting.append((number, $0)) }
        if result == nil { try Task.checkCancellation() }
      }
      return try result?.get()
    } onCancel: {
      EventLoop.shared.perform {
        self.wasLeft = true
        self.leave(number)
      }
    }
  }

  private func leave(_ number: Int) {
    guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
    waiting.remove(at: index).continuation.resume()
  }
}
