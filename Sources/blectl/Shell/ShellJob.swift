import EventLoop

/// A command of a session that was started.
@LoopActor
final class ShellJob {
  /// Nil when it is about none.
  let lane: Lane?
  /// It decides what the lines behind it are about: they are looked at when it is over.
  let holdsLines: Bool
  private let task: Task<(any Error)?, Never>

  init(_ lane: Lane?, holdsLines: Bool = false, _ body: @escaping @LoopActor @Sendable () async -> (any Error)?) {
    self.lane = lane
    self.holdsLines = holdsLines
    task = EventLoop.shared.spawn(body)
  }

  /// One that is over.
  convenience init(_ lane: Lane?, done failure: (any Error)?) { self.init(lane) { failure } }

  nonisolated func cancel() { task.cancel() }

  /// As `failure`; a task that is cancelled while it waits cancels the command.
  func failureCancellingWithTask() async -> (any Error)? {
    await withTaskCancellationHandler(operation: { await failure() }, onCancel: { cancel() })
  }

  /// Why it failed; nil when it did not. Returns at its end.
  func failure() async -> (any Error)? { await task.value }
}
