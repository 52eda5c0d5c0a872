import Bluetooth
import Finding
import GAP
import GATT
import Presentation
import Terminal
import Text

extension Browser {
  typealias Span = Frame.Span

  /// Draws the current screen.
  /// - Parameter time: The current time, in nanoseconds since 1970-01-01T00:00:00Z.
  mutating func frame(width: Int, height: Int, at time: Int64) -> Frame {
    guard BrowserLayout.fits(width: width, height: height) else { return tooSmall(width, height) }
    var wanted = 0
    if case .form = overlay { wanted = 9 }
    expire(at: time)
    layout = BrowserLayout(width: width, height: height, hasLog: showsLog, bottom: wanted)
    arrange(inView: layout.devices.inside, at: time)
    var frame: Frame
    if case .help(let top) = overlay {
      let lines = BrowserHelp.lines(width: width - 2).dropFirst(top).map { line -> Frame.Line in
        switch line {
        case .title(let text): pen.line([Span(text, .bold)], width: width - 2)
        case .text(let text): pen.line([Span(text)], width: width - 2)
        }
      }
      frame = Frame(pen.box([Span("Keys", .bold)], lines, width: width, height: height - 1, isFocused: true))
    } else {
      frame = Frame(main(at: time))
      if let box = layout.log { frame.lines += logPane(box) }
      if let box = layout.bottom, case .form(let form) = overlay { frame = withForm(form, box, frame) }
    }
    if case .prompt(let prompt) = overlay {
      let (line, column) = promptLine(prompt, width)
      frame.cursor = Frame.Cursor(row: height - 1, column: column)
      frame.lines.append(line)
    } else {
      frame.lines.append(lastLine(width))
    }
    return frame
  }

  private func tooSmall(_ width: Int, _ height: Int) -> Frame {
    let least = BrowserLayout.least
    let words = [
      "This window has \(width)×\(height).", "The browser needs \(least.width)×\(least.height).", "Make it larger,", "or press q to quit.",
    ]
    return Frame(
      (0..<max(0, height)).map { row in
        pen.line(words.indices.contains(row) ? [Span(pen.said(words[row]))] : [], width: max(0, width))
      })
  }

  private mutating func main(at time: Int64) -> [Frame.Line] {
    if layout.isWide {
      return zip(devicePane(layout.devices, at: time), treePane(layout.tree, at: time)).map { Frame.Line($0.spans + $1.spans) }
    }
    return pane == .devices && plotted == nil || shown == nil ? devicePane(layout.devices, at: time) : treePane(layout.tree, at: time)
  }

  // MARK: Devices

  private mutating func devicePane(_ box: BrowserLayout.Box, at time: Int64) -> [Frame.Line] {
    let index = selected.flatMap { peer in devices.firstIndex { $0.peer == peer } } ?? 0
    deviceTop = max(0, min(deviceTop, devices.count - 1, index))
    if index >= deviceTop + box.inside { deviceTop = index - box.inside + 1 }
    let text = DeviceText(pen: pen, width: box.width - 2, time: time)
    var lines: [Frame.Line] = []
    for (number, device) in devices.enumerated().dropFirst(deviceTop).prefix(box.inside) {
      let state = peers[device.peer]?.state
      let name = device.name ?? peers[device.peer]?.name
      // A connected device has a signal of its own and no advertisements that could be old.
      let link = peers[device.peer]?.isConnected == true ? signals[device.peer]?.last?.value : nil
      lines.append(text.line(device, name: name, state, link: link, facts(of: device), highlight: highlight(number == index, .devices)))
    }
    if devices.isEmpty {
      lines = [
        pen.line([Span(filter.isEmpty ? "listening …" : "No match for “\(pen.safe(filter))”. Esc shows all.", .dim)], width: box.width - 2)
      ]
    }
    let count =
      devices.count > box.inside ? "\(deviceTop + 1)–\(min(devices.count, deviceTop + box.inside)) of \(devices.count)" : "\(devices.count)"
    let title = filter.isEmpty ? "Devices" : "Devices with “\(pen.safe(filter))”"
    return pen.box(
      [Span(title, .bold)], right: [Span(count, .dim)], lines, width: box.width, height: box.height, isFocused: pane == .devices)
  }

  private func highlight(_ isUnderCursor: Bool, _ here: Pane) -> Frame.Style? {
    isUnderCursor ? (pane == here ? Frame.Style(reverse: true) : .bold) : nil
  }

  // MARK: A device

  /// The number of visible attribute rows.
  var treeRoom: Int { max(1, layout.tree.inside - (layout.tree.inside >= 10 ? 4 : 0)) }

  private mutating func treePane(_ box: BrowserLayout.Box, at time: Int64) -> [Frame.Line] {
    guard let address = shown else { return pen.box([], [], width: box.width, height: box.height, isFocused: pane == .tree) }
    var lines: [Frame.Line]
    let (title, right) = treeTitle(address, at: time)
    let width = box.width - 2
    if plotted != nil {
      return plotPane(box, at: time)
    } else if var peer = peers[address], peer.table != nil {
      lines = tree(&peer, width)
      peers[address]?.place = peer.place
    } else if case .connecting? = peers[address]?.state {
      lines = [pen.line([Span("connecting …", .dim)], width: width)]
    } else if peers[address]?.isConnected == true {
      lines = [pen.line([Span("discovering services …", .dim)], width: width)]
    } else {
      lines = advertised(address, width, box.inside)
    }
    return pen.box(title, right: right, lines, width: box.width, height: box.height, isFocused: pane == .tree)
  }

  private func tree(_ peer: inout BrowserPeer, _ width: Int) -> [Frame.Line] {
    let rows = peer.rows
    guard !rows.isEmpty else { return [pen.line([Span("no services", .dim)], width: width)] }
    let index = rows.firstIndex { $0.handle == peer.cursor } ?? 0
    let room = treeRoom
    peer.top = max(0, min(peer.top, rows.count - 1, index))
    if index >= peer.top + room { peer.top = index - room + 1 }
    let text = TreeText(pen: pen, width: width)
    var lines = rows.enumerated().dropFirst(peer.top).prefix(room).map { number, row in
      text.line(row, peer, highlight: highlight(number == index, .tree))
    }
    if layout.tree.inside >= 10 {
      lines += Array(repeating: pen.line([], width: width), count: room - lines.count)
      lines.append(pen.rule(width: width))
      lines += text.details(rows[index], peer)
    }
    return lines
  }

  private mutating func advertised(_ address: PeerAddress, _ width: Int, _ room: Int) -> [Frame.Line] {
    guard let device = device(address), device.reports > 0 else { return [pen.line([Span("not heard yet", .dim)], width: width)] }
    let details = AdvertisingDetail.lines(device, AdvertisingFormats()) { $0 }
    let hint = device.isConnectable ? ["", "Enter connects"] : ["", "not connectable"]
    detailTop = max(0, min(detailTop, details.count + 2 - room))
    return (details.map { (pen.said($0), Frame.Style.plain) } + hint.map { ($0, .dim) })
      .dropFirst(detailTop).map { pen.line([Span($0.0, $0.1)], width: width) }
  }

  private func treeTitle(_ address: PeerAddress, at time: Int64) -> ([Span], [Span]) {
    let name = Span(title(of: address), .bold)
    guard let peer = peers[address] else { return ([name], []) }
    var right: [Span] = []
    var state = " · "
    switch peer.state {
    case .connecting: state += "connecting …"
    case .connected(let since):
      state += "connected \(Self.clock((time - since) / 1_000_000_000))"
      if let signal = signals[address], let last = signal.last {
        right = [Span("\(Int(last.value)) dBm \(pen.spark(signal.tail(8)))")]
      }
      // Show the facts that fit beside the name.
      let facts = [
        peer.mtu.map { "MTU \($0)" }, peer.link.interval.map { "\($0.millisecondsText) ms" },
        peer.link.phy.map { $0.name.uppercased() },
      ]
      for fact in facts.compactMap({ $0 }).map({ " · \($0)" }) {
        guard pen.columns([name] + right) + DisplayText.width(state + fact) + 7 <= layout.tree.width else { break }
        right.append(Span(fact, .dim))
      }
    case .closed(let reason): state += reason == nil ? "not connected" : "connection lost"
    }
    let color: Frame.Color? = if case .closed(.some) = peer.state { .red } else { nil }
    let waits = peer.pending > 0 ? [Span(" …", Frame.Style(.yellow))] : []
    return ([name, Span(state, Frame.Style(color))] + waits, right)
  }

  /// Formats seconds as `00:01:12`.
  static func clock(_ seconds: Int64) -> String {
    let seconds = max(0, seconds)
    return [seconds / 3600, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  private func plotPane(_ box: BrowserLayout.Box, at time: Int64) -> [Frame.Line] {
    var title: [Span] = []
    var right: [Span] = []
    var samples: [SampleHistory.Sample] = []
    switch plotted {
    case .signal(let address)?:
      title = [Span(self.title(of: address), .bold), Span(" · signal")]
      samples = signals[address]?.samples ?? []
      right = samples.last.map { [Span("\(Int($0.value)) dBm", .bold)] } ?? []
    case .value(let address, let handle)?:
      let item = peers[address]?.characteristic(handle)
      let name = item.map { AssignedNumbers.name(of: $0.uuid) ?? "\($0.uuid)" } ?? "\(handle)"
      title = [Span(self.title(of: address), .bold), Span(" · \(pen.safe(name))")]
      samples = peers[address]?.histories[handle]?.samples ?? []
      if let item, let peer = peers[address], case .success(let octets)? = peer.values[handle] {
        right = [Span(TreeText.value(.success(octets), peer.facts(item), pen).first?.text ?? "", .bold)]
      }
    case nil: break
    }
    let lines = Plot(pen: pen, width: box.width - 2, height: box.inside).lines(samples, now: time)
    return pen.box(title, right: right, lines, width: box.width, height: box.height, isFocused: pane == .tree)
  }
}
