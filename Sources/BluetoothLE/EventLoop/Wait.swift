// SPDX-License-Identifier: Apache-2.0
/// A value that other code provides and tasks wait for. Only the first value counts. A cancellation or timeout affects only its own task.
/// Handlers provide the value, so that `async` functions can wait for events.
@LoopActor
package final class Wait<Value> {
  private var result: Result<Value, any Error>?
  private var waiting: [(number: Int, continuation: LoopContinuation<Void>)] = []
  private var count = 0
  private var wasLeft = false

  package init() {}

  package var isSettled: Bool { result != nil }

  /// Whether a new value would have no effect, because the value exists or no task waits after a cancellation.
  package var isOver: Bool { isSettled || wasLeft && waiting.isEmpty }

  package func resume(returning value: Value) { settle(.success(value)) }

  package func resume(throwing error: any Error) { settle(.failure(error)) }

  private func settle(_ result: Result<Value, any Error>) {
    guard self.result == nil else { return }
    self.result = result
    let all = waiting
    waiting = []
    for waiter in all { waiter.continuation.resume(returning: ()) }
  }

  /// Waits for the value and returns it.
  /// - Throws: The error of `resume(throwing:)`, or CancellationError if the task is canceled first.
  package func value() async throws -> Value {
    guard let value = try await value(until: nil) else { throw CancellationError() }
    return value
  }

  /// Waits for the value until a deadline. Nil means no limit.
  /// - Returns: Nil at the deadline. The deadline does not affect other waiting tasks or the provider of the value.
  /// - Throws: The error of `resume(throwing:)`, or CancellationError.
  package func value(until deadline: LoopClock.Instant?) async throws -> Value? {
    let number = count
    count += 1
    return try await withTaskCancellationHandler {
      if result == nil {
        if Task.isCancelled { throw CancellationError() }
        let timer = deadline.map { EventLoop.shared.schedule(at: $0) { self.leave(number) } }
        defer { timer?.cancel() }
        await LoopContinuation.suspend { waiting.append((number, $0)) }
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
    waiting.remove(at: index).continuation.resume(returning: ())
  }
}
