/// One value that is waited for and that someone else provides, once; whoever comes second is ignored. When several tasks wait, they share
/// one fate: a cancelled one ends the wait for all.
/// The bridge from handlers to `async`: every pending operation ends exactly once, cancellation included.
@LoopActor
package final class Wait<Value> {
  private var result: Result<Value, any Error>?
  private var waiting: [(number: Int, continuation: CheckedContinuation<Void, Never>)] = []
  private var count = 0

  package init() {}

  package var isSettled: Bool { result != nil }

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
    try await withTaskCancellationHandler {
      if result == nil {
        if Task.isCancelled { throw CancellationError() }
        let number = count
        count += 1
        let timer = deadline.map { EventLoop.shared.schedule(at: $0) { self.giveUp(number) } }
        defer { timer?.cancel() }
        await withCheckedContinuation { waiting.append((number, $0)) }
      }
      return try result?.get()
    } onCancel: {
      EventLoop.shared.perform { self.settle(.failure(CancellationError())) }
    }
  }

  private func giveUp(_ number: Int) {
    guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
    waiting.remove(at: index).continuation.resume()
  }
}
