import BluetoothLE

/// Text formats that several kinds of reports share.
enum ReportText {
  /// Formats a duration in seconds with `digits` decimal places, at most 18. Rounds half away from zero.
  static func seconds(_ duration: Duration, digits: Int = 3) -> String {
    let (seconds, attoseconds) = duration.components
    var unit: UInt64 = 1
    for _ in digits..<18 { unit *= 10 }
    var whole = seconds.magnitude
    var fraction = (attoseconds.magnitude + unit / 2) / unit
    if fraction * unit >= 1_000_000_000_000_000_000 { (whole, fraction) = (whole + 1, 0) }
    let sign = (seconds < 0 || attoseconds < 0) && (whole > 0 || fraction > 0) ? "-" : ""
    return "\(sign)\(whole).\("\(fraction)".padded(to: digits, with: "0"))"
  }

  /// Formats a duration in seconds as a JSON number, rounded to microseconds and without trailing zeros.
  static func exact(_ duration: Duration) -> String {
    var text = seconds(duration, digits: 6)
    while text.hasSuffix("0") { text.removeLast() }
    if text.hasSuffix(".") { text.removeLast() }
    return text
  }

  /// Formats a time in seconds relative to the start of a test, such as `+0.310` or `-1.002`.
  static func offset(_ duration: Duration) -> String {
    let text = seconds(duration)
    return text.hasPrefix("-") ? text : "+" + text
  }

  static func count(_ number: Int, _ one: String, _ many: String) -> String { number == 1 ? "1 " + one : "\(number) " + many }

  /// Formats the counts of a run: `3 passed, 1 failed, 2 errors, 1 skipped`. Omits counts of zero, except for passed tests.
  static func counts(_ summary: RunSummary) -> String { countParts(summary).map(\.text).joined(separator: ", ") }

  static func countParts(_ summary: RunSummary) -> [(status: String, text: String)] {
    let errors = count(summary.errors, "error", "errors")
    let parts = [
      (summary.passed, "passed", "\(summary.passed) passed" + (summary.flaky > 0 ? " (\(summary.flaky) flaky)" : "")),
      (summary.failed, "failed", "\(summary.failed) failed"),
      (summary.errors, "error", errors), (summary.skipped, "skipped", "\(summary.skipped) skipped"),
      (summary.notRun, "notrun", "\(summary.notRun) not run"),
      (summary.warnings, "warning", count(summary.warnings, "warning", "warnings")),
    ]
    return parts.filter { $0.0 > 0 || $0.1 == "passed" }.map { ($0.1, $0.2) }
  }
}

extension TestResult {
  /// The name of the test, or its line number if the name is empty. The device and the number of the repetition follow, if any.
  package var title: String {
    (name.isEmpty ? "line \(line)" : name) + (variant.device.map { " [\($0)]" } ?? "") + (variant.repetition.map { " [\($0)]" } ?? "")
  }
}

extension TestResult {
  /// The attempts of a test that failed and ran again, and the problem of each earlier attempt. Empty for a test that ran once.
  var attemptLines: [String] {
    guard attempts > 1 else { return [] }
    let last = isFlaky ? "flaky: passed at attempt \(attempts)" : "\(status) after \(attempts) attempts"
    return [last] + tolerated.earlier.enumerated().map { "attempt \($0 + 1): \($1.brief)" }
  }
}

extension TestResult.Outcome.Status {
  var sign: String {
    switch self {
    case .passed: "✓"
    case .failed: "✗"
    case .error: "!"
    case .skipped, .notRun: "–"
    }
  }
}

extension TestProblem {
  /// The rows of details, each with a label. A row without values has nothing to show.
  var rows: [(label: String, values: [String])] {
    [
      ("expected", expected.map { [$0] } ?? []), ("actual", (actual.map { [$0] } ?? []) + arrived),
      ("took", took.map { [ReportText.seconds($0) + " s"] } ?? []), ("kind", kind == "expectation" ? [] : [kindAndName]),
      ("others", others),
    ]
  }

  /// The place, the message and the values of the problem as one line, for a warning.
  var brief: String {
    let values = [("Expected", expected), ("Actual", actual)].compactMap { label, value in value.map { " \(label): \($0)." } }
    return "\(file):\(line): \(message)\(values.joined())"
  }

  /// The kind and the name of the problem, such as `att: write_not_permitted`. A problem without a name has only its kind.
  var kindAndName: String { name.map { kind + ": " + $0 } ?? kind }
}

/// A formatter for the reason why a test did not pass. It folds long texts to lines of limited width.
struct ProblemText {
  /// The maximum width of a line in terminal columns. The caller may indent the lines further.
  let columns: Int
  /// The function that makes a text printable before `ProblemText` folds the text.
  var show: (String) -> String = DisplayText.visible
  /// The function that adds colors to a label.
  let label: (String) -> String
  /// The maximum number of packets to show. `ProblemText` omits older packets.
  static let packets = 20

  private static let margin = 10
  private var room: Int { max(2, columns - Self.margin) }

  func lines(_ problem: TestProblem) -> [String] {
    let place = "\(show(problem.file)):\(problem.line)"
    // Do not fold the place, so that terminals can open it.
    var lines =
      DisplayText.width(place) > columns
      ? [place] + DisplayText.fold(show(problem.source), to: columns - 4).map { "    " + $0 } : hanging("\(place)  \(show(problem.source))")
    lines += hanging(show(problem.message))
    for (label, values) in problem.rows { lines += row(label, values.map(show)) }
    return lines + packetLines(problem.packets) + row("also", problem.further.map(show))
  }

  func row(_ name: String, _ texts: [String]) -> [String] {
    rows(name, texts.flatMap { text in DisplayText.fold(text.isEmpty ? "(empty)" : text, to: room) })
  }

  private func rows(_ name: String, _ lines: [String]) -> [String] {
    lines.enumerated().map { index, line in
      let head = index == 0 ? name : ""
      return (head.isEmpty ? "" : label(head)) + String(repeating: " ", count: max(1, Self.margin - head.utf8.count)) + line
    }
  }

  /// Folds a text into lines. Indents all lines after the first by 4 columns.
  private func hanging(_ text: String) -> [String] {
    DisplayText.fold(text, to: columns, later: columns - 4).enumerated().map { $0 == 0 ? $1 : "    " + $1 }
  }

  private func packetLines(_ packets: [TestPacket]) -> [String] {
    var lines: [String] = []
    if packets.count > Self.packets { lines.append("(\(packets.count - Self.packets) earlier, not shown)") }
    for packet in packets.suffix(Self.packets) { lines += Self.lines(packet, to: room, show: show) }
    return rows("packets", lines)
  }

  /// Formats a packet: `+0.310 > Handle Value Notification 0x0012  1b120042`. If the line is too long, puts the bytes on further lines.
  static func lines(_ packet: TestPacket, to room: Int, show: (String) -> String = DisplayText.visible) -> [String] {
    let what = packet.text.isEmpty ? "" : " " + show(packet.text)
    let head = "\(ReportText.offset(packet.at)) \(packet.direction == .sent ? "<" : ">")\(what)"
    let hex = Hex.encode(packet.bytes)
    if DisplayText.width(head) + 2 + hex.utf8.count <= room { return [hex.isEmpty ? head : head + "  " + hex] }
    let width = max(2, (room - 4) / 2 * 2)
    let digits = Array(hex.utf8)
    return DisplayText.fold(head, to: room)
      + stride(from: 0, to: digits.count, by: width).map {
        "    " + String(decoding: digits[$0..<min(digits.count, $0 + width)], as: UTF8.self)
      }
  }
}

/// The steps and packets of a test as lines of unlimited width, for JUnit and TAP reports.
enum TestLog {
  /// Returns the steps of a test with their times and values, followed by its notes. Returns an empty text if the test has neither.
  static func steps(_ result: TestResult) -> String {
    let further = result.attemptLines + result.notes.map { "note  \($0)" } + result.tolerated.warnings.map { "warning  \($0.brief)" }
    guard !result.steps.isEmpty || !further.isEmpty else { return "" }
    var text = heading(result)
    for step in result.steps {
      text += "\(ReportText.offset(step.at))  \(DisplayText.visible(step.file)):\(step.line)  \(DisplayText.visible(step.text))"
      text += "  (\(ReportText.seconds(step.duration)) s\(step.failed ? ", failed" : ""))\n"
      for value in step.values {
        text += "    \(ReportText.offset(value.at))  \(DisplayText.visible(value.name))  \(DisplayText.visible(value.text))\n"
      }
    }
    for line in further { text += DisplayText.visible(line) + "\n" }
    return text
  }

  static func packets(_ result: TestResult) -> String {
    guard !result.packets.isEmpty || result.omittedPackets > 0 else { return "" }
    var text = heading(result)
    let (packets, before) = lastPackets(result, 200)
    if before > 0 { text += "(\(before) earlier, not shown)\n" }
    for packet in packets { text += line(packet) + "\n" }
    return text
  }

  /// Returns the latest packets of a test, at most `limit`, and the number of packets before them.
  static func lastPackets(_ result: TestResult, _ limit: Int) -> (packets: ArraySlice<TestPacket>, before: Int) {
    let packets = result.packets.suffix(limit)
    return (packets, result.omittedPackets + result.packets.count - packets.count)
  }

  static func line(_ packet: TestPacket) -> String { ProblemText.lines(packet, to: .max).joined() }

  private static func heading(_ result: TestResult) -> String {
    "== \(DisplayText.visible(result.title)): \(result.status), \(ReportText.seconds(result.duration)) s\n"
  }
}
