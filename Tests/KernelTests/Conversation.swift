import Foundation
import TestSupport

/// An interactive tool of somebody else's: a line in, and what it prints until what must come.
final class Conversation {
  private let process: RunningProcess

  init(_ command: String...) throws { process = try RunningProcess(command) }

  /// - Returns: what it printed since the line was given, without colours and what else steers a terminal.
  @discardableResult
  func say(_ line: String, until fits: (String) -> Bool) throws -> String {
    let before = process.outputSoFar.count
    process.send(line: line)
    let done = process.waitForOutput(after: before) { fits(Self.plain($0)) }
    let text = Self.plain(String(decoding: process.outputSoFar.dropFirst(before), as: UTF8.self))
    guard done else {
      throw Guest.ToolFailed(description: "not what must come after \"\(line)\": \(text)\(process.isRunning ? "" : ", and it has ended")")
    }
    return text
  }

  /// Until whole lines with the text have come.
  @discardableResult
  func say(_ line: String, until text: String, times: Int = 1) throws -> String {
    try say(line) { output in
      let parts = output.components(separatedBy: text)
      return parts.count > times && parts[parts.count - 1].contains("\n")
    }
  }

  /// Their own ways to quit wait for things that need not come.
  func end() {
    process.signal(SIGKILL)
    _ = process.wait()
  }

  private static func plain(_ output: String) -> String {
    output.replacing(/\u{1B}\[[0-9;]*[A-Za-z]/, with: "").filter { $0 == "\n" || $0 == "\t" || $0 >= " " }
  }
}
