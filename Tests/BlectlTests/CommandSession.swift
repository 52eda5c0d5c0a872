import TestSupport
import Testing

/// `repl --json` of the real executable on an air in virtual time, one command after the other.
final class CommandSession {
  struct Answer {
    let records: [Record]
    let status: Int
    /// Of the command, when the status is not 0.
    let error: Record?
  }

  private let process: RunningProcess

  init(adapter: String) throws {
    process = try Blectl.start(["repl", "--json"], environment: ["XDG_STATE_HOME": TemporaryFolder.path()], adapter: adapter)
  }

  /// - Throws: when the session ends, or says nothing for a minute: the command hangs.
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
    process.endInput()
    return process.wait()
  }
}
