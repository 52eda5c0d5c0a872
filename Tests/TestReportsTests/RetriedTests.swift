import Scripts
import TestSupport

/// Tests reports of tests that ran again after a failure, and on several devices.
@Suite(.timeLimit(.minutes(15))) struct RetriedTests {
  private static let results: [TestResult] = {
    var flaky = ReportSamples.passed("opens")
    flaky.tolerated.earlier = [ReportSamples.problem("<closed>")]
    flaky.variant.device = "name:Lock"
    flaky.variant.repetition = 2
    var failed = ReportSamples.passed("closes")
    failed.outcome = .failed(ReportSamples.problem("<open>"))
    failed.tolerated.earlier = [ReportSamples.problem("<open>"), ReportSamples.problem("<closed>")]
    return [flaky, failed]
  }()

  /// The same results, with two warnings of the first test.
  private static var warned: [TestResult] {
    var results = results
    results[0].tolerated.warnings = [ReportSamples.problem("<low>"), ReportSamples.problem("<lower>")]
    return results
  }

  private static let values = #"Expected: "FAIL"  4641494c. Actual: "BUSY"  42555359."#

  @Test func text() {
    var report = TextReport(columns: 200)
    let text = (Self.results.flatMap { report.test($0) } + [report.end(ReportSamples.summary(Self.results))]).joined(separator: "\n")
    #expect(text.contains("  ✓ opens [name:Lock] [2] "))
    #expect(
      text.contains("attempts  flaky: passed at attempt 2\n                attempt 1: lock.ble:14: <closed> \(Self.values)\n"), "\(text)")
    #expect(text.contains("attempts  failed after 3 attempts\n") && text.contains("attempt 2: lock.ble:14: <closed> "), "\(text)")
    #expect(text.hasSuffix("\n1 passed (1 flaky), 1 failed in 0.8 s"), "\(text)")
  }

  @Test func tap() {
    var report = TAPReport()
    let text = report.begin(count: 2) + Self.results.map { report.test($0) }.joined() + report.end(ReportSamples.summary(Self.results))
    #expect(
      text.contains("# flaky: passed at attempt 2\n# attempt 1: lock.ble:14: <closed> \(Self.values)\nok 1 - opens [name:Lock] [2]\n"))
    #expect(text.contains("# failed after 3 attempts\n") && text.contains("  attempts: 2\n") && text.contains("  attempts: 3\n"), "\(text)")
  }

  @Test func junit() {
    var report = JUnitReport()
    for result in Self.warned { report.add(result) }
    let text = report.document()
    #expect(text.contains(#"<property name="attempts of opens [name:Lock] [2]" value="2 (flaky)"/>"#), "\(text)")
    #expect(text.contains(#"<property name="attempts of closes" value="3"/>"#) && text.contains(#"tests="2" failures="1""#), "\(text)")
    #expect(text.contains(#"<property name="warning of opens [name:Lock] [2]" value="lock.ble:14: &lt;lower&gt; "#), "\(text)")
    #expect(text.contains("flaky: passed at attempt 2\nattempt 1: lock.ble:14: &lt;closed&gt; "), "\(text)")
  }

  @Test func html() {
    var report = HTMLReport()
    for result in Self.warned { report.add(result) }
    let page = report.document(ReportSamples.summary(Self.results))
    #expect(
      page.contains("opens [name:Lock] [2] <span class=\"warning\">flaky</span> <span class=\"warning\">warning</span>")
        && page.contains("1 passed (1 flaky)"), "\(page)")
    #expect(page.contains("<p class=\"warning\">attempt 1: lock.ble:14: &lt;closed&gt; "), "\(page)")
    #expect(page.contains("<p class=\"warning\">failed after 3 attempts</p>"))
  }

  @Test func json() throws {
    let records = try Self.results.map { result in
      var json = RecordWriter()
      JSONReport.test(&json, result)
      return try Record(String(decoding: json.finished(), as: UTF8.self))
    }
    #expect(records[0].int("attempts") == 2 && records[0].bool("flaky") == true && records[0].string("device") == "name:Lock")
    #expect(records[0].records("earlier").map { $0.string("message") } == ["<closed>"])
    #expect(records[1].int("attempts") == 3 && records[1].bool("flaky") == false && records[1]["device"] == nil)
    #expect(records[1].records("earlier").map { $0.string("message") } == ["<open>", "<closed>"])
  }
}
