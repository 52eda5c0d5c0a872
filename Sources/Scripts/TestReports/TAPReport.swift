import BluetoothLEText

/// A report of a run in the Test Anything Protocol (TAP). Each returned text ends in a line feed.
///
/// The report declares version 13 but escapes names as in version 14. Perl's Test::Harness up to 3.44 (Debian 12) refuses version 14.
package struct TAPReport {
  private var planned: Int?
  private var number = 0
  private var file: String?
  /// The reason why the setup failed. Nil while all tests can run.
  private var failure: String?

  package init() {}

  /// Returns the first lines of the report.
  /// - Parameter count: The number of tests. Nil if unknown, which moves the plan to the end of the report.
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
    for line in result.attemptLines + result.notes { text += Self.comment(line) }
    for warning in result.tolerated.warnings { text += Self.comment("warning: " + warning.brief) }
    let isOK = result.problem == nil
    text += "\(isOK ? "ok" : "not ok") \(number) - \(Self.description(result.title))"
    if case .skipped(let why) = result.outcome {
      return text + " # SKIP" + (why.isEmpty ? "" : " " + DisplayText.visible(why)) + "\n"
    }
    return text + "\n" + Self.diagnostic(result)
  }

  /// Returns the last lines of the report. Marks missing tests as skipped, or adds `Bail out!` if the setup failed.
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

  /// Returns the line `Bail out!` with the reason why the run cannot continue.
  package func bailOut(_ why: String) -> String { "Bail out!" + (why.isEmpty ? "" : " " + DisplayText.visible(why)) + "\n" }

  private static func plan(_ count: Int) -> String { count == 0 ? "1..0 # SKIP no tests\n" : "1..\(count)\n" }

  private static func comment(_ text: String) -> String { "# " + DisplayText.visible(text) + "\n" }

  /// Returns a test name as one line. Escapes `\` and `#`, which could start a directive.
  private static func description(_ text: String) -> String {
    DisplayText.visible(text).replacing("\\", with: "\\\\").replacing("#", with: "\\#")
  }

  private static func diagnostic(_ result: TestResult) -> String {
    var block = YAMLBlock()
    if let problem = result.problem {
      block.string("severity", result.outcome.status == .error ? "error" : "fail")
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
    if result.attempts > 1 { block.number("attempts", String(result.attempts)) }
    block.number("duration_ms", ReportText.seconds(result.duration * 1000))
    return block.finished
  }
}

/// A YAML document with one flat mapping, indented for TAP. Texts are double-quoted scalars on one line (YAML 1.2 §7.3.1).
struct YAMLBlock {
  /// The text of the document so far, from the document marker on.
  private var text = "  " + String(repeating: "-", count: 3) + "\n"

  var finished: String { text + "  ...\n" }

  mutating func string(_ key: String, _ value: String) { text += "  \(key): \(Self.quoted(value))\n" }

  /// Adds a key with a number.
  /// - Parameter value: The number in YAML syntax.
  mutating func number(_ key: String, _ value: String) { text += "  \(key): \(value)\n" }

  /// Adds a key with a list of texts, unless the list is empty.
  mutating func strings(_ key: String, _ values: [String]) {
    guard !values.isEmpty else { return }
    text += "  \(key):\n"
    for value in values { text += "    - \(Self.item(value))\n" }
  }

  /// Quotes a list item. Escapes colons up to the second word, because Perl's TAP::Parser would read a key there.
  private static func item(_ value: String) -> String {
    let quoted = quoted(value)
    let blank = quoted.firstIndex(of: " ") ?? quoted.endIndex
    let second = quoted[blank...].firstIndex { $0 != " " } ?? quoted.endIndex
    let behind = second < quoted.endIndex && quoted[second] == ":" ? quoted.index(after: second) : blank
    return String(quoted[..<behind].replacing(":", with: "\\x3a") + quoted[behind...])
  }

  private static func quoted(_ value: String) -> String {
    var quoted = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      default:
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: quoted += escape(scalar.value)
        default: quoted.unicodeScalars.append(scalar)
        }
      }
    }
    return quoted + "\""
  }

  private static func escape(_ value: UInt32) -> String {
    let (letter, bytes) = value < 0x100 ? ("x", 1) : value < 0x10000 ? ("u", 2) : ("U", 4)
    return "\\" + letter + Hex.encode(UInt64(value), bytes: bytes)
  }
}
