import EventLoop

/// A started command of a session.
@LoopActor
final class ShellJob {
  /// The lane of the command's device. Nil for a command without a device.
  let lane: Lane?
  /// Whether later lines wait for the end of the command, because the command may choose their device.
  let holdsLines: Bool
  private let task: Task<(any Error)?, Never>

  init(_ lane: Lane?, holdsLines: Bool = false, _ body: @escaping @LoopActor @Sendable () async -> (any Error)?) {
    self.lane = lane
    self.holdsLines = holdsLines
    task = EventLoop.shared.spawn(body)
  }

  /// Creates a job that has already ended.
  convenience init(_ lane: Lane?, done failure: (any Error)?) { self.init(lane) { failure } }

  nonisolated func cancel() { task.cancel() }

  /// Returns the failure of the command at its end. Cancels the command if the calling task is canceled.
  func failureCancellingWithTask() async -> (any Error)? {
    await withTaskCancellationHandler(operation: { await failure() }, onCancel: { cancel() })
  }

  /// Waits for the end of the command and returns its failure, if any.
  func failure() async -> (any Error)? { await task.value }
}
