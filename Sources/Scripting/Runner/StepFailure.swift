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

  /// - Parameter before: The number of earlier values, which are not kept.
  func with(_ arrived: [String], before: Int) -> Self {
    var error = self
    error.arrived = (before > 0 ? ["(\(before) earlier, not shown)"] : []) + arrived
    return error
  }
}

/// Thrown by `skip`.
struct SkippedTest: Error { let reason: String }

/// The reason why the tests after a failed setup do not run.
struct SetupFailure {
  let reason: String
  /// Whether no device can be reached, because the adapter failed.
  let isOfAdapter: Bool
}
