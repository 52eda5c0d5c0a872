package import Testing

/// The browser on its own terminal.
package final class BrowserTerminal {
  package let terminal: PseudoTerminal
  package let screen: FullScreen

  package static let up = "\u{1B}OA"
  package static let down = "\u{1B}OB"
  package static let right = "\u{1B}OC"
  package static let left = "\u{1B}OD"
  package static let pageUp = "\u{1B}[5~"
  package static let pageDown = "\u{1B}[6~"
  package static let home = "\u{1B}OH"
  package static let end = "\u{1B}OF"
  package static let backTab = "\u{1B}[Z"
  package static let escape = "\u{1B}"
  /// A key without a meaning (F5): in virtual time a second passes, and messages stay.
  package static let second = "\u{1B}[15~"

  /// Returns the sequence of a mouse click. Rows and columns count from 1.
  package static func click(row: Int, column: Int) -> String { "\u{1B}[<0;\(column);\(row)M\u{1B}[<0;\(column);\(row)m" }
  package static func wheelUp(row: Int, column: Int) -> String { "\u{1B}[<64;\(column);\(row)M" }
  package static func wheelDown(row: Int, column: Int) -> String { "\u{1B}[<65;\(column);\(row)M" }

  /// Starts on the simulated air in virtual time: each key takes a second, and otherwise time stands still.
  /// The screen then depends on the keys alone. With another `environment`, wait for a stable screen.
  package init(
    _ arguments: [String] = [], adapter: String? = "sim", columns: Int = 100, rows: Int = 30, environment: [String: String] = [:],
    locale: String = "C.UTF-8"
  ) throws {
    screen = FullScreen(columns: columns, rows: rows)
    terminal = try PseudoTerminal(
      [Blectl.path, "browse"] + (adapter.map { ["-i", $0] } ?? []) + arguments, columns: columns, rows: rows,
      environment: ["BLECTL_CLOCK": "virtual"].merging(environment) { $1 }, locale: locale, hasKeys: true)
  }

  /// Waits until the screen fits. - Returns: False if the program ended or the time limit passed first.
  package func shows(where fits: (FullScreen) -> Bool) -> Bool {
    terminal.wait { [screen] bytes in
      screen.take(bytes)
      return fits(screen)
    }
  }

  /// Waits until the screen shows all these texts. Ends the test if it does not.
  package func see(_ texts: String..., not others: [String] = [], at place: SourceLocation = #_sourceLocation) throws {
    try see(at: place) { screen in texts.allSatisfy { screen.contains($0) } && !others.contains { screen.contains($0) } }
  }

  package func see(at place: SourceLocation = #_sourceLocation, where fits: (FullScreen) -> Bool) throws {
    let isShown = shows(where: fits)
    try #require(isShown, "\(screen.text)", sourceLocation: place)
  }

  package func type(_ keys: String) { terminal.type(keys) }

  package func resize(_ columns: Int, _ rows: Int) {
    screen.take(terminal.bytes)
    screen.resize(columns: columns, rows: rows)
    terminal.resize(columns: columns, rows: rows)
  }

  /// Waits for the end. - Returns: The exit status.
  package func finish() -> Int32 {
    let status = terminal.finish().status
    screen.take(terminal.bytes)
    return status
  }

  /// Quits with `q` and checks that the terminal is as before.
  package func quit(at place: SourceLocation = #_sourceLocation) {
    type("q")
    #expect(finish() == 0, "\(screen.text)", sourceLocation: place)
    #expect(isAsBefore && screen.unknown.isEmpty, "\(screen.modes), \(screen.unknown)", sourceLocation: place)
  }

  /// Whether the terminal shows the main screen, with a cursor and without a mouse.
  package var isAsBefore: Bool { screen.modes.isDisjoint(with: ["?1049", "?1000", "?1006", "?1"]) && screen.modes.contains("?25") }
}
