import Scripts
import TestSupport

/// The HTML report as Chromium shows it.
@Suite(.serialized, .timeLimit(.minutes(15))) struct HTMLBrowserTests {
  private static func page(_ results: [TestResult], title: String) -> String {
    var report = HTMLReport(title: title)
    for result in results { report.add(result) }
    return report.document(ReportSamples.summary(results))
  }

  @Test func everyFailureIsShownAndNothingIsComplainedOf() throws {
    var results = ReportSamples.each() + ReportSamples.hostileNames.flatMap { ReportSamples.each(named: $0, file: $0) }
    for index in results.indices {
      guard var problem = results[index].problem else { continue }
      problem.message = "<why>\(problem.message)<\(index)>"
      results[index].outcome = .failed(problem)
    }
    let (content, console) = try ReportJudges.opened(Self.page(results, title: "</title><b>"))
    #expect(console.isEmpty, "\(console)")
    #expect(content.contains("<title>&lt;/title&gt;&lt;b&gt;</title>") && !content.contains("<script"))
    // The parser found the elements that were written: no text closed an element or left one open.
    #expect(content.ranges(of: "<details class=\"test ").count == results.count)
    #expect(content.ranges(of: "\" open=\"\">").count == results.count / 2)
    let texts = ReportJudges.texts(content)
    for result in results {
      guard let problem = result.problem else { continue }
      #expect(texts.contains("\n" + DisplayText.visible(problem.message) + "\n"), "\(problem.message.prefix(40))")
    }
  }

  @Test func whatThePageMustNotDoIsTold() throws {
    let page = Self.page([ReportSamples.passed()], title: "Test report").replacing(
      "</body>", with: "<script>document.title='ran'</script></body>")
    let (content, console) = try ReportJudges.opened(page)
    #expect(console.contains { $0.contains("Content Security Policy") }, "\(console)")
    #expect(content.contains("<title>Test report</title>"))
  }
}
