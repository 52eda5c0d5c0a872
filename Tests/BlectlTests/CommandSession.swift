import TestSupport

/// A session with the real executable, `repl --json`, in virtual time. It runs one command after the other.
final class CommandSession {
  struct Answer {
    let records: [Record]
    let status: Int
    /// The command's error, if the status is not 0.
    let error: Record?
  }

  private let process: RunningProcess

  init(adapter: String) throws {
    process = try Blectl.start(["repl", "--json"], environment: ["XDG_STATE_HOME": TemporaryFolder.path()], adapter: adapter)
  }

  /// - Throws: An error when the session ends, or when the command hangs (no output for a minute).
  func run(_ command: String) throws -> Answer {
    process.send(line: command)
    var records: [Record] = []
    while let line = process.nextLine(where: { _ in true }) {
      let record = try Record(line)
      guard record.string("event") == "done" else {
        records.append(record)
        continue
      }
      return Answer(records: records, status: try #require(record.int("status")), error: record["error"])
    }
    throw Hangs(command: command)
  }

  struct Hangs: Error { let command: String }

  func end() -> ProcessResult {
    return process.finish()
  }
}
