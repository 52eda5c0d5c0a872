import Text

/// A run as one self-contained page, without scripts or other files. Tests that did not pass are expanded.
package struct HTMLReport {
  private let title: String
  /// The files, in the order of their first results.
  private var files: [String] = []
  private var sections: [String: Section] = [:]
  /// Links to the tests that did not pass.
  private var missed = ""
  private var count = 0

  private struct Section {
    var text = ""
    var peer: String?
  }

  /// - Parameter title: The title of the page.
  package init(title: String = "Test report") { self.title = title }

  /// Adds a result. The report keeps its HTML, not the result.
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

  /// Escapes a text for use between tags and in double quotes, and makes control characters visible.
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
