import Foundation
import TestSupport

/// The parsers and validators of reports, with their results. If one of them is not installed, the test that uses it fails.
enum ReportJudges {
  enum Schema: CaseIterable {
    case jenkins, ant

    /// We may not distribute Jenkins' schema: scripts/parts/interop-python finds it in the source of pytest.
    fileprivate var path: String {
      get throws {
        switch self {
        case .jenkins: URL(fileURLWithPath: try python).deletingLastPathComponent().appendingPathComponent("../junit-10.xsd").path
        case .ant: beside("ant-junit.xsd")
        }
      }
    }
  }

  static var python: String {
    get throws { try #require(ProcessInfo.processInfo.environment["BLECTL_PYTHON"], "run scripts/test") }
  }

  static func beside(_ name: String) -> String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(name).path
  }

  // MARK: TAP

  static func prove(_ tap: String) throws -> ProcessResult {
    try RunningProcess.run(["prove", "--exec", "cat", TemporaryFolder.file(tap)])
  }

  /// Returns the results of Perl's parser: one record per test, and one for the whole.
  static func understood(_ tap: String) throws -> (tests: [Record], whole: Record) {
    let told = try RunningProcess.run(["perl", beside("tap_facts.pl"), TemporaryFolder.file(tap)])
    try #require(told.status == 0, "\(told.errors)")
    let records = try told.records
    return (records.dropLast(), try #require(records.last))
  }

  // MARK: JUnit

  /// Returns the errors that libxml2 reports, or an empty text if the document is valid.
  static func complaint(_ document: String, _ schema: Schema) throws -> String {
    let file = try TemporaryFolder.file(document)
    let said = try RunningProcess.run(["xmllint", "--noout", "--schema", schema.path, file])
    return said.status == 0 ? "" : said.errors
  }

  /// Returns the results of Python's parser, one record per test.
  static func read(_ document: String) throws -> [Record] {
    let said = try RunningProcess.run([python, beside("junit_facts.py"), TemporaryFolder.file(document)])
    try #require(said.status == 0, "\(said.errors)")
    return try said.records
  }

  // MARK: HTML

  /// Opens a page in Chromium. - Returns: The resulting document, and the messages on the console.
  static func opened(_ page: String) throws -> (content: String, console: [Substring]) {
    let path = TemporaryFolder.path()
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try Data(page.utf8).write(to: URL(fileURLWithPath: path + "/report.html"))
    let said = try RunningProcess.run([
      "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
      "--disable-background-networking",
      "--user-data-dir=\(path)/profile", "--enable-logging=stderr", "--v=0", "--dump-dom", "file://\(path)/report.html",
    ])
    try #require(said.status == 0, "\(said.errors)")
    return (said.text, said.errors.split(separator: "\n").filter { $0.contains("CONSOLE") })
  }

  /// Returns only the texts of a page, as they are shown.
  static func texts(_ content: String) -> String {
    content.replacing(/<[^>]*>/, with: "\n").replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
      .replacing("&nbsp;", with: "\u{A0}").replacing("&amp;", with: "&")
  }
}
