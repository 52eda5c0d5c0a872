import Foundation
import TestSupport

/// All reports of one run, read by independent tools.
@Suite(.timeLimit(.minutes(15))) struct RunReportTests {
  private static let names = [
    "passes ]]> <b> &amp; # SKIP", "beats", "fails <script> # TODO \\", "later", "absent", "passes ]]> <b> &amp; # SKIP",
  ]

  private static let scripts = [
    """
    device name:Band-7
    test '\(names[0])' quick
      read 2a19
    end
    test \(names[1])
      subscribe heart_rate_measurement
      expect 2 of heart_rate_measurement within 5s
    end
    test '\(names[2])'
      read 2a19
      expect as u8 == 61
    end
    test \(names[3])
      skip "why <b> # TODO"
    end

    """,
    "device name:Nobody\ntest \(names[4])\n  read 2a19\nend\n", "device name:Band-7\ntest '\(names[5])'\n  read 2a19\nend\n",
  ]

  @Test func areUnderstoodByTheirReaders() throws {
    let folder = TemporaryFolder.path()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let files = try Self.scripts.enumerated().map { index, text in
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(index).blectl"))
      return "\(folder)/\(index).blectl"
    }
    let result = try Blectl.run(
      ["run", "--tap", "--junit", folder + "/junit.xml", "--html", folder + "/report.html"] + files, adapter: "sim")
    #expect(result.status == 7, "\(result.errors)")

    let proved = try ReportJudges.prove(result.text)
    #expect(proved.status == 1 && proved.text.contains("Failed tests:  3, 5") && !proved.text.contains("Parse errors"), "\(proved.text)")
    let (tests, whole) = try ReportJudges.understood(result.text)
    #expect(tests.map { $0.bool("ok") } == [true, true, false, true, false, true] && whole.strings("errors") == [])
    #expect(
      tests.map { $0.string("skip") } == [nil, nil, nil, "why <b> # TODO", nil, nil] && tests.allSatisfy { $0.bool("todo") == false })

    let junit = try String(contentsOfFile: folder + "/junit.xml", encoding: .utf8)
    for schema in ReportJudges.Schema.allCases { #expect(try ReportJudges.complaint(junit, schema) == "") }
    let records = try ReportJudges.read(junit)
    #expect(records.map { $0.string("name") } == Self.names)
    #expect(records.map { $0.string("outcome") } == ["passed", "passed", "failure", "skipped", "error", "passed"])
    #expect(records[2].string("text")?.contains("expected  as u8 == 61\n") == true)

    let (content, console) = try ReportJudges.opened(String(contentsOfFile: folder + "/report.html", encoding: .utf8))
    #expect(console.isEmpty, "\(console)")
    let texts = ReportJudges.texts(content)
    for record in records where ["failure", "error"].contains(record.string("outcome")) {
      let message = try #require(record.string("message"))
      #expect(!message.isEmpty && texts.contains("\n\(message)\n"))
    }
    // The measurement has a unit, and the flags before it have none. Each value appears once.
    #expect(texts.contains("\n2a37, bpm: 2 values from 72 to 74 bpm\n"))
  }
}
