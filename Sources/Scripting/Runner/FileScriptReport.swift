import EventLoop
import LinuxIO
import TestReports

/// A report that writes one file at the end of the run.
@LoopActor
final class FileScriptReport: ScriptReport {
  private let path: String
  private let take: (TestResult) -> Void
  private let document: (RunSummary) -> String

  private init(_ path: String, take: @escaping (TestResult) -> Void, document: @escaping (RunSummary) -> String) {
    self.path = path
    self.take = take
    self.document = document
  }

  static func junit(_ path: String) -> FileScriptReport {
    var report = JUnitReport()
    return FileScriptReport(path, take: { report.add($0) }, document: { _ in report.document() })
  }

  static func html(_ path: String, title: String) -> FileScriptReport {
    var report = HTMLReport(title: title)
    return FileScriptReport(path, take: { report.add($0) }, document: { report.document($0) })
  }

  /// Checks that the file is writable before the run starts.
  func begin(_ count: Int?) async throws { try OutputFile.check(path) }

  func add(_ result: TestResult) async throws { take(result) }

  func end(_ summary: RunSummary, isComplete: Bool) async throws {
    try await OutputFile.write(Array(document(summary).utf8), to: path, for: .everybody)
  }
}
