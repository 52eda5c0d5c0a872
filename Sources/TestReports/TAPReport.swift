import Text

/// A run in the Test Anything Protocol. The lines of a test appear when it ends. Every text ends in a line feed.
///
/// The report declares version 13, but escapes names as in version 14. Perl's Test::Harness up to 3.44 (Debian 12) refuses version 14.
package struct TAPReport {
  private var planned: Int?
  private var number = 0
  private var file: String?
  /// The reason why tests did not run.
  private var failure: String?

  package init() {}

  /// Begins the report.
  /// - Parameter count: The number of tests. If nil, the plan appears at the end.
  package mutating func begin(count: Int?) -> String {
    planned = count
    return "TAP version 13\n" + (count.map(Self.plan) ?? "")
  }

  package mutating func test(_ result: TestResult) -> String {
    // `Bail out!` must be last: readers stop at it, and other devices may still have tests.
    if case .notRun(let why) = result.outcome {
      failure = failure ?? why
      return ""
    }
    number += 1
    var text = ""
    if file != result.file {
      file = result.file
      text += Self.comment(result.file)
    }
    for note in result.notes { text += Self.comment(note) }
    let isOK = result.problem == nil
    text += "\(isOK ? "ok" : "not ok") \(number) - \(Self.description(result.title))"
    if case .skipped(let why) = result.outcome {
      return text + " # SKIP" + (why.isEmpty ? "" : " " + DisplayText.visible(why)) + "\n"
    }
    return text + "\n" + Self.diagnostic(result)
  }

  /// Ends the report. Marks planned tests that did not run as skipped, or adds `Bail out!` if the setup failed.
  package mutating func end(_ summary: RunSummary) -> String {
    var text = ""
    if failure != nil {
      // Leave the plan incomplete: that is the result.
    } else if let planned {
      while number < planned {
        number += 1
        text += "ok \(number) # SKIP not run: the run ended early\n"
      }
    } else {
      text += Self.plan(number)
    }
    text += Self.comment("\(ReportText.counts(summary)) in \(ReportText.seconds(summary.duration)) s")
    return text + (failure.map { bailOut("The setup failed: \($0)") } ?? "")
  }

  /// Returns the line that ends a run that cannot continue.
  package func bailOut(_ why: String) -> String { "Bail out!" + (why.isEmpty ? "" : " " + DisplayText.visible(why)) + "\n" }

  private static func plan(_ count: Int) -> String { count == 0 ? "1..0 # SKIP no tests\n" : "1..\(count)\n" }

  private static func comment(_ text: String) -> String { "# " + DisplayText.visible(text) + "\n" }

  /// Escapes a name, so that it is one line without the start of a directive.
  private static func description(_ text: String) -> String {
    DisplayText.visible(text).replacing("\\", with: "\\\\").replacing("#", with: "\\#")
  }

  private static func diagnostic(_ result: TestResult) -> String {
    var block = YAMLBlock()
    if let problem = result.problem {
      if case .error = result.outcome { block.string("severity", "error") } else { block.string("severity", "fail") }
      block.string("message", problem.message)
      block.string("kind", problem.kind)
      if let name = problem.name { block.string("name", name) }
      block.string("file", problem.file)
      block.number("line", String(problem.line))
      block.string("source", problem.source)
      if let expected = problem.expected { block.string("expected", expected) }
      if let actual = problem.actual { block.string("actual", actual) }
      block.strings("arrived", problem.arrived)
      if let took = problem.took { block.number("took", ReportText.seconds(took)) }
      block.strings("others", problem.others)
      block.strings("packets", problem.packets.map(TestLog.line))
      block.strings("further", problem.further)
    } else {
      block.string("file", result.file)
      block.number("line", String(result.line))
    }
    if !result.tags.isEmpty { block.strings("tags", result.tags) }
    block.number("duration_ms", ReportText.seconds(result.duration * 1000))
    return block.finished
  }
}
