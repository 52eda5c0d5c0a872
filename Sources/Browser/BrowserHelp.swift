import Text

/// The help screen, which `?` opens.
enum BrowserHelp {
  enum Line: Equatable {
    case title(String)
    case text(String)
  }

  private static let sections: [(title: String, keys: [(keys: String, what: String)])] = [
    (
      "Devices",
      [
        ("↑ ↓ PgUp PgDn Home End", "select a device (strongest first)"),
        ("Enter", "connect and show the services; reconnect after a lost connection"),
        ("→", "show its advertisement"),
        ("/", "show only devices with a text in name, address or data; Esc shows all"),
        ("d", "disconnect (● marks connected devices; there may be several)"),
      ]
    ),
    (
      "Services, characteristics, descriptors",
      [
        ("Space ← →", "fold or unfold a service, or the descriptors of a characteristic"),
        ("Enter", "read, subscribe or write: the first that is possible"),
        ("r", "read the value"),
        ("a", "read all readable values"),
        ("w", "write: value, format, mode; ↑ and ↓ show earlier values"),
        ("s", "subscribe (◉) or unsubscribe (○)"),
        ("/  n", "find a name, UUID or handle; find the next"),
      ]
    ),
    (
      "Everywhere",
      [
        ("Tab", "go to the next pane"),
        ("y", "copy the equivalent shell command to the clipboard"),
        ("p", "plot the numbers of a value, or the signal strength"),
        ("l", "show or hide the log of all PDUs"),
        ("T", "start or stop recording HCI traffic to a file"),
        ("Esc", "go back: leave a plot, pane or filter"),
        ("Ctrl-L", "redraw the screen"),
        ("q", "disconnect all and quit"),
      ]
    ),
  ]

  private static let mouse =
    "Click to select, click again for Enter, scroll with the wheel. To select text in most terminals, hold Shift and drag."

  private static let keyWidth = 25

  /// Returns the lines of the help, wrapped between words.
  static func lines(width: Int) -> [Line] {
    // The descriptions are next to the keys, or below them on a narrow screen.
    let isWide = width >= 56
    let blank = String(repeating: " ", count: isWide ? keyWidth + 2 : 6)
    let room = max(1, width - blank.count)
    var lines: [Line] = []
    for section in sections {
      lines.append(.title(section.title))
      for (keys, what) in section.keys {
        let head = "  " + keys + String(repeating: " ", count: max(1, keyWidth - DisplayText.width(keys)))
        if !isWide { lines.append(.text("  " + keys)) }
        for (number, part) in DisplayText.wrap(what, to: room).enumerated() {
          lines.append(.text((number == 0 && isWide ? head : blank) + part))
        }
      }
      lines.append(.text(""))
    }
    return lines + DisplayText.wrap(mouse, to: width).map { .text($0) }
  }
}
