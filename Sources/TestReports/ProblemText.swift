import Text

/// The reason why a test did not pass, folded to a width. Folding cuts nothing.
struct ProblemText {
  /// The width in columns, without indentation by the caller.
  let columns: Int
  /// The function that makes a text printable before folding.
  var show: (String) -> String = DisplayText.visible
  /// The function that styles a label.
  let label: (String) -> String
  /// The maximum number of packets to show. Omits the oldest.
  static let packets = 20

  private static let margin = 10
  private var room: Int { max(2, columns - Self.margin) }

  func lines(_ problem: TestProblem) -> [String] {
    let place = "\(show(problem.file)):\(problem.line)"
    // Do not fold the place, so that terminals can open it.
    var lines =
      DisplayText.width(place) > columns
      ? [place] + DisplayText.fold(show(problem.source), to: columns - 4).map { "    " + $0 } : hanging("\(place)  \(show(problem.source))")
    lines += hanging(show(problem.message))
    if let expected = problem.expected { lines += row("expected", [show(expected)]) }
    lines += row("actual", problem.actualValues.map(show))
    if let took = problem.took { lines += row("took", [ReportText.seconds(took) + " s"]) }
    if problem.kind != "expectation" { lines += row("kind", [show(problem.kindAndName)]) }
    lines += row("others", problem.others.map(show))
    lines += packetLines(problem.packets)
    lines += row("also", problem.further.map(show))
    return lines
  }

  func row(_ name: String, _ texts: [String]) -> [String] {
    rows(name, texts.flatMap { text in DisplayText.fold(text.isEmpty ? "(empty)" : text, to: room) })
  }

  private func rows(_ name: String, _ lines: [String]) -> [String] {
    lines.enumerated().map { index, line in
      let head = index == 0 ? name : ""
      return (head.isEmpty ? "" : label(head)) + String(repeating: " ", count: max(1, Self.margin - head.utf8.count)) + line
    }
  }

  /// Folds a text. Indents all lines after the first.
  private func hanging(_ text: String) -> [String] {
    DisplayText.fold(text, to: columns, later: columns - 4).enumerated().map { $0 == 0 ? $1 : "    " + $1 }
  }

  private func packetLines(_ packets: [TestPacket]) -> [String] {
    var lines: [String] = []
    if packets.count > Self.packets { lines.append("(\(packets.count - Self.packets) earlier, not shown)") }
    for packet in packets.suffix(Self.packets) { lines += Self.lines(packet, to: room, show: show) }
    return rows("packets", lines)
  }

  /// Renders a packet: `+0.310 > Handle Value Notification 0x0012  1b120042`. Bytes that do not fit are on the next lines.
  static func lines(_ packet: TestPacket, to room: Int, show: (String) -> String = DisplayText.visible) -> [String] {
    let what = packet.text.isEmpty ? "" : " " + show(packet.text)
    let head = "\(ReportText.offset(packet.at)) \(ReportText.arrow(packet.direction))\(what)"
    let hex = Hex.encode(packet.octets)
    if DisplayText.width(head) + 2 + hex.utf8.count <= room { return [hex.isEmpty ? head : head + "  " + hex] }
    let width = max(2, (room - 4) / 2 * 2)
    let digits = Array(hex.utf8)
    return DisplayText.fold(head, to: room)
      + stride(from: 0, to: digits.count, by: width).map {
        "    " + String(decoding: digits[$0..<min(digits.count, $0 + width)], as: UTF8.self)
      }
  }
}
