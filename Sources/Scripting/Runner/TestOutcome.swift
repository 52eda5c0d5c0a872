import Presentation
import ScriptLanguage
import Terminal
import TestReports

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

/// A failed line of a script, which ends its test.
struct StepFailure: Error {
  let failure: Failure
  let outcome: TestOutcome
  /// The failure for the reports. Its line is 0 until `placed` adds the place.
  var problem: TestProblem

  init(_ failure: Failure, in step: TestOutcome.Step = .init()) {
    self.failure = failure
    outcome = TestOutcome(of: failure, in: step)
    problem = TestProblem(file: "", line: 0, source: "", message: failure.message, kind: failure.kind.rawValue, name: failure.name)
  }

  /// Creates the failure of an expectation.
  init(_ message: String, expected: String, actual: String) {
    self.init(Failure(.expectation, message))
    (problem.expected, problem.actual) = (expected, actual)
  }

  /// Returns this failure with the place of a line, unless it has a place.
  func placed(at line: ScriptLine) -> Self {
    guard problem.line == 0 else { return self }
    var error = self
    (error.problem.file, error.problem.line, error.problem.source) = (line.place.file, line.place.line, line.source)
    return error
  }

  /// Returns this failure with the values that arrived.
  /// - Parameter before: The number of earlier values, which `arrived` omits.
  func with(_ arrived: [String], before: Int) -> Self {
    var error = self
    error.problem.arrived = (before > 0 ? ["(\(before) earlier, not shown)"] : []) + arrived
    return error
  }

  /// Rethrows errors that end the run, not only a test.
  static func passOn(_ error: any Error) throws {
    if error is CancellationError || error is OutputFailure || Failure(error) == .cancelled { throw error }
  }
}

/// The error with which `skip` ends its test.
struct SkippedTest: Error { let reason: String }

/// The reason why the tests after a failed setup do not run.
struct SetupFailure {
  let reason: String
  /// Whether the adapter failed, so that no device is reachable.
  let isOfAdapter: Bool
}
