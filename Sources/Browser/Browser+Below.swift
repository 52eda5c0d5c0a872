import ATT
import Bluetooth
import GATT
import Presentation
import Terminal
import Text

/// Draws the log, the form and the last line.
extension Browser {
  func logPane(_ box: BrowserLayout.Box) -> [Frame.Line] {
    let width = box.width - 2
    let several = peers.count > 1
    let lines = log.seen(box.inside).map { entry -> Frame.Line in
      var spans = [Span(pen.time(entry.time) + " ", .dim)]
      if let peer = entry.peer, several { spans.append(Span("\(title(of: peer)) ", Frame.Style(.cyan))) }
      switch entry.content {
      case .note(let text): spans.append(Span(pen.said(text)))
      case .problem(let text): spans.append(Span(pen.said(text), Frame.Style(.red)))
      case .pdu(let direction, let octets, let handle, let elapsed):
        let peer = entry.peer.flatMap { peers[$0] }
        let facts = handle.flatMap { peer?.characteristic($0) }.flatMap { peer?.facts($0) }
        spans.append(Span(direction == .sent ? "→ " : "← ", direction == .sent ? Frame.Style(.cyan) : Frame.Style(.green)))
        let text = LogText.text(octets, handle, in: peer?.table, facts: facts)
        spans.append(Span(pen.said(text)))
        if let elapsed { spans.append(Span("  (\(elapsed / 1_000_000) ms)", .dim)) }
      }
      return pen.line(spans, width: width)
    }
    let right = log.below > 0 ? [Span("\(log.below) below", .dim)] : []
    return pen.box([Span("Log", .bold)], right: right, lines, width: box.width, height: box.height, isFocused: pane == .log)
  }

  // MARK: The form

  func withForm(_ form: WriteForm, _ box: BrowserLayout.Box, _ frame: Frame) -> Frame {
    var frame = frame
    let width = box.width - 2
    func field(_ name: String, _ field: WriteForm.Field, _ text: String, _ hint: String) -> Frame.Line {
      let isHere = form.field == field
      return pen.line(
        [
          Span(isHere ? "▸ " : "  ", Frame.Style(.cyan)), Span(pen.pad(name, to: 8), isHere ? .bold : .plain),
          Span(text, isHere ? .bold : .plain),
        ],
        right: isHere ? [Span(hint, .dim)] : [], width: width)
    }
    let typed = form.value
    // If the value is longer than the line, show the part around the cursor.
    let room = width - 12
    let before = pen.safe(typed.beforeCursor)
    let skipped = max(0, DisplayText.width(before) - room + 1)
    let shown = Self.dropColumns(pen.safe(typed.text), skipped)
    let history =
      form.earlier.isEmpty
      ? "" : form.place.map { "earlier value \($0 + 1) of \(form.earlier.count)" } ?? "↑ \(form.earlier.count) earlier"
    let isShort = DisplayText.width(shown) + history.count < room
    var lines = [
      field("value", .value, shown, isShort ? history : ""), field("format", .format, form.format, "← → change"),
      field("mode", .mode, form.mode.rawValue, "← → change"), pen.line([], width: width),
    ]
    lines.append(pen.line(form.problem.map { [Span(pen.said($0), Frame.Style(.red))] } ?? octets(form), width: width))
    lines.append(warning(form, width))
    let written = BrowserPeer.Written(format: form.format, text: typed.text, mode: form.mode)
    let command = commandLine.write(form.peer, form.attribute, written, in: peers[form.peer]?.table)
    lines.append(pen.line([Span("= " + pen.said(command), .dim)], width: width))
    let uuid = form.attribute.uuid
    let name = uuid.flatMap { AssignedNumbers.name(of: $0) }.map { "\(pen.safe($0)) " } ?? ""
    frame.lines += pen.box(
      [Span("Write \(name)\(uuid?.description ?? "") \(form.attribute.handle)", .bold)], lines, width: box.width, height: box.height,
      isFocused: true)
    if form.field == .value, box.height > 2 {
      frame.cursor = Frame.Cursor(row: box.row + 1, column: min(box.width - 2, 11 + DisplayText.width(before) - skipped))
    }
    return frame
  }

  /// Renders the bytes of the value in the form.
  private func octets(_ form: WriteForm) -> [Span] {
    switch form.octets {
    case .success(let octets):
      let hex = octets.prefix(64).map { Hex.encode([$0]) }.joined(separator: " ")
      return [Span("  " + Quantity.octets(octets.count), .dim), Span(octets.isEmpty ? "" : "  " + hex)]
    case .failure(let error):
      // The value may be incomplete, so this is not a problem before Enter.
      return [Span("  " + pen.said(Failure(error).message), .dim)]
    }
  }

  private func warning(_ form: WriteForm, _ width: Int) -> Frame.Line {
    guard let properties = form.attribute.properties, properties.isDisjoint(with: [.write, .writeWithoutResponse]) else {
      return pen.line([], width: width)
    }
    return pen.line(
      [Span("  Not writable according to its properties (\(TreeText.properties(properties))). Enter tries anyway.", Frame.Style(.yellow))],
      width: width)
  }

  private static func dropColumns(_ text: String, _ columns: Int) -> String {
    var rest = text[...]
    var dropped = 0
    while dropped < columns, let first = rest.popFirst() { dropped += DisplayText.width(String(first)) }
    return String(rest)
  }

  // MARK: The last line

  func promptLine(_ prompt: Prompt, _ width: Int) -> (Frame.Line, Int) {
    let label =
      switch prompt.purpose {
      case .filter: "filter: "
      case .search: "find: "
      case .trace: "trace to file: "
      }
    let before = pen.safe(prompt.field.beforeCursor)
    let skipped = max(0, label.count + DisplayText.width(before) - width + 1)
    let text = Self.dropColumns(pen.safe(prompt.field.text), skipped)
    return (pen.line([Span(label, .bold), Span(text)], width: width), min(width - 1, label.count + DisplayText.width(before) - skipped))
  }

  /// Returns the latest message, or else hints for keys.
  func lastLine(_ width: Int) -> Frame.Line {
    if let said { return pen.line([Span(pen.said(said.text), said.isProblem ? Frame.Style(.red) : .bold)], width: width) }
    let end = tracing.map { [Span("trace: \(pen.safe($0))  ", Frame.Style(.cyan))] } ?? []
    let always = overlay == nil ? Self.spans([("?", "help"), ("q", "quit")]) : []
    // Show only hints that fit completely.
    let room = width - pen.columns(end + always) - 2
    var left: [Span] = []
    for count in 1...hints.count {
      let more = Self.spans(Array(hints.prefix(count)))
      guard pen.columns(more) <= room else { break }
      left = more
    }
    return pen.line(left, right: end + always, width: width)
  }

  private static func spans(_ hints: [(key: String, what: String)]) -> [Span] {
    hints.enumerated().flatMap { [Span(($0 > 0 ? "  " : "") + $1.key, .bold), Span(" \($1.what)", .dim)] }
  }

  private var hints: [(String, String)] {
    switch overlay {
    case .help: return [("↑↓", "scroll"), ("Esc", "back")]
    case .form: return [("Enter", "write"), ("Tab", "next field"), ("↑↓", "earlier values"), ("Esc", "back")]
    case .prompt, nil: break
    }
    if plotted != nil { return [("p", "back"), ("l", "log")] }
    let common = [("l", "log"), ("y", "copy command"), ("p", "plot"), ("T", "trace")]
    let isConnected = shownPeer?.isConnected == true
    switch pane {
    case .tree where shownPeer?.table != nil && !isConnected: return [("Enter", "reconnect"), ("Tab", "devices")] + common
    case .tree where shownPeer?.table != nil:
      return [("r", "read"), ("w", "write"), ("s", "subscribe"), ("a", "read all"), ("/", "find"), ("d", "disconnect")] + common
    case .log: return [("↑↓", "scroll"), ("Tab", "devices"), ("l", "close")]
    case .devices, .tree:
      return [("Enter", isConnected ? "services" : "connect"), ("/", "filter")] + (isConnected ? [("d", "disconnect")] : []) + common
    }
  }
}
