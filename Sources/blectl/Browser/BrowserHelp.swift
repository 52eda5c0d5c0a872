import Text

/// What the keys do: `?`, and the last line of the screen.
enum BrowserHelp {
  enum Line: Equatable {
    case title(String)
    case text(String)
  }

  private static let sections: [(title: String, keys: [(keys: String, what: String)])] = [
    (
      "Devices",
      [
        ("↑ ↓ PgUp PgDn Home End", "another device, the strongest first"),
        ("Enter", "connects it and shows its services; once more when the link was lost"),
        ("→", "what it advertises"),
        ("/", "only devices with this text in name, address or data; Esc: all"),
        ("d", "disconnects; several devices may stay connected (●)"),
      ]
    ),
    (
      "Services, characteristics, descriptors",
      [
        ("Space ← →", "folds and unfolds: a characteristic has its descriptors inside"),
        ("Enter", "reads, else subscribes, else writes"),
        ("r", "reads the value"),
        ("a", "reads everything that is readable"),
        ("w", "writes: value, format, mode; ↑ and ↓ bring back what was written before"),
        ("s", "subscribes (◉), or ends that (○: it can send values)"),
        ("/  n", "finds a name, UUID or handle; the next one"),
      ]
    ),
    (
      "Everywhere",
      [
        ("Tab", "the next pane"),
        ("y", "the shell command that does the same, into the clipboard of the terminal"),
        ("p", "plots the numbers of a value, or the signal"),
        ("l", "every PDU with its time, below"),
        ("T", "records what crosses HCI and ATT in a file, or ends that"),
        ("Esc", "back: out of a plot, a pane, a filter"),
        ("Ctrl-L", "draws everything anew"),
        ("q", "ends; links are taken down"),
      ]
    ),
  ]

  private static let mouse = "The mouse chooses, once more is Enter; the wheel scrolls. Shift and the mouse select text in most terminals."

  private static let keyWidth = 25

  /// Whole sentences, whatever the width is.
  static func lines(width: Int) -> [Line] {
    // Beside the keys, or below them.
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
