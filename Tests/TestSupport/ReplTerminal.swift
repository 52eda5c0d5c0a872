import Foundation
import Glibc
package import Testing

/// `blectl repl` on a terminal and the simulated air. In virtual time a key takes 0.1 s, and otherwise time stands still.
package final class ReplTerminal {
  package let terminal: PseudoTerminal
  package let columns: Int
  /// The state folder, with the history in `blectl/history`.
  package let state: String

  package init(
    _ arguments: [String] = ["repl"], columns: Int = 80, state: String = TemporaryFolder.path(), environment: [String: String] = [:],
    locale: String = "C.UTF-8", adapter: String = "sim"
  ) throws {
    self.columns = columns
    self.state = state
    let own = [
      "BLECTL_CLOCK": "virtual", "BLECTL_ADAPTER": adapter, "NO_COLOR": "1", "XDG_STATE_HOME": state, "INPUTRC": "/dev/null", "TZ": "UTC",
      "PAGER": "",
    ]
    terminal = try PseudoTerminal(
      [Blectl.path] + arguments, columns: columns, rows: 24, environment: own.merging(environment) { $1 }, locale: locale, hasKeys: true)
    // Before that, the terminal itself would echo typed text.
    try shows("blectl>", column: 8)
  }

  package func type(_ keys: String) { terminal.type(keys) }

  /// Types lines, and waits for the next prompt after each.
  package func enter(_ lines: String..., at place: SourceLocation = #_sourceLocation) throws {
    for line in lines { try enter(line: line, place) }
  }

  private func enter(line: String, _ place: SourceLocation) throws {
    let before = terminal.bytes.count
    type(line + "\r")
    let isDone = terminal.wait { bytes in
      guard bytes.dropFirst(before).contains(UInt8(ascii: "\n")) else { return false }
      let screen = TerminalScreen(bytes, columns: columns)
      // The terminal may have wrapped it.
      return screen.isAtPrompt && (line.isEmpty || screen.lines.joined().contains(line))
    }
    try #require(isDone, "\(screen.lines), \(screen.cursor)", sourceLocation: place)
  }

  /// Waits until the cursor is after this line, or in this column of it.
  package func shows(_ line: String, column: Int? = nil, _ place: SourceLocation = #_sourceLocation) throws {
    let isShown = terminal.wait(columns: columns) { $0.cursor.line == line && (column == nil || $0.cursor.column == column) }
    try #require(isShown, "\(screen.lines), \(screen.cursor)", sourceLocation: place)
  }

  /// Waits until a fitting line appears above the cursor.
  package func says(_ fits: @escaping (String) -> Bool, _ place: SourceLocation = #_sourceLocation) throws {
    try #require(terminal.wait(columns: columns) { $0.lines.contains(where: fits) }, "\(screen.lines)", sourceLocation: place)
  }

  package func says(_ line: String, _ place: SourceLocation = #_sourceLocation) throws { try says({ $0 == line }, place) }

  package var screen: TerminalScreen { TerminalScreen(terminal.bytes, columns: columns) }

  /// Types Ctrl-D on an empty line.
  package func leave(_ place: SourceLocation = #_sourceLocation) -> TerminalScreen {
    type("\u{4}")
    let (status, _) = terminal.finish()
    let screen = screen
    #expect(status == 0 && screen.unknown.isEmpty && screen.modes.isEmpty, "\(status): \(screen)", sourceLocation: place)
    return screen
  }

  package var history: String? { try? String(contentsOfFile: state + "/blectl/history", encoding: .utf8) }
}

extension TerminalScreen {
  /// Whether the prompt is empty and no command runs.
  package var isAtPrompt: Bool { cursor.line.hasSuffix(">") && cursor.column == cursor.line.count + 1 }
}
