import Scripts
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct HTMLReportTests {
  private static func page(_ results: [TestResult]) -> String {
    var report = HTMLReport()
    for result in results { report.add(result) }
    return report.document(ReportSamples.summary(results))
  }

  @Test func eachOutcomeIsToldApartAndWhatDidNotPassIsOpen() {
    let page = Self.page(ReportSamples.each())
    #expect(page.contains(#"<details class="test passed" id="t1">"#) && page.contains(#"<details class="test failed" id="t2" open>"#))
    #expect(page.contains(#"<details class="test error" id="t3" open>"#) && page.contains(#"<details class="test skipped" id="t4">"#))
    let verdict = ["passed", "failed", "error", "skipped", "warning"].map { "<span class=\"\($0)\">1 \($0)</span>" }.joined(separator: ", ")
    #expect(page.contains("<h1>Test report: \(verdict)</h1>"))
    #expect(page.contains(##"<li><a href="#t2">"##) && page.contains(##"<li><a href="#t3">"##) && !page.contains(##"<li><a href="#t4">"##))
  }

  @Test func everythingOfAProblemIsThere() {
    let page = Self.page(ReportSamples.each(named: "why"))
    for text in [
      "lock.ble:14  expect ffe2 == &quot;FAIL&quot; within 2s", "<strong>why</strong>",
      "<dt>expected</dt><dd><code>&quot;FAIL&quot;  4641494c<",
      "<dt>actual</dt><dd><code>&quot;BUSY&quot;  42555359<", "<dt>took</dt><dd><code>0.310 s<", "<dt>others</dt><dd><code>ffe3  0102<",
      "<dt>also</dt><dd><code>teardown: lock.ble:3: nobody answers<", "+0.000 &lt; Write Command 0x0010  52100000112233\n",
      "+0.310 &gt; Handle Value Notification 0x0012  1b120042555359\n", "<dt>kind</dt><dd><code>no_adapter: hci0<",
      "3 earlier, not shown",
      "<p class=\"warning\">warning: lock.ble:14: why Expected: &quot;FAIL&quot;  4641494c. Actual: &quot;BUSY&quot;  42555359.</p>",
    ] { #expect(page.contains(text), "\(text)") }
  }

  /// Links point to their tests, even if tests of several files alternate.
  @Test func linksPointToTheirTests() {
    let results = [
      ReportSamples.passed("one", file: "a"), ReportSamples.each(named: "two", file: "b")[1],
      ReportSamples.each(named: "three", file: "a")[2],
    ]
    let page = Self.page(results)
    #expect(page.contains(##"<li><a href="#t2">two</a>"##) && page.contains(##"<li><a href="#t3">three</a>"##))
    #expect(page.contains(#"<details class="test failed" id="t2" open>"#) && page.contains(#"<details class="test error" id="t3" open>"#))
    #expect(page.count(of: "<section>") == 2 && page.count(of: "<h2>a</h2>") == 1)
  }

  @Test func aDeviceIsNamedWhenItIsAnother() {
    let peers: [String?] = [nil, "one", nil, "one", "two", nil]
    let page = Self.page(
      peers.map { peer in
        var result = ReportSamples.passed()
        result.peer = peer
        return result
      })
    #expect(page.count(of: ">with one<") == 1 && page.count(of: ">with two<") == 1)
  }

  @Test func textsCannotBeMarkup() {
    let plain = Self.page(ReportSamples.each(named: "x", file: "x"))
    for name in ReportSamples.hostileNames {
      let page = Self.page(ReportSamples.each(named: name, file: name))
      #expect(page.count { $0 == "<" } == plain.count { $0 == "<" }, "\(name.prefix(40))")
      #expect(page.unicodeScalars.allSatisfy(XMLText.allows), "\(name.prefix(40))")
    }
  }

  @Test func threeHundredTestsAreASmallPage() {
    let packets = (0..<20).map {
      TestPacket(at: .milliseconds($0 * 20), direction: .sent, bytes: [0x0A, 3, 0], text: "Read Request 0x0003")
    }
    let results = (0..<300).map { number in
      var result = ReportSamples.passed("test \(number)")
      result.packets = packets
      result.steps = (0..<6).map { step in
        StepResult(file: "lock.ble", line: step, text: "read battery_level", at: .zero, duration: .zero, failed: false, values: [])
      }
      return result
    }
    #expect(Self.page(results).utf8.count < 1_500_000)
  }

  @Test func numbersThatCameMoreThanOnceArePlotted() {
    var result = ReportSamples.passed()
    func step(_ values: [(String, Double?, String?)]) -> StepResult {
      StepResult(
        file: "lock.ble", line: 4, text: "expect", at: .zero, duration: .zero, failed: false,
        values: values.enumerated().map { StepValue(name: $1.0, at: .milliseconds(100 * $0), text: "text", number: $1.1, unit: $1.2) })
    }
    result.steps = [
      step([("rate", 60, "bpm"), ("rate", 72, "bpm"), ("rate", 5, "%"), ("once", 1, nil), ("wrong", .nan, nil), ("wrong", .infinity, nil)]),
      step([("rate", 66, "bpm"), ("rate", nil, "bpm")]),
    ]
    let page = Self.page([result])
    #expect(page.contains("<figcaption>rate, bpm: 3 values from 60 to 72 bpm</figcaption>"))
    #expect(page.count(of: "<figcaption>") == 1 && page.count(of: "<circle ") == 3)
  }

  /// Numbers of any size stay inside the plot, and many values need few lines.
  @Test(
    arguments: [
      [0, 0], [1, 1 + 1e-15], [-1.7e308, 1.7e308], [.leastNonzeroMagnitude, 3 * .leastNonzeroMagnitude], [1e15, 1e15 + 1], [-3, 7],
      [0.1, 0.3], [1e-7, 2e-7], [1e300, 2e300],
    ] as [[Double]])
  func plotsStayInside(_ numbers: [Double]) throws {
    var result = ReportSamples.passed()
    result.steps = [
      StepResult(
        file: "", line: 1, text: "", at: .zero, duration: .zero, failed: false,
        values: (0..<5000).map { StepValue(name: "n", at: .milliseconds($0), text: "", number: numbers[$0 % 2]) })
    ]
    let page = Self.page([result])
    func points(_ line: Substring) -> [[Double]] { line.split(separator: " ").map { $0.split(separator: ",").compactMap { Double($0) } } }
    let line = points(try #require(page.firstMatch(of: /polyline class="line" points="([^"]*)"/)?.1))
    let band = points(try #require(page.firstMatch(of: /polygon class="band" points="([^"]*)"/)?.1))
    #expect((line + band).allSatisfy { $0.count == 2 && (60...790).contains($0[0]) && (8...126).contains($0[1]) })
    #expect(Set(band.map { $0[1] }) == (numbers[0] == numbers[1] ? [67] : [8, 126]))
    #expect((2...1500).contains(line.count) && page.count(of: "<path class=\"axis\"") <= 6)
    #expect(!page.contains("nan") && !page.contains("inf\""))
  }
}

extension String {
  fileprivate func count(of part: String) -> Int { ranges(of: part).count }

  /// A standalone plot has an area for each unit, a color for each series in it, and minutes for a long time.
  @Test func aStandalonePlotHasAnAreaForEachUnit() {
    func series(_ name: String, _ unit: String?) -> NumberSeries {
      (0..<12).reduce(into: NumberSeries(name: name, unit: unit)) { $0.add(Double(min($1, 9)), at: Int64($1) * 60_000_000_000) }
    }
    let text = SVGPlot.document(title: "<T>", [series("a&b", "bpm"), series("c", "s"), series("d", "bpm"), series("e", nil)])
    #expect(text.contains(">&lt;T&gt;</text>") && text.contains(">a&amp;b, bpm: 12 values from 0 to 9 bpm</text>"), "\(text)")
    #expect(text.count(of: "<g ") == 3 && text.count(of: "<polyline class=\"line\"") == 3, "\(text)")
    #expect(text.count(of: "<polyline class=\"line s1\"") == 1 && text.contains(">5 min</text>") && text.contains(">bpm</text>"), "\(text)")
  }

  /// An hour with two values a second: a band from the lowest to the highest and a line of means, with a gap where values are missing.
  @Test func anHourIsABandWithALineOfMeansAndAGap() throws {
    var series = NumberSeries(name: "t", unit: "°C")
    for index in 0..<7200 where !(3000..<3600).contains(index) {
      series.add(index.isMultiple(of: 2) ? 10 : 30, at: Int64(index) * 500_000_000)
    }
    let text = SVGPlot.document(title: "T", [series])
    func heights(_ line: Substring) -> Set<Double> {
      Set(line.split(separator: " ").compactMap { $0.split(separator: ",").last.flatMap { Double($0) } })
    }
    let bands = text.matches(of: /polygon class="band" points="([^"]*)"/).map(\.1)
    let lines = text.matches(of: /polyline class="line" points="([^"]*)"/).map(\.1)
    #expect(bands.count == 2 && lines.count == 2, "one before and one after the gap")
    #expect(bands.allSatisfy { heights($0) == [8, 176] }, "\(bands)")
    #expect(lines.allSatisfy { heights($0).allSatisfy { (70...114).contains($0) } }, "\(lines)")
    #expect(text.contains(">°C</text>"))
    // Nothing is drawn in the five minutes from the 25th to the 30th.
    let places = lines.flatMap { $0.split(separator: " ").compactMap { $0.split(separator: ",").first.flatMap { Double($0) } } }
    #expect(!places.contains { (366...424).contains($0) } && places.count > 1000, "\(places)")
  }

  /// A column between two gaps has a band that can be seen.
  @Test func aBurstHasABand() throws {
    var series = NumberSeries(name: "x", unit: nil)
    for burst in 0..<6 { for index in 0..<8 { series.add(Double(index), at: Int64(burst) * 3_600_000_000_000 + Int64(index) * 1_000_000) } }
    let svg = SVGPlot.document(title: "T", [series])
    let bands = svg.matches(of: /polygon class="band[^"]*" points="([\d.]+),[\d.]+ ([\d.]+),/)
    #expect(!bands.isEmpty && bands.allSatisfy { $0.1 != $0.2 }, "\(svg)")
  }
}
