/// The browser on a terminal of its own.
package final class BrowserTerminal {
  package let terminal: PseudoTerminal
  package let screen: FullScreen

  package static let up = "\u{1B}OA"
  package static let down = "\u{1B}OB"
  package static let right = "\u{1B}OC"
  package static let left = "\u{1B}OD"
  package static let pageDown = "\u{1B}[6~"
  package static let home = "\u{1B}OH"
  package static let end = "\u{1B}OF"
  package static let backTab = "\u{1B}[Z"

  /// In real time: whoever types waits for what is shown.
  package init(
    _ arguments: [String] = [], adapter: String? = "sim", columns: Int = 100, rows: Int = 30, environment: [String: String] = [:],
    locale: String = "C.UTF-8"
  ) throws {
    screen = FullScreen(columns: columns, rows: rows)
    terminal = try PseudoTerminal(
      [Blectl.path, "browse"] + (adapter.map { ["-i", $0] } ?? []) + arguments, columns: columns, rows: rows, environment: environment,
      locale: locale,
      hasKeys: true)
  }

  /// Waits until the screen fits. - Returns: false when the program ended, or a minute, without it.
  package func shows(where fits: (FullScreen) -> Bool) -> Bool {
    terminal.wait { [screen] octets in
      screen.take(octets)
      return fits(screen)
    }
  }

  package func shows(_ texts: String...) -> Bool { shows { screen in texts.allSatisfy { screen.contains($0) } } }

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

  /// The main screen, with a cursor and without a mouse.
  package var isAsBefore: Bool { screen.modes.isDisjoint(with: ["?1049", "?1000", "?1006", "?1"]) && screen.modes.contains("?25") }
}
