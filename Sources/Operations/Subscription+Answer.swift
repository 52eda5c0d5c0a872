package import EventLoop
package import GATT

extension Subscription {
  /// Waits for the value that answers: the first that begins with `prefix`. Others may come at any time and are no answers.
  /// - Parameter other: gets each that is no answer.
  /// - Returns: nil at `deadline`.
  /// - Throws: what the end of the subscription throws, CancellationError.
  package func answer(
    beginningWith prefix: [UInt8], until deadline: LoopClock.Instant, other: @LoopActor (ValueEvent) -> Void
  ) async throws -> ValueEvent? {
    while let event = try await next(until: deadline) {
      if event.value.starts(with: prefix) { return event }
      other(event)
    }
    return nil
  }
}
