import BluetoothLE
package import Scripts

/// Sample results for tests of reports: each outcome, and difficult texts.
package enum ReportSamples {
  /// The start time, 2026-11-22T12:03:04.512Z.
  package static let start: Int64 = 1_795_348_984_512_000_000

  package static let hostileNames = [
    "", " ", "plain", "# SKIP not really", "TODO # TODO", "trailing \\", "a\\#b", "]]>", "--", "<!-- x -->", "<script>alert(1)</script>",
    "&amp;",
    "'\"`", "line\nfeed", "\r\n", "\t", "\u{0}", "\u{1B}[31mred\u{1B}[0m", "\u{7F}\u{85}\u{9B}", "\u{2028}\u{2029}", "\u{FFFE}\u{FFFF}",
    "\u{FFFD}", "🔒👩‍👩‍👧🇦🇹", "\u{202E}evil\u{2066}", "e\u{301}\u{301}", "体温計", "1..5", "ok 1", "not ok 2 - x", "Bail out!", "  ---", "...",
    "pragma +strict",
    "\u{10FFFF}\u{E000}", "\\x00", "\\u{0}", "{{ x }}", "${x}", "%s%n", String(repeating: "x", count: 10_000),
    String(repeating: "ü ", count: 3334), String(repeating: "\u{1}", count: 2000),
  ]

  package static let notification = TestPacket(
    at: .milliseconds(310), direction: .received, bytes: [0x1B, 0x12, 0x00, 0x42, 0x55, 0x53, 0x59],
    text: "Handle Value Notification 0x0012")
  package static let write = TestPacket(
    at: .microseconds(-250), direction: .sent, bytes: [0x52, 0x10, 0x00, 0x00, 0x11, 0x22, 0x33], text: "Write Command 0x0010")

  package static func problem(_ text: String = "the value is not what was expected") -> TestProblem {
    var problem = TestProblem(
      file: "lock.ble", line: 14, source: "expect ffe2 == \"FAIL\" within 2s", message: text, kind: "expectation")
    (problem.expected, problem.actual) = ("\"FAIL\"  4641494c", "\"BUSY\"  42555359")
    (problem.took, problem.others, problem.packets) = (.milliseconds(310), ["ffe3  0102"], [write, notification])
    problem.further = ["teardown: lock.ble:3: nobody answers"]
    return problem
  }

  package static func passed(_ name: String = "opens with the right code", file: String = "lock.ble") -> TestResult {
    TestResult(file: file, line: 3, name: name, outcome: .passed, start: start, duration: .milliseconds(420))
  }

  /// Returns one result of each outcome.
  package static func each(named name: String = "refuses a wrong code", file: String = "lock.ble") -> [TestResult] {
    var failed = TestResult(
      file: file, line: 10, name: name, tags: ["slow", name], outcome: .failed(problem(name)), start: start, duration: .milliseconds(2010))
    failed.steps = [
      StepResult(file: file, line: 11, text: "write ffe1 \(name)", at: .zero, duration: .milliseconds(15), failed: false, values: []),
      StepResult(
        file: file, line: 14, text: "expect ffe2", at: .milliseconds(15), duration: .milliseconds(310), failed: true,
        values: [StepValue(name: "ffe2", at: .milliseconds(310), text: name, number: 42, unit: name)]),
    ]
    (failed.notes, failed.packets, failed.omittedPackets) = ([name], [write, notification], 3)
    failed.tolerated.warnings = [problem(name)]
    return [
      passed(name, file: file), failed,
      TestResult(
        file: file, line: 20, name: name,
        outcome: .error(TestProblem(file: file, line: 21, source: name, message: name, kind: "no_adapter", name: "hci0")), start: start,
        duration: .seconds(1)),
      TestResult(file: file, line: 30, name: name, outcome: .skipped(name), start: start),
    ]
  }

  package static func summary(_ results: [TestResult]) -> RunSummary {
    var summary = RunSummary()
    for result in results { summary.add(result) }
    (summary.start, summary.date) = (start, start)
    summary.duration = results.reduce(.zero) { $0 + $1.duration }
    return summary
  }
}
