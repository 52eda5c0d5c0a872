import Foundation
import Scripts
import TestSupport

/// Test Anything Protocol reports, checked with Perl's Test::Harness: the output of `prove`, and its parser's result for each line.
@Suite(.timeLimit(.minutes(15))) struct TAPConsumerTests {
  private static func tap(_ results: [TestResult], count: Int?) -> String {
    var report = TAPReport()
    return report.begin(count: count) + results.map { report.test($0) }.joined() + report.end(ReportSamples.summary(results))
  }

  @Test func proveTellsARunThatPassed() throws {
    let results = ReportSamples.each().filter { $0.problem == nil }
    let said = try ReportJudges.prove(Self.tap(results, count: 2))
    #expect(said.status == 0, "\(said.text)\(said.errors)")
    #expect(said.text.contains("All tests successful."))
  }

  @Test(arguments: [1, 2]) func proveTellsARunThatDidNotPass(_ index: Int) throws {
    let said = try ReportJudges.prove(Self.tap([ReportSamples.passed(), ReportSamples.each()[index]], count: nil))
    #expect(said.status == 1)
    #expect(said.text.contains("Failed test:  2") && !said.text.contains("Parse errors"), "\(said.text)")
  }

  @Test func noTestsAreSkippedAsAWhole() throws {
    let said = try ReportJudges.prove(Self.tap([], count: 0))
    #expect(said.status == 0 && said.text.contains("skipped: no tests"), "\(said.text)\(said.errors)")
  }

  @Test func aRunThatEndedBeforeItsPlanIsWhole() throws {
    let said = try ReportJudges.prove(Self.tap([ReportSamples.passed()], count: 3))
    #expect(said.status == 0 && said.text.contains("Tests=3"), "\(said.text)\(said.errors)")
  }

  @Test func aRunThatIsAbortedIsToldByProve() throws {
    var report = TAPReport()
    let said = try ReportJudges.prove(report.begin(count: 3) + report.test(ReportSamples.passed()) + report.bailOut("the adapter is gone"))
    #expect(said.status != 0 && (said.text + said.errors).contains("the adapter is gone"), "\(said.text)\(said.errors)")
  }

  /// The tests that did run count, and the harness stops.
  @Test func testsThatWereNotRunAreABailOut() throws {
    var result = ReportSamples.passed("behind a failed setup")
    result.outcome = .notRun("no device matches name:Nobody")
    let said = try ReportJudges.prove(Self.tap([ReportSamples.each()[2], result, ReportSamples.passed()], count: 3))
    let text = said.text + said.errors
    #expect(said.status != 0 && text.contains("Further testing stopped: The setup failed: no device matches name:Nobody"), "\(text)")
    let (tests, whole) = try ReportJudges.understood(Self.tap([ReportSamples.passed(), result], count: 2))
    #expect(tests.map { $0.bool("ok") } == [true] && whole.int("run") == 1)
  }

  /// Every outcome with every difficult name, several times each: numbers, outcomes, names, reasons and texts arrive unchanged.
  @Test func everyNameIsUnderstood() throws {
    let results = ReportSamples.hostileNames.flatMap { ReportSamples.each(named: $0) }
    for count in [nil, results.count] {
      let (tests, whole) = try ReportJudges.understood(Self.tap(results, count: count))
      #expect(whole.strings("errors") == [] && whole.int("version") == 13)
      #expect(whole.int("run") == results.count && tests.count == results.count)
      let documents = whole.records("yaml")
      #expect(documents.count == results.count * 3 / 4, "one for each test but those that were skipped")
      for (index, (result, test)) in zip(results, tests).enumerated() {
        let name = result.name.isEmpty ? "line \(result.line)" : DisplayText.visible(result.name)
        // The parser keeps the protocol's escapes.
        let told = test.string("description")?.replacing(/\\([\\#])/) { String($0.1) }
        #expect(told?.trimmingCharacters(in: .whitespaces) == "- \(name)".trimmingCharacters(in: .whitespaces))
        #expect(test.int("number") == index + 1 && test.bool("ok") == (result.problem == nil), "\(name.prefix(40))")
        if case .skipped(let why) = result.outcome {
          #expect(test.string("skip") == DisplayText.visible(why).trimmingCharacters(in: .whitespaces))
        } else {
          #expect(test.isNull("skip") && test.bool("todo") == false, "\(name.prefix(40))")
        }
      }
      let severities = documents.map { $0.string("severity") ?? "" }
      #expect(severities.count { $0 == "fail" } == results.count / 4 && severities.count { $0 == "error" } == results.count / 4)
    }
  }
}
