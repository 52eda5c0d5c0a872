import Presentation
import ScriptLanguage

/// A failed line of a script, which ends its test.
struct StepFailure: Error {
  var failure: Failure
  let line: ScriptLine
  let outcome: TestOutcome
  var expected: String?
  var actual: String?
  /// The values that arrived, if the line expected several.
  var arrived: [String] = []
  var took: Duration?
  /// Other values that arrived.
  var others: [String] = []

  init(_ failure: Failure, _ line: ScriptLine, in step: TestOutcome.Step = .init()) {
    self.failure = failure
    self.line = line
    outcome = TestOutcome(of: failure, in: step)
  }

  /// Returns this failure with the values that arrived.
  /// - Parameter before: The number of earlier values, which `arrived` omits.
  func with(_ arrived: [String], before: Int) -> Self {
    var error = self
    error.arrived = (before > 0 ? ["(\(before) earlier, not shown)"] : []) + arrived
    return error
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
