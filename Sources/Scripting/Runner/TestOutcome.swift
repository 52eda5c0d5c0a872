import Presentation

/// The effect of a failed step on its test. The exit code and the reports follow from this.
enum TestOutcome: Equatable {
  /// The device failed: exit code 7.
  case failed
  /// The rig or the script failed: the exit code of the failure.
  case error
  /// The adapter or the device could not be reached: an error, and the tests after it do not run.
  case unreachable

  /// The circumstances of a failed step that affect the outcome.
  struct Step {
    /// Whether it connects, as `connect` and the first command of a test do.
    var isConnection = false
    /// Whether no connection exists before it.
    var isFirst = false
    /// Whether it runs a command of the device file.
    var isCall = false
    /// Whether `fails` follows.
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
  /// Whether the adapter or the device could not be reached. A retry may succeed.
  var isOfSetup: Bool { [.notFound, .adapter, .timeout].contains(exitStatus) }
}
