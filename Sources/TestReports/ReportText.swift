import ATT

/// Texts that all reports share.
enum ReportText {
  /// Formats seconds with `digits` decimal places, at most 18. Rounds half away from zero.
  static func seconds(_ duration: Duration, digits: Int = 3) -> String {
    let (seconds, attoseconds) = duration.components
    var unit: UInt64 = 1
    for _ in digits..<18 { unit *= 10 }
    var whole = seconds.magnitude
    var fraction = (attoseconds.magnitude + unit / 2) / unit
    if fraction * unit >= 1_000_000_000_000_000_000 { (whole, fraction) = (whole + 1, 0) }
    let sign = (seconds < 0 || attoseconds < 0) && (whole > 0 || fraction > 0) ? "-" : ""
    let shown = String(fraction)
    return sign + String(whole) + "." + String(repeating: "0", count: digits - shown.utf8.count) + shown
  }

  /// Formats seconds as a JSON number, to the microsecond and without trailing zeros.
  static func exact(_ duration: Duration) -> String {
    var text = seconds(duration, digits: 6)
    while text.hasSuffix("0") { text.removeLast() }
    if text.hasSuffix(".") { text.removeLast() }
    return text
  }

  /// Formats a time relative to the start of a test, such as `+0.310` or `-1.002`.
  static func offset(_ duration: Duration) -> String {
    let text = seconds(duration)
    return text.hasPrefix("-") ? text : "+" + text
  }

  /// Returns the arrow that btmon shows for the direction.
  static func arrow(_ direction: Direction) -> String { direction == .sent ? "<" : ">" }

  static func count(_ number: Int, _ one: String, _ many: String) -> String { number == 1 ? "1 " + one : "\(number) " + many }

  /// Formats counts: `3 passed, 1 failed, 2 errors, 1 skipped`. Omits counts of zero, except for passed tests.
  static func counts(_ summary: RunSummary) -> String { countParts(summary).map(\.text).joined(separator: ", ") }

  static func countParts(_ summary: RunSummary) -> [(status: String, text: String)] {
    let errors = count(summary.errors, "error", "errors")
    let parts = [
      (summary.passed, "passed", "\(summary.passed) passed"), (summary.failed, "failed", "\(summary.failed) failed"),
      (summary.errors, "error", errors), (summary.skipped, "skipped", "\(summary.skipped) skipped"),
      (summary.notRun, "notrun", "\(summary.notRun) not run"),
    ]
    return parts.filter { $0.0 > 0 || $0.1 == "passed" }.map { ($0.1, $0.2) }
  }
}

extension TestResult {
  /// The name of the test for people, with the number of the repetition if there are several. The name is never empty.
  var title: String { (name.isEmpty ? "line \(line)" : name) + (repetition.map { " [\($0)]" } ?? "") }

  /// The status in JSON records.
  var status: String {
    switch outcome {
    case .passed: "passed"
    case .failed: "failed"
    case .error: "error"
    case .skipped: "skipped"
    case .notRun: "not_run"
    }
  }
}

extension TestProblem {
  /// The actual value, then the values that arrived, one per line.
  var actualValues: [String] { (actual.map { [$0] } ?? []) + arrived }

  /// The kind and the name, such as `att: write_not_permitted`.
  var kindAndName: String { name.map { kind + ": " + $0 } ?? kind }
}
