import BluetoothLEText

/// A report of a run as JUnit XML that matches the schemas of Jenkins' xUnit plugin and of Ant's JUnit tasks.
/// Each suite contains the steps and PDUs of its tests, because Ant's schema allows output only in a suite.
package struct JUnitReport {
  fileprivate struct Suite {
    var summary = RunSummary()
    var date = Int64.max
    var peers: [String] = []
    var tags = ""
    var tests = ""
    var steps = ""
    var packets = ""
  }

  private let host: String
  /// The defaults of the configuration file, which each suite lists as a property. Nil without defaults.
  private let defaults: String?
  /// The names of the script files, in the order of their first results.
  private var files: [String] = []
  private var suites: [String: Suite] = [:]

  /// Creates a report without results.
  /// - Parameter host: The name of the machine, for the attribute `hostname`.
  package init(host: String = "localhost", defaults: String? = nil) { (self.host, self.defaults) = (host, defaults) }

  /// Adds a result to the suite of its file. Keeps only the XML of the result.
  package mutating func add(_ result: TestResult) {
    if suites[result.file] == nil { files.append(result.file) }
    suites[result.file, default: Suite()].add(result)
  }

  package func document() -> String {
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
    for (index, file) in files.enumerated() { if let suite = suites[file] { text += self.text(suite, of: file, index) } }
    return text + "</testsuites>\n"
  }

  private func text(_ suite: Suite, of file: String, _ index: Int) -> String {
    // UTC, because the schema allows no time zone and no fraction.
    let date = Timestamp.text(suite.date).prefix(19)
    let count = suite.summary.passed + suite.summary.failed + suite.summary.errors + suite.summary.skipped + suite.summary.notRun
    let attributes = [
      ("name", Self.token(file)), ("package", ""), ("id", String(index)), ("timestamp", String(date)), ("hostname", Self.token(host)),
      ("tests", String(count)), ("failures", String(suite.summary.failed)), ("errors", String(suite.summary.errors + suite.summary.notRun)),
      ("skipped", String(suite.summary.skipped)), ("time", ReportText.seconds(suite.summary.duration)),
    ]
    var text = "<testsuite\(Self.attributes(attributes))>\n<properties>\n"
    if let defaults { text += Self.property("defaults", defaults) }
    for peer in suite.peers { text += Self.property("peer", peer) }
    text += suite.tags + "</properties>\n" + suite.tests
    text += "<system-out>" + XMLText.text(suite.steps) + "</system-out>\n"
    text += "<system-err>" + XMLText.text(suite.packets) + "</system-err>\n"
    return text + "</testsuite>\n"
  }

  fileprivate static func test(_ result: TestResult) -> String {
    let seconds = ReportText.seconds(result.duration)
    let start = "<testcase" + attributes([("name", token(result.title)), ("classname", className(result.file)), ("time", seconds)])
    let content: String
    switch result.outcome {
    case .passed: return start + "/>\n"
    case .failed(let problem): content = element("failure", problem)
    case .error(let problem): content = element("error", problem)
    case .notRun(let why):
      content = "<error" + attributes([("type", result.status), ("message", "not run, because the setup failed: " + why)]) + "/>"
    case .skipped(let why): content = "<skipped" + attributes([("message", why)]) + "/>"
    }
    return start + ">" + content + "</testcase>\n"
  }

  private static func element(_ name: String, _ problem: TestProblem) -> String {
    let lines = ProblemText(columns: 80) { $0 }.lines(problem)
    return "<\(name)\(attributes([("type", problem.kindAndName), ("message", problem.message)]))>"
      + XMLText.text(lines.joined(separator: "\n") + "\n") + "</\(name)>"
  }

  /// Returns the class name for a file, such as `tests.lock` for `tests/lock.ble`. Replaces periods in folder names by underscores.
  private static func className(_ file: String) -> String {
    var parts = file.split(separator: "/").filter { $0 != "." && $0 != ".." }
    if let last = parts.last, let point = last.lastIndex(of: "."), point != last.startIndex { parts[parts.count - 1] = last[..<point] }
    return token(parts.map { $0.replacing(".", with: "_") }.joined(separator: "."))
  }

  fileprivate static func property(_ name: String, _ value: String) -> String {
    "<property" + attributes([("name", token(name)), ("value", value)]) + "/>\n"
  }

  private static func attributes(_ attributes: [(name: String, value: String)]) -> String {
    attributes.map { " \($0.name)=\"\(XMLText.attribute($0.value))\"" }.joined()
  }

  /// Returns the text, or `(no name)` for a text that is empty or consists of white space.
  private static func token(_ text: String) -> String {
    text.utf8.allSatisfy { [0x20, 0x09, 0x0A, 0x0D].contains($0) } ? "(no name)" : text
  }
}

extension JUnitReport.Suite {
  fileprivate mutating func add(_ result: TestResult) {
    summary.add(result)
    summary.duration += result.duration
    date = min(date, result.date)
    if let peer = result.peer, !peers.contains(peer) { peers.append(peer) }
    if !result.tags.isEmpty { tags += JUnitReport.property("tags of " + result.title, result.tags.joined(separator: " ")) }
    if result.attempts > 1 {
      tags += JUnitReport.property("attempts of " + result.title, "\(result.attempts)\(result.isFlaky ? " (flaky)" : "")")
    }
    for warning in result.tolerated.warnings { tags += JUnitReport.property("warning of " + result.title, warning.brief) }
    tests += JUnitReport.test(result)
    steps += TestLog.steps(result)
    packets += TestLog.packets(result)
  }
}
