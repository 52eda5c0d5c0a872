import Scripts
import TestSupport

/// Tests reports of a failed setup, and of an `expect N of` with too few values.
@Suite(.timeLimit(.minutes(15))) struct NotRunTests {
  private static let why = "no device matches <Nobody>"

  private static let results: [TestResult] = {
    var error = ReportSamples.each()[2]
    error.outcome = .error(TestProblem(file: "a", line: 3, source: "read 2a19", message: why, kind: "not_found"))
    return [error] + ["second", "third"].map { TestResult(file: "lock.ble", line: 5, name: $0, outcome: .notRun(why)) } + [
      ReportSamples.passed("of another device", file: "other.ble"),
      TestResult(file: "third.ble", line: 1, name: "fourth", outcome: .notRun("another reason")),
    ]
  }()

  private static let some: TestResult = {
    var problem = ReportSamples.problem()
    (problem.actual, problem.arrived) = ("2 of 3", ["0201", "<0202>"])
    var result = ReportSamples.passed()
    result.outcome = .failed(problem)
    return result
  }()

  @Test func tapBailsOutAtTheEnd() {
    var report = TAPReport()
    let text = report.begin(count: 5) + Self.results.map { report.test($0) }.joined() + report.end(ReportSamples.summary(Self.results))
    #expect(text.contains("\nok 2 - of another device\n") && !text.contains("second") && !text.contains("\nok 3"))
    #expect(text.hasSuffix(" s\nBail out! The setup failed: \(Self.why)\n") && text.contains("3 not run"))
  }

  @Test func junitHasErrors() {
    var report = JUnitReport()
    for result in Self.results { report.add(result) }
    let text = report.document()
    #expect(text.contains(#"tests="3" failures="0" errors="3" skipped="0""#), "\(text)")
    let message = "not run, because the setup failed: no device matches &lt;Nobody&gt;"
    #expect(
      text.contains(#"<testcase name="second" classname="lock" time="0.000"><error type="not_run" message="\#(message)"/></testcase>"#))
  }

  /// The reason appears once.
  @Test func textHasALineForEach() {
    var report = TextReport()
    let lines = Self.results.flatMap { report.test($0) } + [report.end(ReportSamples.summary(Self.results))]
    #expect(lines.contains("  – second  not run") && lines.contains("  – third  not run"), "\(lines)")
    #expect(lines.contains("  – fourth  not run: another reason") && lines.last?.hasPrefix("1 passed, 1 error, 3 not run in") == true)
  }

  @Test func pagesAndRecordsHaveTheReason() {
    var report = HTMLReport()
    for result in Self.results { report.add(result) }
    let page = report.document(ReportSamples.summary(Self.results))
    #expect(page.contains("not run, because the setup failed: no device matches &lt;Nobody&gt;</span></summary>"))
    #expect(page.ranges(of: #"class="test not_run""#).count == 3)
    var json = RecordWriter()
    JSONReport.test(&json, Self.results[1])
    let text = String(decoding: json.finished(), as: UTF8.self)
    #expect(
      text.contains(#""status":"not_run","attempts":1,"flaky":false,"seconds":0,"#)
        && text.contains(#""reason":"no device matches <Nobody>""#), "\(text)")
  }

  // MARK: Values that arrived

  @Test func eachValueThatArrivedIsShown() {
    var text = TextReport()
    let rows = ["          actual    2 of 3", "                    0201", "                    <0202>"].map { $0.dropFirst(4) }
    let lines = text.test(Self.some).map { $0[...] }
    #expect(lines.firstRange(of: rows) != nil, "\(lines)")
    var tap = TAPReport()
    #expect(tap.test(Self.some).contains("  actual: \"2 of 3\"\n  arrived:\n    - \"0201\"\n    - \"<0202>\"\n"))
    var junit = JUnitReport()
    junit.add(Self.some)
    #expect(junit.document().contains("actual    2 of 3\n          0201\n          &lt;0202&gt;\n"))
    var page = HTMLReport()
    page.add(Self.some)
    let document = page.document(RunSummary())
    #expect(document.contains("<dt>actual</dt><dd><code>2 of 3</code></dd><dd><code>0201</code></dd><dd><code>&lt;0202&gt;</code></dd>"))
    var json = RecordWriter()
    JSONReport.test(&json, Self.some)
    #expect(String(decoding: json.finished(), as: UTF8.self).contains(#""actual":"2 of 3","arrived":["0201","<0202>"],"#))
  }
}
