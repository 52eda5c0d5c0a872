import EventLoop

/// A started command of a session.
@LoopActor
final class ShellJob {
  /// The device of the command. Nil for a command without a device.
  let device: SessionDevice?
  /// Whether later lines wait for the end of the command, because the command may choose their device.
  let holdsLines: Bool
  private let task: Task<(any Error)?, Never>

  init(_ device: SessionDevice?, holdsLines: Bool = false, _ body: @escaping @LoopActor @Sendable () async -> (any Error)?) {
    self.device = device
    self.holdsLines = holdsLines
    task = EventLoop.shared.spawn(body)
  }

  /// Creates a job that has already ended.
  convenience init(_ device: SessionDevice?, done failure: (any Error)?) { self.init(device) { failure } }

  nonisolated func cancel() { task.cancel() }

  /// Returns the failure of the command at its end. Cancels the command if the calling task is canceled.
  func failureCancellingWithTask() async -> (any Error)? {
    await withTaskCancellationHandler(operation: { await failure() }, onCancel: { cancel() })
  }

  /// Waits for the end of the command and returns its failure, if any.
  func failure() async -> (any Error)? { await task.value }
}
