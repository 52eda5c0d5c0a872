import Presentation

/// How a failed step counts for its test. The exit code and the reports follow from this.
enum TestOutcome: Equatable {
  /// The device failed: exit code 7.
  case failed
  /// The rig or the script failed: the exit code of the failure.
  case error
  /// The adapter or the device could not be reached: an error, and the tests after it do not run.
  case unreachable

  /// What the outcome depends on, besides the failure.
  struct Step {
    /// Connects, as `connect` does, or the first command of a test.
    var isConnection = false
    /// No connection exists before it.
    var isFirst = false
    /// Runs a command of the device file.
    var isCall = false
    /// `fails` follows.
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
