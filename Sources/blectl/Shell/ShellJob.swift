import EventLoop

/// A command of a session that was started.
@LoopActor
final class ShellJob {
  /// Nil when it is about none.
  let lane: Lane?
  private let task: Task<(any Error)?, Never>

  /// It goes on until somebody stops it.
  let runsUntilStopped: Bool
  /// Stopped by the end of the input: as it was meant to be.
  private(set) var wasEndedByInput = false

  init(_ lane: Lane?, runsUntilStopped: Bool = false, _ body: @escaping @LoopActor @Sendable () async -> (any Error)?) {
    self.lane = lane
    self.runsUntilStopped = runsUntilStopped
    task = EventLoop.shared.spawn(body)
  }

  /// One that is over.
  convenience init(_ lane: Lane?, done failure: (any Error)?) { self.init(lane) { failure } }

  nonisolated func cancel() { task.cancel() }

  func endByInput() {
    wasEndedByInput = runsUntilStopped
    task.cancel()
  }

  /// As `failure`; a task that is cancelled while it waits cancels the command.
  func failureCancellingWithTask() async -> (any Error)? {
    await withTaskCancellationHandler(operation: { await failure() }, onCancel: { cancel() })
  }

  /// Why it failed; nil when it did not. Returns at its end.
  func failure() async -> (any Error)? { await task.value }
}
