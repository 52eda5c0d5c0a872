import Scripts
import TestSupport

/// JUnit reports, validated by libxml2 with the schema of Jenkins' xUnit plugin and the rules of Ant's, and read by Python.
@Suite(.timeLimit(.minutes(15))) struct JUnitConsumerTests {
  /// Results with difficult text in each place: name, message, value, file and host.
  private static let results = ReportSamples.each() + ReportSamples.hostileNames.flatMap { ReportSamples.each(named: $0, file: $0) }

  private static func document(_ results: [TestResult], host: String = "localhost") -> String {
    var report = JUnitReport(host: host)
    for result in results { report.add(result) }
    return report.document()
  }

  @Test(arguments: ReportJudges.Schema.allCases) func isValid(_ schema: ReportJudges.Schema) throws {
    #expect(try ReportJudges.complaint(Self.document(Self.results), schema) == "")
    #expect(try ReportJudges.complaint(Self.document([]), schema) == "")
    for name in ReportSamples.hostileNames {
      #expect(try ReportJudges.complaint(Self.document([ReportSamples.passed()], host: name), schema) == "", "\(name.prefix(40))")
    }
  }

  /// Invalid documents are refused, so the validators do work.
  @Test func documentsThatAreNotValidAreRefused() throws {
    let document = Self.document(ReportSamples.each())
    for (schema, change) in [
      (ReportJudges.Schema.jenkins, ("<system-out>", "<output>x</output><system-out>")), (.jenkins, (" tests=\"4\"", "")),
      (.jenkins, (" time=\"3.430\"", " time=\"x\"")),
      (.ant, (" hostname=\"localhost\"", "")), (.ant, (":04\" hostname", ":04.5Z\" hostname")),
      (.ant, ("</failure>", "</failure><system-out/>")),
      (.ant, ("<testsuites>", "<testsuites tests=\"4\">")), (.ant, (" type=\"expectation\"", "")),
      (.ant, ("name=\"lock.ble\"", "name=\" \"")),
    ] {
      let changed = document.replacing(change.0, with: change.1)
      let complaint = try ReportJudges.complaint(changed, schema)
      #expect(changed != document && complaint.contains("Schemas validity error"), "\(change)")
    }
  }

  /// A test that was not run is an error, also with difficult text in the reason.
  @Test(arguments: ReportJudges.Schema.allCases) func testsThatWereNotRunAreErrors(_ schema: ReportJudges.Schema) throws {
    let results = ReportSamples.hostileNames.map { why in
      var result = ReportSamples.passed(file: "absent.blectl")
      result.outcome = .notRun(why)
      return result
    }
    let document = Self.document(results)
    #expect(try ReportJudges.complaint(document, schema) == "")
    let records = try ReportJudges.read(document)
    #expect(records.count == results.count && records.allSatisfy { $0.string("outcome") == "error" })
  }

  @Test func everyTextIsReadAsItWasMeant() throws {
    let records = try ReportJudges.read(Self.document(Self.results))
    #expect(records.count == Self.results.count)
    for (result, record) in zip(Self.results, records) {
      func read(_ text: String) -> String {
        String(text.unicodeScalars.map { XMLText.allows($0) ? String($0) : "\\u{\(String($0.value, radix: 16))}" }.joined())
      }
      let isBlank = result.name.allSatisfy { " \t\r\n".contains($0) } && !result.name.isEmpty
      #expect(record.string("name") == (isBlank ? "(no name)" : result.name.isEmpty ? "line \(result.line)" : read(result.name)))
      switch result.outcome {
      case .passed: #expect(record.string("outcome") == "passed")
      case .failed(let problem):
        #expect(record.string("outcome") == "failure" && record.string("message") == read(problem.message))
        #expect(record.string("text")?.contains("expected  \"FAIL\"  4641494c") == true)
      case .error(let problem): #expect(record.string("outcome") == "error" && record.string("message") == read(problem.message))
      case .notRun(let why): #expect(record.string("message")?.hasSuffix(read(why)) == true)
      case .skipped(let why): #expect(record.string("outcome") == "skipped" && record.string("message") == read(why))
      }
    }
  }
}
