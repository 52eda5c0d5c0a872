import EventLoop
import Operations
import Terminal

/// Where the results of a run go.
@LoopActor
protocol ScriptReport {
  /// - Parameter count: of the tests that are to be run; nil when that is not known.
  func begin(_ count: Int?) async throws
  /// Once for each test, when it is over.
  func add(_ result: TestResult) async throws
  /// One that was not begun, because the run ended before.
  func addNotRun(_ result: TestResult) async throws
  /// - Parameter isComplete: the run came to its end.
  func end(_ summary: RunSummary, isComplete: Bool) async throws
}

extension ScriptReport {
  func addNotRun(_ result: TestResult) async throws { try await add(result) }
}

/// For people: a line for each test, and everything about those that did not pass.
@LoopActor
final class TextScriptReport: ScriptReport {
  private let output: Output
  private var report: TextReport

  init(_ output: Output) {
    self.output = output
    // A pipe has no width; what is read there later is read on some screen.
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

  /// At once: beside it runs another test.
  func add(_ result: TestResult) async throws {
    output.clearTransient()
    try await output.write(Output.line(report.test(result).joined(separator: "\n")))
  }

  /// The summary counts them.
  func addNotRun(_ result: TestResult) async throws {}

  func end(_ summary: RunSummary, isComplete: Bool) async throws {
    output.clearTransient()
    try await output.line(report.end(summary))
  }
}

/// For programs that want to know everything.
@LoopActor
final class JSONScriptReport: ScriptReport {
  private let output: Output

  init(_ output: Output) { self.output = output }

  func begin(_ count: Int?) async throws {}

  func add(_ result: TestResult) async throws { try await output.record { JSONReport.test(&$0, result) } }

  func end(_ summary: RunSummary, isComplete: Bool) async throws { try await output.record { JSONReport.run(&$0, summary) } }
}

/// For programs that count tests.
@LoopActor
final class TAPScriptReport: ScriptReport {
  private let output: Output
  private var report = TAPReport()

  init(_ output: Output) { self.output = output }

  func begin(_ count: Int?) async throws { try await write(report.begin(count: count)) }

  func add(_ result: TestResult) async throws { try await write(report.test(result)) }

  func end(_ summary: RunSummary, isComplete: Bool) async throws {
    try await write(isComplete ? report.end(summary) : report.bailOut("the run was interrupted"))
  }

  private func write(_ text: String) async throws { try await output.write(Array(text.utf8)) }
}
