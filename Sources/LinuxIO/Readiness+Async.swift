import EventLoop

extension EventLoop {
  /// Returns when `descriptor` is ready, has failed or was hung up.
  /// - Throws: what `timeout` gives at `deadline`; CancellationError.
  @LoopActor
  func wait(
    for descriptor: Int32, _ interest: Interest, until deadline: LoopClock.Instant? = nil,
    orThrow timeout: @escaping @LoopActor () -> any Error = { CancellationError() }
  ) async throws {
    let ready = Wait<Void>()
    let watch = watch(descriptor, interest) { _ in ready.resume(returning: ()) }
    defer { watch.cancel() }
    try await ready.value(until: deadline, orThrow: timeout)
  }
}
