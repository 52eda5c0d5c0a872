import Text

extension HTMLReport {
  /// The maximum number of packets that a test lists. Omits the oldest.
  private static let packetLimit = 1000

  /// Renders one test, collapsed if it passed.
  static func test(_ result: TestResult, _ anchor: String) -> String {
    let (sign, note): (String, String) =
      switch result.outcome {
      case .passed: ("✓", "")
      case .failed: ("✗", "")
      case .error: ("!", " <span class=\"dim\">error: the setup failed, not the device</span>")
      case .notRun(let why): ("–", " <span class=\"dim\">not run, because the setup failed: \(text(why))</span>")
      case .skipped(let why): ("–", " <span class=\"dim\">skipped\(why.isEmpty ? "" : ": " + text(why))</span>")
      }
    let tags = result.tags.map { " <span class=\"tag\">\(text($0))</span>" }.joined()
    var page = "<details class=\"test \(result.status)\" id=\"\(anchor)\"\(result.problem == nil ? "" : " open")>\n<summary>"
    page += "<span class=\"time\">\(ReportText.seconds(result.duration)) s</span>"
    page += "<b class=\"\(result.status)\">\(sign)</b> \(text(result.title))\(tags)\(note)</summary>\n"
    page += "<p class=\"dim\">\(text(result.file)):\(result.line) · \(Timestamp.text(result.date))</p>\n"
    if let problem = result.problem { page += self.problem(problem) }
    for note in result.notes { page += "<p>\(text(note))</p>\n" }
    page += steps(result)
    let packets = result.packets.isEmpty ? result.problem?.packets ?? [] : result.packets
    page += SVGTimeline(packets: packets, steps: result.steps, duration: result.duration).text
    page += plots(result.steps)
    page += self.packets(result, shown: result.problem?.packets.count ?? 0)
    return page + "</details>\n"
  }

  private static func problem(_ problem: TestProblem) -> String {
    var rows = "<div class=\"problem\">\n<p><code>\(text(problem.file)):\(problem.line)  \(text(problem.source))</code></p>\n"
    rows += "<p><strong>\(text(problem.message))</strong></p>\n<dl>\n"
    func row(_ label: String, _ values: [String]) {
      guard !values.isEmpty else { return }
      rows += "<dt>\(label)</dt>" + values.map { "<dd><code>\(text($0))</code></dd>" }.joined() + "\n"
    }
    row("expected", problem.expected.map { [$0] } ?? [])
    row("actual", problem.actualValues)
    row("took", problem.took.map { [ReportText.seconds($0) + " s"] } ?? [])
    row("kind", problem.kind == "expectation" ? [] : [problem.kindAndName])
    row("others", problem.others)
    row("also", problem.further)
    rows += "</dl>\n"
    if !problem.packets.isEmpty { rows += "<p class=\"dim\">last packets before the failure</p>\n" + listing(problem.packets) }
    return rows + "</div>\n"
  }

  private static func steps(_ result: TestResult) -> String {
    guard !result.steps.isEmpty else { return "" }
    var rows = "<table>\n"
    for step in result.steps {
      let place = step.file == result.file ? "line \(step.line)" : "\(text(step.file)):\(step.line)"
      rows += "<tr\(step.failed ? " class=\"failed\"" : "")><td>\(ReportText.offset(step.at))</td>"
      rows += "<td><code>\(text(step.text))</code>\(values(step.values))</td>"
      rows += "<td>\(place)</td><td>\(ReportText.seconds(step.duration)) s</td></tr>\n"
    }
    return rows + "</table>\n"
  }

  /// Renders the values of a step, collapsed if there are many.
  private static func values(_ values: [StepValue]) -> String {
    guard !values.isEmpty else { return "" }
    let lines = values.map { "\(ReportText.offset($0.at))  \(text($0.name))  \(text($0.text))" }.joined(separator: "\n")
    let listing = "<pre class=\"values\">\(lines)</pre>"
    return values.count > 10 ? "<details><summary>\(values.count) values</summary>\(listing)</details>" : listing
  }

  /// Renders the packets that the problem does not show.
  private static func packets(_ result: TestResult, shown: Int) -> String {
    guard result.packets.count > shown || result.omittedPackets > 0 else { return "" }
    let (packets, before) = TestLog.lastPackets(result, packetLimit)
    let count = ReportText.count(packets.count + before, "packet", "packets")
    let omitted = before > 0 ? "<p class=\"dim\">\(before) earlier, not shown</p>\n" : ""
    return "<details><summary>\(count)</summary>\n\(omitted)\(listing(packets))</details>\n"
  }

  private static func listing(_ packets: some Sequence<TestPacket>) -> String {
    "<pre>" + packets.map { text(TestLog.line($0)) + "\n" }.joined() + "</pre>\n"
  }

  /// Plots the numbers that arrived more than once, in the order of their first values.
  private static func plots(_ steps: [StepResult]) -> String {
    struct Series: Hashable {
      let name: String
      let unit: String?
    }
    var order: [Series] = []
    var points: [Series: [SVGPlot.Point]] = [:]
    for value in steps.flatMap(\.values) {
      guard let number = value.number, number.isFinite else { continue }
      let series = Series(name: value.name, unit: value.unit)
      if points[series] == nil { order.append(series) }
      points[series, default: []].append(SVGPlot.Point(at: value.at, number: number))
    }
    return order.compactMap { series in
      guard let points = points[series], points.count > 1 else { return nil }
      return SVGPlot(name: series.name, unit: series.unit, points: points).text
    }.joined()
  }
}
