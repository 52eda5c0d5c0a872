/// One value that is waited for and that someone else provides, once; whoever comes second is ignored. When several tasks wait, they share
/// one fate: a cancelled one ends the wait for all.
/// The bridge from handlers to `async`: every pending operation ends exactly once, cancellation included.
@LoopActor
package final class Wait<Value> {
  private var result: Result<Value, any Error>?
  private var continuations: [CheckedContinuation<Void, Never>] = []

  package init() {}

  package var isSettled: Bool { result != nil }

  package func resume(returning value: Value) { settle(.success(value)) }

  package func resume(throwing error: any Error) { settle(.failure(error)) }

  private func settle(_ result: Result<Value, any Error>) {
    guard self.result == nil else { return }
    self.result = result
    let waiting = continuations
    continuations = []
    for continuation in waiting { continuation.resume() }
  }

  /// - Throws: what was given to `resume(throwing:)`, or CancellationError when the task is cancelled first.
  package func value() async throws -> Value {
    try await withTaskCancellationHandler {
      if result == nil {
        if Task.isCancelled { throw CancellationError() }
        await withCheckedContinuation { continuations.append($0) }
      }
      guard let result else { throw CancellationError() }
      return try result.get()
    } onCancel: {
      EventLoop.shared.perform { self.settle(.failure(CancellationError())) }
    }
  }

  /// As `value()`, but gives up at `deadline` with `timeout()`.
  package func value(until deadline: LoopClock.Instant?, orThrow timeout: @escaping @LoopActor () -> any Error) async throws -> Value {
    guard let deadline else { return try await value() }
    let timer = EventLoop.shared.schedule(at: deadline) { self.settle(.failure(timeout())) }
    defer { timer.cancel() }
    return try await value()
  }
}
