import Scripts
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct TextReportTests {
  @Test func showsEachOutcome() {
    var report = TextReport()
    var results = ReportSamples.each()
    for index in results.indices { results[index].peer = "D1:00:00:00:00:01 GateLock" }
    let lines = results.flatMap { report.test($0) } + [report.end(ReportSamples.summary(results))]
    let expected = """
      lock.ble  with D1:00:00:00:00:01 GateLock
        ✓ refuses a wrong code                                                 0.420 s
        ✗ refuses a wrong code                                                 2.010 s
            note      refuses a wrong code
            warning   lock.ble:14: refuses a wrong code Expected: "FAIL"  4641494c.
                      Actual: "BUSY"  42555359.
            lock.ble:14  expect ffe2 == "FAIL" within 2s
            refuses a wrong code
            expected  "FAIL"  4641494c
            actual    "BUSY"  42555359
            took      0.310 s
            others    ffe3  0102
            packets   +0.000 < Write Command 0x0010  52100000112233
                      +0.310 > Handle Value Notification 0x0012  1b120042555359
            also      teardown: lock.ble:3: nobody answers
        ! refuses a wrong code                                                 1.000 s
            lock.ble:21  refuses a wrong code
            refuses a wrong code
            kind      no_adapter: hci0
        – refuses a wrong code  skipped: refuses a wrong code
      1 passed, 1 failed, 1 error, 1 skipped, 1 warning in 3.4 s
      """.split(separator: "\n").map(String.init)
    // The last line sets the literal's indentation, so the first heading starts at the left.
    #expect(lines == expected)
  }

  @Test func aFileIsNamedAgainWhenItsTestsComeAmongOthers() {
    var report = TextReport()
    let lines = ["a", "a", "b", "a"].flatMap { report.test(ReportSamples.passed(file: $0)) }
    #expect(lines.filter { !$0.hasPrefix(" ") } == ["a", "b", "a"])
  }

  @Test func aDeviceIsNamedAgainWhenItIsAnother() {
    var report = TextReport()
    let peers: [String?] = [nil, "one", nil, "one", "two", nil]
    let lines = peers.flatMap { peer in
      var result = ReportSamples.passed()
      result.peer = peer
      return report.test(result)
    }
    #expect(lines.filter { !$0.hasPrefix(" ") } == ["lock.ble", "lock.ble  with one", "lock.ble  with two"])
  }

  /// Units with a longer ASCII form count with that length.
  @Test func asciiFitsToo() {
    var problem = ReportSamples.problem(String(repeating: "21.5 °C · ", count: 40))
    problem.actual = String(repeating: "8 µg/m³ ", count: 40)
    var result = ReportSamples.passed(String(repeating: "300 Ω ", count: 40))
    result.outcome = .failed(problem)
    var report = TextReport(isUTF8: false)
    let lines = report.test(result)
    #expect(lines.allSatisfy { $0.utf8.count <= 80 && $0.utf8.allSatisfy { $0 < 0x80 } })
    #expect(lines.contains { $0.hasPrefix("  x 300 Ohm") } && lines.contains { $0.contains("8 ug/m^3") })
  }

  @Test func repetitionsAndTestsWithoutANameAreToldApart() {
    var report = TextReport()
    var result = ReportSamples.passed("")
    result.variant.repetition = 2
    #expect(report.test(result).last?.hasPrefix("  ✓ line 3 [2] ") == true)
  }

  @Test(arguments: [40, 80])
  func everyLineFitsAndNothingIsCutShort(_ columns: Int) {
    func dense(_ text: String) -> String { String(decoding: text.utf8.filter { $0 != 0x20 }, as: UTF8.self) }
    for name in ReportSamples.hostileNames {
      let texts = (1...11).map { "<\($0)>\(name)<\($0)>" }
      let packet = TestPacket(at: .zero, direction: .sent, bytes: Array(name.utf8), text: texts[10])
      var problem = TestProblem(file: texts[0], line: 1, source: texts[1], message: texts[2], kind: texts[3], name: texts[4])
      (problem.expected, problem.actual) = (texts[5], texts[6])
      (problem.others, problem.packets, problem.further) = ([texts[7]], [packet], [texts[8]])
      var result = ReportSamples.passed(name, file: name)
      (result.outcome, result.notes, result.peer) = (.failed(problem), [texts[9]], name)
      var report = TextReport(columns: columns)
      let lines = report.test(result)
      for line in lines where DisplayText.width(line) > columns || DisplayText.visible(line) != line {
        #expect(line == "      \(DisplayText.visible(texts[0])):1")
      }
      let all = dense(lines.joined())
      for text in texts + [Hex.encode(Array(name.utf8))] { #expect(all.contains(dense(DisplayText.visible(text))), "\(text.prefix(40))") }
      for outcome in [TestResult.Outcome.passed, .skipped(name)] {
        result.outcome = outcome
        // Except for the duration, which follows the first line.
        let all = dense(report.test(result).joined()).replacing("0.420s", with: "")
        #expect(all.contains(dense(DisplayText.visible(name))), "\(name.prefix(40))")
      }
    }
  }

  @Test func longHexGoesOnOverLinesInWholeBytes() throws {
    var problem = ReportSamples.problem()
    let bytes = (0..<244).map { UInt8(truncatingIfNeeded: $0) }
    problem.packets = [TestPacket(at: .seconds(1), direction: .sent, bytes: bytes, text: "Write Request 0x0010")]
    problem.expected = Hex.encode(bytes)
    var result = ReportSamples.passed()
    result.outcome = .failed(problem)
    var report = TextReport()
    let lines = report.test(result)
    #expect(lines.allSatisfy { $0.count <= 80 })
    let hex = lines.compactMap { line in line.split(separator: " ").last.map(String.init) }.filter {
      $0.count >= 8 && Hex.decode($0) != nil
    }
    #expect(hex.allSatisfy { $0.count.isMultiple(of: 2) })
    #expect(hex.joined().hasPrefix(Hex.encode(bytes)))
    #expect(hex.joined().hasSuffix(Hex.encode(bytes)))
  }

  /// A path wider than a line stays one word, so that it can be opened.
  @Test func aLongPathStaysWhole() throws {
    let path = "/" + String(repeating: "folder/", count: 20) + "lock.blectl"
    var problem = ReportSamples.problem()
    problem.file = path
    problem.line = 12
    problem.source = "expect == 01"
    var result = ReportSamples.passed()
    result.outcome = .failed(problem)
    var report = TextReport()
    let lines = report.test(result)
    let place = try #require(lines.firstIndex { $0.hasSuffix("\(path):12") })
    #expect(lines[place + 1].hasSuffix("    expect == 01"))
  }

  @Test func theLastTwentyPacketsAreShownAndTheOthersCounted() {
    var problem = ReportSamples.problem()
    problem.packets = (0..<25).map { TestPacket(at: .milliseconds($0), direction: .sent, bytes: [UInt8($0)], text: "Read Request") }
    var result = ReportSamples.passed()
    result.outcome = .failed(problem)
    var report = TextReport()
    let lines = report.test(result)
    #expect(lines.contains { $0.hasSuffix("packets   (5 earlier, not shown)") })
    #expect(lines.count { $0.contains(" < Read Request  ") } == 20)
    #expect(lines.contains { $0.hasSuffix("+0.024 < Read Request  18") })
    #expect(!lines.contains { $0.hasSuffix("+0.004 < Read Request  04") })
  }

  @Test func colourIsTheCallersAndTakesNoColumn() {
    var roles: [String] = []
    var report = TextReport { text, role in
      roles.append("\(role)")
      return "<\(text)>"
    }
    let plain = ReportSamples.each().flatMap { report.test($0) }
    #expect(Set(roles) == ["file", "passed", "failed", "error", "skipped", "label", "faint"])
    #expect(plain.contains { $0.hasPrefix("  <✗> refuses") && $0.hasSuffix("<2.010 s>") && $0.count == 84 })
  }

  @Test func summaryTellsWhatThereWas() {
    var summary = RunSummary()
    summary.duration = .milliseconds(2149)
    #expect(TextReport().end(summary) == "0 passed in 2.1 s")
    summary.errors = 2
    summary.notRun = 4
    #expect(TextReport().end(summary) == "0 passed, 2 errors, 4 not run in 2.1 s")
  }
}
