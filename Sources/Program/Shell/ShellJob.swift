import BluetoothLE

/// A command that a session has started.
@LoopActor
final class ShellJob {
  /// The device of the command. Nil for a command without a device.
  let device: SessionDevice?
  /// Whether the session starts later lines only after the command has ended.
  let holdsLines: Bool
  private let task: Task<(any Error)?, Never>

  init(_ device: SessionDevice?, holdsLines: Bool = false, _ body: @escaping @LoopActor @Sendable () async -> (any Error)?) {
    self.device = device
    self.holdsLines = holdsLines
    task = EventLoop.shared.spawn(body)
  }

  /// Creates a job that has already ended. `failure` is nil after a success.
  convenience init(_ device: SessionDevice?, done failure: (any Error)?) { self.init(device) { failure } }

  nonisolated func cancel() { task.cancel() }

  /// Waits for the end of the command and returns its failure, or nil after a success. A canceled calling task cancels the command.
  func failureCancellingWithTask() async -> (any Error)? {
    await withTaskCancellationHandler(operation: { await failure() }, onCancel: { cancel() })
  }

  /// Waits for the end of the command and returns its failure. Nil after a success.
  func failure() async -> (any Error)? { await task.value }
}
