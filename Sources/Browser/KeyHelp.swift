import BluetoothLEText
import Terminal

/// The text of the help screen, which the key `?` opens.
enum KeyHelp {
  private static let sections: [(title: String, keys: [(keys: String, what: String)])] = [
    (
      "Devices",
      [
        ("↑ ↓ PgUp PgDn Home End", "select a device (strongest first)"),
        ("Enter", "connect and show the services; reconnect after a lost connection"),
        ("→", "show its advertisement"),
        ("/", "show only devices with a text in name, address or data; Esc shows all"),
        ("P", "pair, and store the keys"),
        ("d", "disconnect (● marks connected devices; there may be several)"),
      ]
    ),
    (
      "Services, characteristics, descriptors",
      [
        ("Space ← →", "fold or unfold a service, or the descriptors of a characteristic"),
        ("Enter", "show its values so far; without a value: read, subscribe or write"),
        ("h", "show its values so far, also after a lost connection; e exports them as CSV"),
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

  /// Returns the lines of the help for a width in columns. Breaks lines between words.
  static func lines(width: Int) -> [Span] {
    // The descriptions are next to the keys, or below them on a narrow screen.
    let isWide = width >= 56
    let blank = String(repeating: " ", count: isWide ? keyWidth + 2 : 6)
    let room = max(1, width - blank.count)
    var lines: [Span] = []
    for section in sections {
      lines.append(Span(section.title, .bold))
      for (keys, what) in section.keys {
        let head = "  " + keys + String(repeating: " ", count: max(1, keyWidth - DisplayText.width(keys)))
        if !isWide { lines.append(Span("  " + keys)) }
        for (number, part) in DisplayText.wrap(what, to: room).enumerated() {
          lines.append(Span((number == 0 && isWide ? head : blank) + part))
        }
      }
      lines.append(Span(""))
    }
    return lines + DisplayText.wrap(mouse, to: width).map { Span($0) }
  }
}

extension Browser {
  /// The keys and actions that the last line suggests in the current state, the most important first.
  var hints: [(key: String, action: String)] {
    switch overlay {
    case .help: return [("↑↓", "scroll"), ("Esc", "back")]
    case .form: return [("Enter", "write"), ("Tab", "next field"), ("↑↓", "earlier values"), ("Esc", "back")]
    case .prompt, nil: break
    }
    if pane == .tree, shownHistory != nil { return [("↑↓", "scroll"), ("e", "export CSV"), ("p", "plot"), ("Esc", "back"), ("l", "log")] }
    if plotted != nil, pane != .log { return [("p", "back"), ("l", "log")] }
    let common = [("l", "log"), ("y", "copy command"), ("p", "plot"), ("T", "trace")]
    let isConnected = devices.shownPeer?.isConnected == true
    let hasTree = devices.shownPeer?.tree.table != nil
    switch pane {
    case .tree where hasTree && !isConnected: return [("Enter", "reconnect"), ("Tab", "devices")] + common
    case .tree where hasTree:
      let find = search.isEmpty ? ("/", "find") : ("n", "find next")
      return [("r", "read"), ("w", "write"), ("s", "subscribe"), ("a", "read all"), find, ("d", "disconnect")] + common
    case .log: return [("↑↓", "scroll"), ("Tab", "devices"), ("l", "close")]
    case .devices, .tree:
      return [("Enter", isConnected ? "services" : "connect"), ("/", "filter")] + (isConnected ? [("d", "disconnect")] : []) + common
    }
  }
}
