import BluetoothLELinux
import Scripts
import Terminal

/// A destination for the results of a run, such as the terminal or a JUnit file.
@LoopActor
struct ScriptReport {
  /// The function that starts the report with the number of tests. The number is nil if commands outside of tests may add a result.
  var begin: @LoopActor (Int?) async throws -> Void = { _ in }
  let add: @LoopActor (TestResult) async throws -> Void
  /// Whether the report also lists the tests that did not start because the run ended early.
  var listsNotRun = true
  /// The function that ends the report of a run. `isComplete` is false if Ctrl-C or an error interrupted the run.
  let end: @LoopActor (RunSummary, _ isComplete: Bool) async throws -> Void

  /// Creates a text report with one line for each test and all details of tests that did not pass.
  static func text(_ output: Output) -> Self {
    // A pipe has no width, but its text may be shown on a terminal later.
    var report = TextReport(columns: output.outIsTerminal ? output.width : 80, isUTF8: output.isUTF8) { text, role in
      switch role {
      case .file: output.paint(text, .bold)
      case .passed: output.paint(text, .green)
      case .failed, .error: output.paint(text, .red)
      case .skipped: output.paint(text, .yellow)
      case .label, .faint: output.paint(text, .dim)
      }
    }
    return Self(
      add: {
        output.clearTransient()
        // Write all lines of a test together, because other tests may run in parallel.
        try await output.write(Output.line(report.test($0).joined(separator: "\n")))
      }, listsNotRun: false,
      end: { summary, _ in
        output.clearTransient()
        try await output.line(report.end(summary))
      })
  }

  /// Creates a report of JSON records with all details, for `--json`.
  /// - Parameter defaults: The defaults of the configuration file, which the first record lists.
  static func json(_ output: Output, _ defaults: String?) -> Self {
    var defaults = defaults
    return Self(
      add: { result in
        try await output.record {
          JSONReport.test(&$0, result)
          if let defaults { $0.string("defaults", defaults) }
        }
        defaults = nil
      },
      // The summary has other fields than a test, so a table leaves it out.
      end: { summary, _ in if output.style.form.isJSON { try await output.record { JSONReport.run(&$0, summary) } } })
  }

  /// Creates a report in TAP format (Test Anything Protocol), for `--tap`.
  static func tap(_ output: Output, _ defaults: String?) -> Self {
    var report = TAPReport()
    let comment = defaults.map { "# defaults: \($0)\n" } ?? ""
    return Self(
      begin: { try await output.write(Array((report.begin(count: $0) + comment).utf8)) },
      add: { try await output.write(Array(report.test($0).utf8)) },
      end: { try await output.write(Array(($1 ? report.end($0) : report.bailOut("The run was interrupted.")).utf8)) })
  }

  static func junit(_ path: String, _ defaults: String?) -> Self {
    var report = JUnitReport(defaults: defaults)
    return file(path, add: { report.add($0) }, document: { _ in report.document() })
  }

  static func html(_ path: String, title: String) -> Self {
    var report = HTMLReport(title: title)
    return file(path, add: { report.add($0) }, document: { report.document($0) })
  }

  /// Creates a report that writes one file at the end of the run. Checks before the run that the file is writable.
  private static func file(
    _ path: String, add: @escaping @LoopActor (TestResult) -> Void, document: @escaping @LoopActor (RunSummary) -> String
  ) -> Self {
    Self(
      begin: { _ in try OutputFile.check(path) }, add: { add($0) },
      end: { summary, _ in try await OutputFile.write(Array(document(summary).utf8), to: path, for: .everybody) })
  }
}
