import BluetoothLEText
import Terminal

typealias Span = Frame.Span

/// Builds lines for the screen with an exact width in columns. Uses ASCII if the terminal cannot show UTF-8.
struct LineRenderer {
  typealias Style = Frame.Style

  let isUTF8: Bool
  private var ellipsis: String { isUTF8 ? "…" : "~" }
  /// A function that returns the offset of local time from UTC in nanoseconds, at a time in nanoseconds since 1970-01-01T00:00:00Z.
  var zone: (Int64) -> Int64 = { _ in 0 }

  /// Formats a time in nanoseconds since 1970-01-01T00:00:00Z as local time, such as `12:03:05.013`.
  func time(_ nanoseconds: Int64, milliseconds: Bool = true) -> String {
    String(Timestamp.text(nanoseconds + zone(nanoseconds)).dropFirst(11).prefix(milliseconds ? 12 : 8))
  }

  func safe(_ text: UntrustedText) -> String { safe(text.raw) }

  /// Escapes control characters in a text that comes from a device or a file.
  func safe(_ text: String) -> String { isUTF8 ? DisplayText.escape(text) : DisplayText.ascii(DisplayText.escape(text)) }

  /// Escapes an unprintable message, and converts it to ASCII for an ASCII terminal. The caller must have escaped the texts of devices.
  func message(_ text: String) -> String {
    let text = DisplayText.isPrintable(Array(text.utf8)) ? text : DisplayText.escape(text)
    return isUTF8 ? text : DisplayText.ascii(DisplayText.asciiLines(text))
  }

  /// Creates a line of exactly `width` columns.
  /// - Parameters:
  ///   - right: The text at the right edge. The line omits this text if the width is too small.
  ///   - highlight: The style of the whole line, which replaces the styles of its parts. Nil keeps those styles.
  func line(_ left: [Span], right: [Span] = [], width: Int, highlight: Style? = nil, fill: Character = " ", fillStyle: Style = .plain)
    -> Frame.Line
  {
    let left = left.map(plain)
    var right = right.map(plain)
    var rightWidth = columns(right)
    if rightWidth > 0, rightWidth + min(12, columns(left)) + 1 > width { (right, rightWidth) = ([], 0) }
    var spans: [Span] = []
    var room = max(0, width - rightWidth - (rightWidth > 0 ? 1 : 0))
    for span in left where room > 0 {
      let text = DisplayText.clip(span.text, to: room, ellipsis: ellipsis)
      room -= DisplayText.width(text)
      spans.append(Span(text, span.style))
      if text != span.text { break }
    }
    let gap = room + (rightWidth > 0 ? 1 : 0)
    if gap > 0 { spans.append(Span(String(repeating: isUTF8 ? fill : Self.ascii(fill), count: gap), fillStyle)) }
    spans += right
    if let highlight { spans = spans.map { Span($0.text, highlight) } }
    return Frame.Line(spans)
  }

  func columns(_ spans: [Span]) -> Int { spans.reduce(0) { $0 + DisplayText.width($1.text) } }

  /// Shortens a text to `width` columns in the middle, because similar names often differ at the end.
  func clipMiddle(_ text: String, to width: Int) -> String { DisplayText.clipMiddle(text, to: max(0, width), ellipsis: ellipsis) }

  func pad(_ text: String, to width: Int) -> String { text + String(repeating: " ", count: max(0, width - DisplayText.width(text))) }

  /// Draws a box with a title around lines of text.
  /// - Parameter lines: The lines, as wide as the inside of the box. The box fills missing lines with spaces.
  func box(_ title: [Span], right: [Span] = [], _ lines: [Frame.Line], in box: BrowserLayout.Box, isFocused: Bool) -> [Frame.Line] {
    let border: Style = isFocused ? .cyan : .dim
    let inside = max(0, box.width - 2)
    let edge = line([Span("│", border)], width: 1).spans
    let blank = line([], width: inside)
    let left = [Span(" ", border)] + title + [Span(" ", border)]
    let end = right.isEmpty ? [] : [Span(" ", border)] + right + [Span(" ", border)]
    let top = line(left, right: end, width: inside, fill: "─", fillStyle: border)
    var result = [Frame.Line(line([Span("┌", border)], width: 1).spans + top.spans + line([Span("┐", border)], width: 1).spans)]
    for index in 0..<box.inside { result.append(Frame.Line(edge + (index < lines.count ? lines[index] : blank).spans + edge)) }
    result.append(line([Span("└" + String(repeating: "─", count: inside) + "┘", border)], width: box.width))
    return Array(result.prefix(max(0, box.height)))
  }

  func cursorStyle(isFocused: Bool) -> Style { isFocused ? Style(reverse: true) : .bold }

  /// Returns the lines of a plot of samples.
  /// - Parameter now: The current time, in nanoseconds since 1970-01-01T00:00:00Z.
  func plot(_ samples: [Plot.Sample], width: Int, height: Int, now: Int64) -> [Frame.Line] {
    guard let plot = Plot(isUTF8: isUTF8, width: width, height: height).rows(samples, now: now) else {
      return [line([Span("no numbers yet", .dim)], width: width)]
    }
    return plot.rows.map { line([Span($0.label, .dim), Span("│", .dim), Span($0.drawing, .cyan)], width: width) }
      + [line([Span(plot.ages.first, .dim)], right: [Span(plot.ages.last, .dim)], width: width)]
  }

  private func plain(_ span: Span) -> Span {
    if isUTF8 || span.text.utf8.allSatisfy({ $0 < 0x80 }) { return span }
    let text = DisplayText.asciiLines(String(span.text.map(Self.ascii)))
    return Span(DisplayText.ascii(text), span.style)
  }

  private static func ascii(_ character: Character) -> Character {
    switch character {
    case "┌", "┐", "┘", "└", "├", "┤": "+"
    case "─": "-"
    case "│": "|"
    case "▸", "→": ">"
    case "▾", "↓": "v"
    case "↑": "^"
    case "←": "<"
    case "◉", "●": "*"
    case "○": "o"
    case "–": "-"
    case "…": "~"
    case "↵": "E"
    case "▁": "."
    case "▂": ":"
    case "▃", "▄": "-"
    case "▅": "="
    case "▆", "▇", "█": "#"
    default: character
    }
  }
}
