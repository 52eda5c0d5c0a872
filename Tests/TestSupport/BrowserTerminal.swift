package import Testing

/// The browser on a terminal of its own.
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
  /// A key without a meaning (F5): in virtual time a second passes, and what was said stays.
  package static let second = "\u{1B}[15~"

  /// Of the mouse, each pressed and let go; rows and columns count from 1.
  package static func click(row: Int, column: Int) -> String { "\u{1B}[<0;\(column);\(row)M\u{1B}[<0;\(column);\(row)m" }
  package static func wheelUp(row: Int, column: Int) -> String { "\u{1B}[<64;\(column);\(row)M" }
  package static func wheelDown(row: Int, column: Int) -> String { "\u{1B}[<65;\(column);\(row)M" }

  /// On the simulated air in virtual time, unless `environment` says otherwise: a key has a second there, and while nobody types time stands still,
  /// so that what is seen depends on the keys alone. Elsewhere whoever types waits for what stays on the screen.
  package init(
    _ arguments: [String] = [], adapter: String? = "sim", columns: Int = 100, rows: Int = 30, environment: [String: String] = [:],
    locale: String = "C.UTF-8"
  ) throws {
    screen = FullScreen(columns: columns, rows: rows)
    terminal = try PseudoTerminal(
      [Blectl.path, "browse"] + (adapter.map { ["-i", $0] } ?? []) + arguments, columns: columns, rows: rows,
      environment: ["BLECTL_CLOCK": "virtual"].merging(environment) { $1 }, locale: locale, hasKeys: true)
  }

  /// Waits until the screen fits. - Returns: false when the program ended, or a minute, without it.
  package func shows(where fits: (FullScreen) -> Bool) -> Bool {
    terminal.wait { [screen] octets in
      screen.take(octets)
      return fits(screen)
    }
  }

  /// Waits until all of this is on the screen; without it the test ends.
  package func see(_ texts: String..., not others: [String] = [], at place: SourceLocation = #_sourceLocation) throws {
    try see(at: place) { screen in texts.allSatisfy { screen.contains($0) } && !others.contains { screen.contains($0) } }
  }

  package func see(at place: SourceLocation = #_sourceLocation, where fits: (FullScreen) -> Bool) throws {
    let isShown = shows(where: fits)
    try #require(isShown, "\(screen.text)", sourceLocation: place)
  }

  package func type(_ keys: String) { terminal.type(keys) }

  package func resize(_ columns: Int, _ rows: Int) {
    screen.take(terminal.octets)
    screen.resize(columns: columns, rows: rows)
    terminal.resize(columns: columns, rows: rows)
  }

  /// Waits for the end. - Returns: the exit status.
  package func finish() -> Int32 {
    let status = terminal.finish().status
    screen.take(terminal.octets)
    return status
  }

  /// `q` ends it, and leaves the terminal as it was.
  package func quit(at place: SourceLocation = #_sourceLocation) {
    type("q")
    #expect(finish() == 0, "\(screen.text)", sourceLocation: place)
    #expect(isAsBefore && screen.unknown.isEmpty, "\(screen.modes), \(screen.unknown)", sourceLocation: place)
  }

  /// The main screen, with a cursor and without a mouse.
  package var isAsBefore: Bool { screen.modes.isDisjoint(with: ["?1049", "?1000", "?1006", "?1"]) && screen.modes.contains("?25") }
}
