import BluetoothLEText

/// A report of a run as lines of text for a terminal.
package struct TextReport {
  /// The role of a piece of text, which decides its color.
  package enum Role: String, Sendable { case file, passed, failed, error, skipped, label, faint }

  private let columns: Int
  private let show: (String) -> String
  private let paint: (String, Role) -> String
  private var file: String?
  private var peer: String?
  /// The message of the last problem. The report does not repeat it for tests that did not run for the same reason.
  private var failure: String?

  /// Creates a report without results.
  /// - Parameters:
  ///   - columns: The width of a line in terminal columns, at least 40. The report uses 40 for a smaller number.
  ///   - isUTF8: Whether the report may use UTF-8 for signs and names. If false, the report uses ASCII.
  ///   - paint: A function that adds colors to a text. The function may only add characters without width.
  package init(columns: Int = 80, isUTF8: Bool = true, paint: @escaping (String, Role) -> String = { text, _ in text }) {
    self.columns = max(40, columns)
    show = { isUTF8 ? DisplayText.visible($0) : DisplayText.asciiLines(DisplayText.visible($0)) }
    self.paint = paint
  }

  /// Returns the lines of a test. Adds a heading if the file or the device differs from the previous test.
  package mutating func test(_ result: TestResult) -> [String] {
    var lines: [String] = []
    let isOther = result.peer.map { $0 != peer } ?? false
    if file != result.file || isOther {
      lines += heading(result)
      (file, peer) = (result.file, result.peer)
    }
    lines += firstLines(result)
    if case .notRun(let why) = result.outcome { failure = why } else { failure = result.problem?.message ?? failure }
    let problem = ProblemText(columns: columns - 6, show: show) { [paint] in paint($0, .label) }
    var below = problem.row("attempts", result.attemptLines.map(show))
    below += result.notes.flatMap { problem.row("note", [show($0)]) }
    below += result.tolerated.warnings.flatMap { problem.row("warning", [show($0.brief)]) }
    if let what = result.problem { below += problem.lines(what) }
    return lines + below.map { "      " + $0 }
  }

  /// Returns the summary of a run: `3 passed, 1 failed, 1 error, 1 skipped in 2.1 s`.
  package func end(_ summary: RunSummary) -> String {
    let counts = ReportText.counts(summary)
    return paint(counts, summary.failed > 0 ? .failed : summary.errors > 0 ? .error : .passed)
      + " in \(ReportText.seconds(summary.duration, digits: 1)) s"
  }

  private func heading(_ result: TestResult) -> [String] {
    let file = show(result.file)
    let text = file + (result.peer.map { "  with " + show($0) } ?? "")
    return DisplayText.fold(text, to: columns).map { paint($0, .file) }
  }

  private func firstLines(_ result: TestResult) -> [String] {
    let name = show(result.title)
    let status = result.outcome.status
    if let why = result.outcome.reason {
      let said = why.isEmpty && status == .skipped || why == failure && status == .notRun
      let reason = (status == .skipped ? "skipped" : "not run") + (said ? "" : ": " + show(why))
      if DisplayText.width(name) + 2 + DisplayText.width(reason) <= columns - 4 {
        return ["\(signed(name, status))  \(paint(reason, .faint))"]
      }
      return named(name, status, to: columns - 4) + DisplayText.fold(reason, to: columns - 6).map { "      " + paint($0, .faint) }
    }
    let time = ReportText.seconds(result.duration) + " s"
    let room = columns - 4 - 2 - max(9, time.utf8.count)
    var lines = named(name, status, to: room)
    let first = DisplayText.fold(name, to: room).first ?? ""
    let gap = columns - 4 - DisplayText.width(first) - time.utf8.count
    lines[0] += String(repeating: " ", count: max(1, gap)) + paint(time, .faint)
    return lines
  }

  private func named(_ name: String, _ status: TestResult.Outcome.Status, to room: Int) -> [String] {
    let lines = DisplayText.fold(name, to: room)
    return [signed(lines.first ?? "", status)] + lines.dropFirst().map { "    " + $0 }
  }

  private func signed(_ name: String, _ status: TestResult.Outcome.Status) -> String {
    "  \(paint(show(status.sign), Role(rawValue: status.rawValue) ?? .skipped)) \(name)"
  }
}
