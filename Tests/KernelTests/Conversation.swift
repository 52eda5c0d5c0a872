import Foundation
import TestSupport

/// An interactive tool of another project. Sends a line and waits for the expected output.
final class Conversation {
  private let process: RunningProcess

  init(_ command: String...) throws { process = try RunningProcess(command) }

  /// - Returns: The output since the line, without colors and other terminal control sequences.
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

  /// Waits until the text has appeared in complete lines.
  @discardableResult
  func say(_ line: String, until text: String, times: Int = 1) throws -> String {
    try say(line) { output in
      let parts = output.components(separatedBy: text)
      return parts.count > times && parts[parts.count - 1].contains("\n")
    }
  }

  /// The tools' own quit commands wait for events that may never happen.
  func end() {
    process.end(by: SIGKILL)
  }

  private static func plain(_ output: String) -> String {
    output.replacing(/\u{1B}\[[0-9;]*[A-Za-z]/, with: "").filter { $0 == "\n" || $0 == "\t" || $0 >= " " }
  }
}
