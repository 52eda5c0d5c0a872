import BluetoothLE
import Presentation
import Terminal

/// Draws the list of devices. A narrow pane shows only the strength, the name and the end of the address.
struct DevicePane {
  let renderer: LineRenderer
  let box: BrowserLayout.Box
  let isFocused: Bool
  /// The time of the frame, in nanoseconds since 1970-01-01T00:00:00Z.
  let time: Int64

  private var width: Int { box.width - 2 }

  func draw(_ devices: inout DeviceList) -> [Frame.Line] {
    devices.scroll(rows: box.inside)
    let (index, top, count) = (devices.index, devices.top, devices.matches.count)
    var lines: [Frame.Line] = []
    for (number, device) in devices.matches.enumerated().dropFirst(top).prefix(box.inside) {
      let peer = devices.peers[device.peer]
      // A connected device has a signal of its own and no advertisements that could be old.
      let link = peer?.isConnected == true ? devices.signals[device.peer]?.last?.value : nil
      let highlight = number == index ? renderer.cursorStyle(isFocused: isFocused) : nil
      lines.append(line(device, name: device.name ?? peer?.name, peer?.state, link: link, devices.facts(of: device), highlight: highlight))
    }
    let filter = renderer.safe(devices.filter)
    if count == 0 {
      lines = [renderer.line([Span(filter.isEmpty ? "listening …" : "No match for \"\(filter)\". Esc shows all.", .dim)], width: width)]
    }
    let range = count > box.inside ? "\(top + 1)–\(min(count, top + box.inside)) of \(count)" : "\(count)"
    let title = filter.isEmpty ? "Devices" : "Devices with \"\(filter)\""
    return renderer.box([Span(title, .bold)], right: [Span(range, .dim)], lines, in: box, isFocused: isFocused)
  }

  /// Returns the line that shows a device.
  /// - Parameters:
  ///   - state: The state of the device's connection. Nil if the browser never connected to the device.
  ///   - link: The signal strength of the connection in dBm. Nil without a connection.
  private func line(
    _ device: DeviceView, name: UntrustedText?, _ state: BrowserPeer.State?, link: Double?, _ facts: ScanFacts, highlight: Frame.Style?
  ) -> Frame.Line {
    let level = link ?? device.signal.level
    let color = level.flatMap { $0 >= -60 ? Frame.Color.green : $0 >= -80 ? .yellow : nil }
    let strength = level.map { String(Int($0.rounded())) } ?? "?"
    var spans = [
      mark(state), Span(strength.padded(to: 4), Frame.Style(color)), Span(" "),
      Span(ScanTable.bar(level, isUTF8: true), Frame.Style(color)), Span(trend(link == nil ? device.signal.trend : nil) + " "),
    ]
    let age = width >= 34 ? " " + (link == nil ? device.signal.age(at: time).map(ScanTable.duration) ?? "" : "").padded(to: 4) : ""
    // Show the end of the address if there is no room for all of it.
    let address = width >= 56 ? " \(device.peer.address) \(ScanTable.kind(device.peer))" : " " + "\(device.peer.address)".suffix(8)
    let rest = width - 15 - age.utf8.count - address.utf8.count
    let nameWidth = width >= 80 ? min(24, rest) : rest
    spans.append(Span(renderer.pad(renderer.clipMiddle(name.map { renderer.safe($0) } ?? "–", to: nameWidth), to: nameWidth), .bold))
    spans.append(Span(address, .dim))
    spans.append(Span(age, .dim))
    if width >= 80 {
      let what = (facts.mac.map { ["MAC \($0)"] } ?? []) + facts.others
      spans.append(Span("  " + what.map { renderer.safe($0) }.joined(separator: " · ")))
    }
    return renderer.line(spans, width: width, highlight: highlight)
  }

  private func mark(_ state: BrowserPeer.State?) -> Span {
    switch state {
    case .connected?: Span("● ", .green)
    case .connecting?: Span("… ", .yellow)
    case .closed(.some)?: Span("! ", .red)
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
}
