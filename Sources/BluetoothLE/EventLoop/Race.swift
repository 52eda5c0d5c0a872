// SPDX-License-Identifier: Apache-2.0
/// Runs two operations. Returns or throws the outcome of the first operation to finish, after canceling the other and waiting for its end.
@LoopActor
package func race<T>(
  _ first: @escaping @LoopActor () async throws -> T, _ second: @escaping @LoopActor () async throws -> T
) async throws -> T {
  let winner = Wait<T>()
  let tasks = [first, second].map { operation in
    EventLoop.shared.spawn {
      do { winner.resume(returning: try await operation()) } catch { winner.resume(throwing: error) }
    }
  }
  let result: Result<T, any Error>
  do { result = .success(try await winner.value()) } catch { result = .failure(error) }
  for task in tasks { task.cancel() }
  for task in tasks { await task.value }
  return try result.get()
}

/// Runs `operation`. If it has not finished at `deadline`, cancels it and waits for it.
/// - Parameter deadline: The time limit of `operation`. Nil means no limit.
/// - Returns: The value of `operation`, or nil if the deadline passed first.
@LoopActor
package func withDeadline<T>(_ deadline: LoopClock.Instant?, _ operation: @escaping @LoopActor () async throws -> T) async throws -> T? {
  guard let deadline else { return try await operation() }
  return try await race(operation) {
    try await EventLoop.shared.sleep(until: deadline)
    return nil
  }
}

/// Runs `cleanup` to its end even after a cancellation of the calling task, for example to disconnect. `cleanup` must limit its own time.
@LoopActor
package func shielded<T: Sendable>(_ cleanup: @escaping @LoopActor @Sendable () async -> T) async -> T {
  await EventLoop.shared.spawn(cleanup).value
}
