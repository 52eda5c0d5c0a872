import BluetoothLEText

/// A report of a run as one HTML page without scripts or external files. The page expands tests that did not pass.
package struct HTMLReport {
  private let title: String
  /// The names of the script files, in the order of their first results.
  private var files: [String] = []
  private var sections: [String: Section] = [:]
  /// The HTML list items that link to the failed tests.
  private var missed = ""
  private var count = 0

  private struct Section {
    var text = ""
    var peer: String?
  }

  /// Creates a report without results. The page shows `title` as its heading.
  package init(title: String = "Test report") { self.title = title }

  /// Adds a result to the page. Keeps only the HTML of the result.
  package mutating func add(_ result: TestResult) {
    count += 1
    let anchor = "t\(count)"
    if sections[result.file] == nil { files.append(result.file) }
    var section = sections[result.file, default: Section()]
    if let peer = result.peer, peer != section.peer {
      section.text += "<p class=\"dim\">with \(Self.text(peer))</p>\n"
      section.peer = peer
    }
    section.text += Self.test(result, anchor)
    sections[result.file] = section
    guard result.problem != nil else { return }
    let file = "<span class=\"dim\">\(Self.text(result.file))</span>"
    missed += "<li><a href=\"#\(anchor)\">\(Self.text(result.title))</a> \(file)</li>\n"
  }

  package func document(_ summary: RunSummary) -> String {
    // The policy is a second defense: unescaped text cannot run or load anything.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    var page = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    page += "<meta http-equiv=\"Content-Security-Policy\" content=\"\(policy)\">\n"
    page += "<meta name=\"viewport\" content=\"width=device-width\">\n<link rel=\"icon\" href=\"data:,\">\n"
    page += "<title>\(Self.text(title))</title>\n<style>\(Self.style)</style>\n</head>\n<body>\n" + head(summary)
    if !missed.isEmpty {
      page += "<ul>\n\(missed)</ul>\n<p><label><input type=\"checkbox\" id=\"only\"> show only tests that did not pass</label></p>\n"
    }
    for file in files { page += "<section>\n<h2>\(Self.text(file))</h2>\n\(sections[file]?.text ?? "")</section>\n" }
    return page + "</body>\n</html>\n"
  }

  /// Escapes a text for use between tags and in double-quoted attributes. Makes control characters visible.
  static func text(_ text: String) -> String { XMLText.attribute(DisplayText.visible(text)) }

  private func head(_ summary: RunSummary) -> String {
    let counts = [
      ("passed", summary.passed), ("failed", summary.failed), ("error", summary.errors), ("skipped", summary.skipped),
      ("notrun", summary.notRun),
    ]
    let bar = counts.filter { $0.1 > 0 }.map { "<i class=\"\($0.0)\" style=\"flex-grow:\($0.1)\"></i>" }.joined()
    let verdict = ReportText.countParts(summary).map { "<span class=\"\($0.status)\">\($0.text)</span>" }.joined(separator: ", ")
    return """
      <h1>\(Self.text(title)): \(verdict)</h1>
      <div class="bar">\(bar)</div>
      <p class="dim">\(Timestamp.text(summary.date)) · \(ReportText.seconds(summary.duration)) s</p>

      """
  }
}

extension HTMLReport {
  /// The style sheet of the page, with colors for light and dark mode.
  static let style = """

    :root{color-scheme:light dark}
    body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:0 auto;padding:1rem 1rem 4rem;overflow-wrap:anywhere}
    h1{font-size:1.4rem;margin:.5rem 0}
    h2{font-size:1.1rem;margin:2rem 0 .3rem}
    p{margin:.3rem 0}
    code,pre{font:13px/1.45 ui-monospace,monospace;white-space:pre-wrap}
    pre,.problem{margin:.4rem 0;padding:.5rem .7rem;border-radius:4px;background:light-dark(#f3f5f7,#1b2027)}
    .problem{border-left:3px solid light-dark(#cf222e,#ff7b72)}
    .error .problem{border-color:light-dark(#9a6700,#e3b341)}
    .problem pre{padding:0}
    .dim,.time,dt,td:nth-child(1),td:nth-child(3),td:nth-child(4){color:light-dark(#57606a,#9aa4af)}
    b.passed,h1 .passed{color:light-dark(#1a7f37,#3fb950)}
    b.failed,h1 .failed,tr.failed code{color:light-dark(#cf222e,#ff7b72)}
    b.error,h1 .error,.warning{color:light-dark(#9a6700,#e3b341)}
    b{display:inline-block;width:1.1em;text-align:center}
    .bar{display:flex;height:8px;border-radius:4px;overflow:hidden;background:light-dark(#d0d7de,#30363d)}
    .bar .passed{background:light-dark(#2da44e,#3fb950)}
    .bar .failed{background:light-dark(#cf222e,#f85149)}
    .bar .error{background:light-dark(#bf8700,#d29922)}
    .bar .skipped{background:light-dark(#8c959f,#6e7681)}
    .test{border-top:1px solid light-dark(#d8dee4,#30363d);padding:.25rem 0;content-visibility:auto;contain-intrinsic-size:auto 2rem}
    .test[open]{padding-bottom:1rem}
    summary{cursor:pointer}
    .time{float:right;margin-left:1rem;font-variant-numeric:tabular-nums}
    .tag{font-size:12px;padding:0 .4em;border-radius:4px;background:light-dark(#ddf4ff,#12304d)}
    dl{display:grid;grid-template-columns:6rem 1fr;margin:.3rem 0}
    dt{grid-column:1}
    dd{grid-column:2;margin:0}
    table{border-collapse:collapse;width:100%;margin:.4rem 0}
    td{padding:.1rem .6rem .1rem 0;vertical-align:top;font-size:13px;font-variant-numeric:tabular-nums}
    td:nth-child(2){width:100%}
    td:nth-child(1),td:nth-child(4){white-space:nowrap}
    td:nth-child(3){min-width:5rem}
    pre.values{margin:0;padding:0 0 0 1rem;background:none}
    figure{margin:.8rem 0}
    figcaption{font-size:13px}
    svg{width:100%;height:auto;font:11px system-ui,sans-serif}
    svg text{fill:light-dark(#57606a,#9aa4af)}
    svg .axis{stroke:light-dark(#d0d7de,#3d444d)}
    svg .sent{stroke:light-dark(#0969da,#58a6ff);stroke-width:2}
    svg .received{stroke:light-dark(#8250df,#bc8cff);stroke-width:2}
    svg .step{fill:light-dark(#d0d7de,#3d444d)}
    svg .step.failed{fill:light-dark(#cf222e,#f85149)}
    svg .line{fill:none;stroke:light-dark(#0969da,#58a6ff);stroke-width:1.5;stroke-linecap:round}
    svg .band{fill:light-dark(#0969da,#58a6ff);opacity:.3}
    svg circle{fill:light-dark(#0969da,#58a6ff)}
    body:has(#only:checked) :is(.passed.test,.skipped.test,section:not(:has(.failed.test,.error.test,.not_run.test))){display:none}

    """
}

extension HTMLReport {
  /// The maximum number of packets that the page lists for a test. The page omits older packets.
  private static let packetLimit = 1000

  /// Returns the HTML of one test. The page collapses tests without a problem.
  static func test(_ result: TestResult, _ anchor: String) -> String {
    let note: String? =
      switch result.outcome {
      case .passed, .failed: nil
      case .error: "error: the setup failed, not the device"
      case .notRun(let why): "not run, because the setup failed: " + text(why)
      case .skipped(let why): "skipped" + (why.isEmpty ? "" : ": " + text(why))
      }
    let tags = result.tags.map { " <span class=\"tag\">\(text($0))</span>" }.joined()
    var page = "<details class=\"test \(result.status)\" id=\"\(anchor)\"\(result.problem == nil ? "" : " open")>\n<summary>"
    page += "<span class=\"time\">\(ReportText.seconds(result.duration)) s</span>"
    let marks = (result.isFlaky ? ["flaky"] : []) + (result.tolerated.warnings.isEmpty ? [] : ["warning"])
    page += "<b class=\"\(result.status)\">\(result.outcome.status.sign)</b> \(text(result.title))\(tags)"
    page += marks.map { " <span class=\"warning\">\($0)</span>" }.joined()
    page += (note.map { " <span class=\"dim\">\($0)</span>" } ?? "") + "</summary>\n"
    page += "<p class=\"dim\">\(text(result.file)):\(result.line) · \(Timestamp.text(result.date))</p>\n"
    if let problem = result.problem { page += self.problem(problem) }
    for line in result.attemptLines { page += "<p class=\"warning\">\(text(line))</p>\n" }
    for note in result.notes { page += "<p>\(text(note))</p>\n" }
    for warning in result.tolerated.warnings { page += "<p class=\"warning\">warning: \(text(warning.brief))</p>\n" }
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
    for (label, values) in problem.rows + [("also", problem.further)] where !values.isEmpty {
      rows += "<dt>\(label)</dt>" + values.map { "<dd><code>\(text($0))</code></dd>" }.joined() + "\n"
    }
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

  /// Returns the HTML of a step's values. The page collapses more than 10 values.
  private static func values(_ values: [StepValue]) -> String {
    guard !values.isEmpty else { return "" }
    let lines = values.map { "\(ReportText.offset($0.at))  \(text($0.name))  \(text($0.text))" }.joined(separator: "\n")
    let listing = "<pre class=\"values\">\(lines)</pre>"
    return values.count > 10 ? "<details><summary>\(values.count) values</summary>\(listing)</details>" : listing
  }

  /// Returns the HTML of the packet list, or an empty text if the problem already shows all packets.
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

  /// Returns a plot for each named value with at least two numbers, in the order of the first numbers.
  private static func plots(_ steps: [StepResult]) -> String {
    var all: [NumberSeries] = []
    for value in steps.flatMap(\.values) {
      guard let number = value.number, number.isFinite else { continue }
      let index = all.firstIndex { $0.name == value.name && $0.unit == value.unit } ?? all.count
      if index == all.count { all.append(NumberSeries(name: value.name, unit: value.unit)) }
      let (seconds, attoseconds) = value.at.components
      all[index].add(number, at: seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000)
    }
    return all.filter { $0.count > 1 }.map { SVGPlot([$0]).text }.joined()
  }
}
