/// Runs both; the first to end, by value or error, decides, and the other is cancelled and awaited.
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

/// Runs `operation`; when it is not done at `deadline` it is cancelled and awaited.
/// - Parameter deadline: nil is no limit.
/// - Returns: what `operation` returned; nil when the time was over first.
@LoopActor
package func withDeadline<T>(_ deadline: LoopClock.Instant?, _ operation: @escaping @LoopActor () async throws -> T) async throws -> T? {
  guard let deadline else { return try await operation() }
  return try await race(operation) {
    try await EventLoop.shared.sleep(until: deadline)
    return nil
  }
}

/// Runs `cleanup` to its end although the calling task may be cancelled already: scan off, link closed. The clean-up must limit itself.
@LoopActor
package func shielded<T: Sendable>(_ cleanup: @escaping @LoopActor @Sendable () async -> T) async -> T {
  await EventLoop.shared.spawn(cleanup).value
}
