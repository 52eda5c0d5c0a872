import Presentation

/// The effect of a failed step on its test. The exit code and the reports follow from this.
enum TestOutcome: Equatable {
  /// The device failed. The exit code is 7.
  case failed
  /// The rig or the script failed. The exit code is that of the failure.
  case error
  /// The setup did not reach the adapter or the device. This is an error, and the tests after it do not run.
  case unreachable

  /// The circumstances of a failed step that affect the outcome.
  struct Step {
    /// Whether the step connects, as `connect` and the first command of a test do.
    var isConnection = false
    /// Whether no connection exists before the step.
    var isFirst = false
    /// Whether the step runs a command of the device file.
    var isCall = false
    /// Whether a `fails` line follows the step.
    var expectsFailure = false
  }

  package init(of failure: Failure, in step: Step) {
    if step.isConnection {
      self = !step.expectsFailure && failure.isOfSetup ? .unreachable : .error
    } else if failure.kind == .adapter {
      self = step.isFirst && !step.expectsFailure ? .unreachable : .error
    } else if step.isCall && failure.isRefusal {
      // A command that the device file lacks is not a failure of the device.
      self = .error
    } else {
      self = .failed
    }
  }
}

extension Failure {
  /// Whether the session did not reach the adapter or the device. A retry may succeed.
  var isOfSetup: Bool { [.notFound, .adapter, .timeout].contains(exitStatus) }
}
