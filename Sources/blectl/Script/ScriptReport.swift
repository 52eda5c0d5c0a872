import EventLoop
import LinuxIO
import Operations
import Terminal
import Text

/// Where the results of a run go.
@LoopActor
protocol ScriptReport {
  /// - Parameter count: of the tests that are to be run.
  func begin(_ count: Int) async throws
  /// Once for each test, when it is over.
  func add(_ result: TestResult) async throws
  /// - Parameter isComplete: the run came to its end.
  func end(_ summary: RunSummary, isComplete: Bool) async throws
}

/// For people: a line for each test, and everything about those that did not pass.
@LoopActor
final class TextScriptReport: ScriptReport {
  private let output: Output

  init(_ output: Output) { self.output = output }

  func begin(_ count: Int) async throws {}

  func add(_ result: TestResult) async throws {
    try await output.line("\(result.problem == nil ? "ok" : "FAILED") \(result.name)")
    if let problem = result.problem {
      try await output.line(
        "  \(problem.file):\(problem.line): \(problem.source)\n  \(problem.message)\n  expected \(problem.expected ?? "")\n  came \(problem.actual ?? "")"
      )
    }
  }

  func end(_ summary: RunSummary, isComplete: Bool) async throws {
    try await output.line("\(summary.passed) passed, \(summary.failed) failed, \(summary.errors) errors, \(summary.skipped) skipped")
  }
}
