import Scripts
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct TAPReportTests {
  @Test func showsEachOutcome() {
    var report = TAPReport()
    let results = ReportSamples.each()
    let text = report.begin(count: 4) + results.map { report.test($0) }.joined() + report.end(ReportSamples.summary(results))
    #expect(
      text == """
        TAP version 13
        1..4
        # lock.ble
        ok 1 - refuses a wrong code
          ---
          file: "lock.ble"
          line: 3
          duration_ms: 420.000
          ...
        # refuses a wrong code
        # warning: lock.ble:14: refuses a wrong code Expected: "FAIL"  4641494c. Actual: "BUSY"  42555359.
        not ok 2 - refuses a wrong code
          ---
          severity: "fail"
          message: "refuses a wrong code"
          kind: "expectation"
          file: "lock.ble"
          line: 14
          source: "expect ffe2 == \\"FAIL\\" within 2s"
          expected: "\\"FAIL\\"  4641494c"
          actual: "\\"BUSY\\"  42555359"
          took: 0.310
          others:
            - "ffe3  0102"
          packets:
            - "+0.000 < Write Command 0x0010  52100000112233"
            - "+0.310 > Handle Value Notification 0x0012  1b120042555359"
          further:
            - "teardown\\x3a lock.ble:3: nobody answers"
          tags:
            - "slow"
            - "refuses a wrong code"
          duration_ms: 2010.000
          ...
        not ok 3 - refuses a wrong code
          ---
          severity: "error"
          message: "refuses a wrong code"
          kind: "no_adapter"
          name: "hci0"
          file: "lock.ble"
          line: 21
          source: "refuses a wrong code"
          duration_ms: 1000.000
          ...
        ok 4 - refuses a wrong code # SKIP refuses a wrong code
        # 1 passed, 1 failed, 1 error, 1 skipped, 1 warning in 3.430 s

        """)
  }

  @Test func thePlanComesLastWhenTheCountIsNotKnown() {
    var report = TAPReport()
    #expect(report.begin(count: nil) == "TAP version 13\n")
    _ = report.test(ReportSamples.passed())
    #expect(report.end(RunSummary()).hasPrefix("1..1\n# 0 passed"))
  }

  @Test func noTestsAreAPlanToo() {
    var report = TAPReport()
    #expect(report.begin(count: 0) == "TAP version 13\n1..0 # SKIP no tests\n")
  }

  @Test func whatWasNotRunIsSkipped() {
    var report = TAPReport()
    _ = report.begin(count: 3)
    _ = report.test(ReportSamples.passed())
    let end = report.end(RunSummary())
    #expect(end.hasPrefix("ok 2 # SKIP not run: the run ended early\nok 3 # SKIP not run"))
  }

  @Test func aRunThatIsAbortedBailsOut() {
    let report = TAPReport()
    #expect(report.bailOut("the adapter\nis gone") == "Bail out! the adapter\\x0ais gone\n")
    #expect(report.bailOut("") == "Bail out!\n")
  }

  /// Each test has one line. Its name cannot start another line, a directive or a block.
  @Test func namesCannotPretend() throws {
    for name in ReportSamples.hostileNames {
      var report = TAPReport()
      let text = report.begin(count: nil) + report.test(ReportSamples.passed(name)) + report.end(RunSummary())
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.count == 11, "\(name.prefix(40))")
      #expect(lines[2].hasPrefix("ok 1 - "), "\(name.prefix(40))")
      var isEscaped = false
      for character in lines[2] {
        if character == "#" { #expect(isEscaped, "\(name.prefix(40))") }
        isEscaped = character == "\\" && !isEscaped
      }
      #expect(!isEscaped, "\(name.prefix(40))")
    }
  }

  /// Every scalar in a text of the block survives. It is read as JSON, plus \x and \U, which JSON lacks.
  @Test func textsOfTheBlockAreOneLine() {
    for name in ReportSamples.hostileNames {
      var report = TAPReport()
      let lines = ReportSamples.each(named: name).map { report.test($0) }.joined().split(separator: "\n")
      #expect(lines.count { $0.hasPrefix("  message: \"") && $0.hasSuffix("\"") } == 2, "\(name.prefix(40))")
      #expect(lines.count { $0 == "  ..." } == 3)
    }
  }
}
