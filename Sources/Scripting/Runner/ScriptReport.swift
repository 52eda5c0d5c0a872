import EventLoop
import Terminal
import TestReports

/// A destination for the results of a run.
@LoopActor
protocol ScriptReport {
  /// Begins the report.
  /// - Parameter count: The number of tests. Nil if unknown.
  func begin(_ count: Int?) async throws
  /// Adds a finished test.
  func add(_ result: TestResult) async throws
  /// Adds a test that did not start because the run ended early.
  func addNotRun(_ result: TestResult) async throws
  /// Ends the report.
  /// - Parameter isComplete: Whether the run reached its end.
  func end(_ summary: RunSummary, isComplete: Bool) async throws
}

extension ScriptReport {
  func addNotRun(_ result: TestResult) async throws { try await add(result) }
}

/// A report for people, with a line for each test and all details of tests that did not pass.
@LoopActor
final class TextScriptReport: ScriptReport {
  private let output: Output
  private var report: TextReport

  init(_ output: Output) {
    self.output = output
    // A pipe has no width, but its text may be shown on a terminal later.
    report = TextReport(columns: output.outIsTerminal ? output.width : 80, isUTF8: output.isUTF8) { text, role in
      switch role {
      case .file: output.paint(text, .bold)
      case .passed: output.paint(text, .green)
      case .failed, .error: output.paint(text, .red)
      case .skipped: output.paint(text, .yellow)
      case .label, .faint: output.paint(text, .dim)
      }
    }
  }

  func begin(_ count: Int?) async throws {}

  /// Writes all lines of a test together, because other tests may run in parallel.
  func add(_ result: TestResult) async throws {
    output.clearTransient()
    try await output.write(Output.line(report.test(result).joined(separator: "\n")))
  }

  /// Prints nothing, because the summary counts these tests.
  func addNotRun(_ result: TestResult) async throws {}

  func end(_ summary: RunSummary, isComplete: Bool) async throws {
    output.clearTransient()
    try await output.line(report.end(summary))
  }
}

/// A report for programs, with all details.
@LoopActor
final class JSONScriptReport: ScriptReport {
  private let output: Output

  init(_ output: Output) { self.output = output }

  func begin(_ count: Int?) async throws {}

  func add(_ result: TestResult) async throws { try await output.record { JSONReport.test(&$0, result) } }

  func end(_ summary: RunSummary, isComplete: Bool) async throws { try await output.record { JSONReport.run(&$0, summary) } }
}

/// A report for TAP consumers.
@LoopActor
final class TAPScriptReport: ScriptReport {
  private let output: Output
  private var report = TAPReport()

  init(_ output: Output) { self.output = output }

  func begin(_ count: Int?) async throws { try await write(report.begin(count: count)) }

  func add(_ result: TestResult) async throws { try await write(report.test(result)) }

  func end(_ summary: RunSummary, isComplete: Bool) async throws {
    try await write(isComplete ? report.end(summary) : report.bailOut("The run was interrupted."))
  }

  private func write(_ text: String) async throws { try await output.write(Array(text.utf8)) }
}
