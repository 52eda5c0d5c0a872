import CommandLine
import Program
import Scripts

/// The effect of a failed step on its test, which decides the exit code and the reports.
enum TestOutcome: Equatable {
  /// The device did not behave as the script expects. The exit code is 7.
  case failed
  /// The setup or the script is at fault. The exit code is that of the failure.
  case error
  /// The session did not reach the adapter or the device. The test ends with an error, and later tests do not run.
  case unreachable

  /// The circumstances of a failed step that affect the outcome.
  struct Step {
    /// Whether the step connects, as `connect` and an automatic connection do.
    var isConnection = false
    /// Whether the session has no connection before the step.
    var isFirst = false
    /// Whether the step uses a file: a `call`, which runs a command of a device file, or `peripheral`.
    var usesFile = false
    /// Whether a `fails` line follows the step.
    var expectsFailure = false
  }

  package init(of failure: Failure, in step: Step) {
    if step.isConnection {
      self = !step.expectsFailure && failure.isOfSetup ? .unreachable : .error
    } else if failure.kind == .adapter {
      self = step.isFirst && !step.expectsFailure ? .unreachable : .error
    } else if step.usesFile && failure.isRefusal {
      // A command that the device file lacks is not a failure of the device, nor is what our own device cannot do.
      self = .error
    } else {
      self = .failed
    }
  }
}

extension TestOutcome.Step {
  init(of command: any LoopCommand, isFirst: Bool, expectsFailure: Bool) {
    let isOurs = command is ControlPeripheral
    // The adapter of our own device concerns only its lines.
    self.init(
      isConnection: command.traits.deviceChange == .connects, isFirst: isFirst && !isOurs, usesFile: command.deviceCall != nil || isOurs,
      expectsFailure: expectsFailure)
  }
}

extension Failure {
  /// Whether the session did not reach the adapter or the device, so that a retry may succeed.
  var isOfSetup: Bool { [.notFound, .adapter, .timeout].contains(exitStatus) }
}

/// A failed line of a script, which ends its test.
struct StepFailure: Error {
  let failure: Failure
  let outcome: TestOutcome
  /// The failure as the reports show it. Its line is 0 until `placed` sets the place.
  var problem: TestProblem

  init(_ failure: Failure, in step: TestOutcome.Step = .init()) {
    self.failure = failure
    outcome = TestOutcome(of: failure, in: step)
    problem = TestProblem(file: "", line: 0, source: "", message: failure.message, kind: failure.kind.rawValue, name: failure.name)
  }

  /// Creates the failure of an expectation from the expected and the actual value.
  init(_ message: String, expected: String, actual: String) {
    self.init(Failure(.expectation, message))
    (problem.expected, problem.actual) = (expected, actual)
  }

  /// Whether the device answered, but not as the line expects. `or warn` turns this failure into a warning.
  var isOfExpectation: Bool { outcome == .failed && [.expectation, .notFound, .ambiguous, .att].contains(failure.kind) }

  /// Returns a copy with the place of the line. Returns the same failure if it already has a place.
  func placed(at line: ScriptLine) -> Self {
    guard problem.line == 0 else { return self }
    var error = self
    (error.problem.file, error.problem.line) = (line.place.file, line.place.line)
    error.problem.source = SecretOptions.hidden(in: line.source)
    return error
  }

  /// Returns a copy with the values that arrived before the failure.
  /// - Parameter before: The number of values that arrived earlier than those in `arrived`.
  func with(_ arrived: [String], before: Int) -> Self {
    var error = self
    error.problem.arrived = (before > 0 ? ["(\(before) earlier, not shown)"] : []) + arrived
    return error
  }

  /// Rethrows an error that ends the whole run, such as Ctrl-C or a closed output. Ignores other errors.
  static func passOn(_ error: any Error) throws {
    if error is CancellationError || error is OutputFailure || Failure(error) == .cancelled { throw error }
  }
}

/// The error that the statement `skip` throws to end its test.
struct SkippedTest: Error { let reason: String }

/// The failure to reach the adapter or a device, after which tests do not run.
struct SetupFailure {
  let reason: String
  /// Whether the adapter failed. Without the adapter, tests of other devices do not run either.
  let isOfAdapter: Bool
}
