import Bluetooth
import Finding
import Presentation
import Terminal
import Text

/// Renders devices as lines. A narrow line keeps the strength, the name and the address, which tell devices apart.
struct DeviceText {
  typealias Span = Frame.Span

  let pen: Pen
  let width: Int
  /// The time of the frame, in nanoseconds since 1970-01-01T00:00:00Z.
  let time: Int64

  /// Renders a device as a line.
  /// - Parameters:
  ///   - state: The state of the device's link. Nil if the device never had a link.
  ///   - link: The signal strength of the link in dBm. Nil without a link.
  func line(
    _ device: DeviceView, name: UntrustedText?, _ state: BrowserPeer.State?, link: Double?, _ facts: ScanFacts, highlight: Frame.Style?
  ) -> Frame.Line {
    let level = link ?? device.signal.level
    let color = level.flatMap { $0 >= -60 ? Frame.Color.green : $0 >= -80 ? .yellow : nil }
    let strength = level.map { String(Int($0.rounded())) } ?? "?"
    var spans = [
      mark(state), Span(String(repeating: " ", count: max(0, 4 - strength.utf8.count)) + strength, Frame.Style(color)), Span(" "),
      Span(ScanTable.bar(level, isUTF8: true), Frame.Style(color)), Span(trend(link == nil ? device.signal.trend : nil) + " "),
    ]
    let age = width >= 34 ? " " + left(link == nil ? device.signal.age(at: time).map(ScanTable.duration) ?? "" : "", 4) : ""
    // Show the end of the address if there is no room for all of it.
    let address = width >= 56 ? " \(device.peer.address) \(ScanTable.kind(device.peer))" : " " + "\(device.peer.address)".suffix(8)
    let rest = width - 15 - age.utf8.count - address.utf8.count
    let nameWidth = width >= 80 ? min(24, rest) : rest
    spans.append(Span(pen.pad(pen.clipMiddle(name.map { pen.safe($0) } ?? "–", to: nameWidth), to: nameWidth), .bold))
    spans.append(Span(address, .dim))
    spans.append(Span(age, .dim))
    if width >= 80 {
      let what = (facts.mac.map { ["MAC \($0)"] } ?? []) + facts.others
      spans.append(Span("  " + what.map { pen.safe($0) }.joined(separator: " · ")))
    }
    return pen.line(spans, width: width, highlight: highlight)
  }

  private func mark(_ state: BrowserPeer.State?) -> Span {
    switch state {
    case .connected?: Span("● ", Frame.Style(.green))
    case .connecting?: Span("… ", Frame.Style(.yellow))
    case .closed(.some)?: Span("! ", Frame.Style(.red))
    case .closed(nil)?, nil: Span("  ")
    }
  }

  private func trend(_ trend: SignalHistory.Trend?) -> String {
    switch trend {
    case .rising: "↑"
    case .falling: "↓"
    case nil: " "
    }
  }

  private func left(_ text: String, _ columns: Int) -> String { String(repeating: " ", count: max(0, columns - text.utf8.count)) + text }
}
