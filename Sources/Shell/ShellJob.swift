import EventLoop

/// A command of a session that was started.
@LoopActor
final class ShellJob {
  /// The lane of its device; nil for a command without a device.
  let lane: Lane?
  /// Whether later lines wait for its end, because it decides what they are about.
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

  /// Waits for the failure. If the task is canceled meanwhile, the command is canceled.
  func failureCancellingWithTask() async -> (any Error)? {
    await withTaskCancellationHandler(operation: { await failure() }, onCancel: { cancel() })
  }

  /// Why it failed; nil when it did not. Returns at its end.
  func failure() async -> (any Error)? { await task.value }
}
