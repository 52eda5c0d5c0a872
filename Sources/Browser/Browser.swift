import BluetoothLE
import Terminal

/// The state of the browser: devices, log, panes and overlay. `Browser` draws frames and converts keys to actions.
/// `BrowserSession` performs the actions and reports events. All times are nanoseconds since 1970-01-01T00:00:00Z.
struct Browser {
  enum Pane { case devices, tree, log }

  enum Overlay {
    case help(top: Int)
    case form(WriteForm)
    case prompt(Prompt)
  }

  enum Plotted: Equatable {
    case signal(PeerAddress)
    case value(PeerAddress, AttributeHandle)
    /// The values of a characteristic as a list instead of a plot.
    case values(ValueHistory)
  }

  let renderer: LineRenderer
  let commandLine: BrowserCommandLine
  var devices = DeviceList()
  var log = BrowserLog()
  /// The path of the file that records the current trace. Nil without a trace.
  var tracing: String?
  var pane = Pane.devices
  var overlay: Overlay?
  var plotted: Plotted?
  var showsLog = false
  /// The text of the latest search in an attribute tree. Empty before the first search.
  var search = ""
  /// The message in the last line of the screen. Nil without a message.
  /// `since` is the time of the first frame with the message, in nanoseconds since 1970-01-01T00:00:00Z, or nil before that frame.
  var message: (text: String, isProblem: Bool, since: Int64?)?
  var layout = BrowserLayout(width: 80, height: 24, hasLog: false, bottom: 0)

  /// Creates a browser that knows no devices.
  /// - Parameter zone: Returns the offset of local time from UTC in nanoseconds, at a time in nanoseconds since 1970-01-01T00:00:00Z.
  init(isUTF8: Bool, adapter: String? = nil, zone: @escaping (Int64) -> Int64 = { _ in 0 }) {
    renderer = LineRenderer(isUTF8: isUTF8, zone: zone)
    commandLine = BrowserCommandLine(adapter: adapter)
  }

  /// Returns the name of a device, or its address if the name is unknown. Escapes control characters.
  func title(of peer: PeerAddress) -> String { renderer.safe(devices.name(of: peer)) }

  mutating func select(_ peer: PeerAddress) {
    devices.select(peer)
    if case .signal? = plotted { plotted = .signal(peer) }
  }

  // MARK: Messages

  /// Shows a message in the last line. Returns an empty list of actions, for a key that only shows a message.
  @discardableResult
  mutating func say(_ text: String, isProblem: Bool = false) -> [BrowserAction] {
    message = (text, isProblem, nil)
    return []
  }

  mutating func note(_ text: String, of peer: PeerAddress? = nil, at time: Int64) {
    log.add(.note(text), of: peer, at: time)
    say(text)
  }

  mutating func problem(_ text: String, of peer: PeerAddress? = nil, at time: Int64) {
    log.add(.problem(text), of: peer, at: time)
    say(text, isProblem: true)
  }

  /// Removes the message after 5 seconds on the screen, or after 15 seconds if the message reports a problem.
  mutating func expire(at time: Int64) {
    guard let since = message?.since else {
      message?.since = time
      return
    }
    if time - since > (message?.isProblem == true ? 15_000_000_000 : 5_000_000_000) { message = nil }
  }

  // MARK: Links

  mutating func connected(_ peer: PeerAddress, mtu: Int, at time: Int64) {
    devices.peers[peer]?.state = .connected(time)
    devices.peers[peer]?.mtu = mtu
    devices.peers[peer]?.pending = 0
    note("Connected to \(title(of: peer))", of: peer, at: time)
  }

  /// Marks the connection of a device as closed, then logs and shows the reason.
  /// - Parameter reason: The reason for the lost connection. Nil if the user disconnected.
  mutating func closed(_ peer: PeerAddress, _ reason: String?, at time: Int64) {
    guard devices.peers[peer] != nil else { return }
    devices.peers[peer]?.state = .closed(reason)
    devices.peers[peer]?.pending = 0
    if let reason {
      problem("\(title(of: peer)): \(reason)", of: peer, at: time)
    } else {
      note("Disconnected from \(title(of: peer))", of: peer, at: time)
    }
  }

  // MARK: Drawing

  /// Draws the current screen as a frame.
  /// - Parameter time: The current time, in nanoseconds since 1970-01-01T00:00:00Z.
  mutating func frame(width: Int, height: Int, at time: Int64) -> Frame {
    guard width >= BrowserLayout.least.width, height >= BrowserLayout.least.height else { return tooSmall(width, height) }
    var wanted = 0
    if case .form = overlay { wanted = 9 }
    expire(at: time)
    layout = BrowserLayout(width: width, height: height, hasLog: showsLog, bottom: wanted)
    devices.arrange(rows: layout.devices.inside, at: time)
    var frame: Frame
    if case .help(let top) = overlay {
      let lines = KeyHelp.lines(width: width - 2).dropFirst(top).map { renderer.line([$0], width: width - 2) }
      let box = BrowserLayout.Box(row: 0, column: 0, width: width, height: height - 1)
      frame = Frame(renderer.box([Span("Keys", .bold)], lines, in: box, isFocused: true))
    } else {
      frame = Frame(panes(at: time))
      if let box = layout.log { frame.lines += log.draw(devices, renderer, in: box, isFocused: pane == .log) }
      if let box = layout.bottom, case .form(let form) = overlay {
        let written = WrittenValue(format: form.format, text: form.value.text, mode: form.mode)
        let command = commandLine.write(form.peer, form.attribute, written, in: devices.peers[form.peer]?.tree.table)
        let (lines, cursor) = form.draw(renderer, in: box, command: command)
        frame.lines += lines
        frame.cursor = cursor
      }
    }
    if case .prompt(let prompt) = overlay {
      let (line, column) = prompt.line(width: width, renderer)
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
        renderer.line(words.indices.contains(row) ? [Span(renderer.message(words[row]))] : [], width: max(0, width))
      })
  }

  private mutating func panes(at time: Int64) -> [Frame.Line] {
    func drawDevices() -> [Frame.Line] {
      DevicePane(renderer: renderer, box: layout.devices, isFocused: pane == .devices, time: time).draw(&devices)
    }
    func drawTree() -> [Frame.Line] {
      if let plotted, devices.shown != nil { return draw(plotted, at: time) }
      return TreePane(renderer: renderer, layout: layout, isFocused: pane == .tree, time: time).draw(&devices)
    }
    if layout.isWide { return zip(drawDevices(), drawTree()).map { Frame.Line($0.spans + $1.spans) } }
    return pane == .devices && plotted == nil || devices.shown == nil ? drawDevices() : drawTree()
  }

  private func draw(_ plotted: Plotted, at time: Int64) -> [Frame.Line] {
    let (address, what, samples): (PeerAddress, String, [Plot.Sample]?)
    var right: [Span] = []
    switch plotted {
    case .signal(let device):
      (address, what, samples) = (device, "signal", devices.signals[device]?.samples)
      right = samples?.last.map { [Span("\(Int($0.value)) dBm", .bold)] } ?? []
    case .values(let list): (address, what, samples) = (list.peer, name(of: list.handle, on: list.peer), nil)
    case .value(let device, let handle):
      let peer = devices.peers[device]
      let item = peer?.characteristic(handle)
      (address, what, samples) = (device, name(of: handle, on: device), peer?.histories[handle]?.samples)
      if let item, let peer, case .success? = peer.values[handle] {
        right = [Span(TreePane.value(peer.values[handle], peer.facts(item), renderer).first?.text ?? "", .bold)]
      }
    }
    let box = layout.tree
    let title = [Span(renderer.safe(devices.name(of: address)), .bold), Span(" · " + what)]
    let lines: [Frame.Line]
    if let (list, values, facts) = shownHistory {
      lines = list.visible(values, rows: box.inside).map { value in
        let text = TreePane.value(.success(value.bytes), facts, renderer)
        return renderer.line([Span(renderer.time(value.time) + "  ", .dim)] + text, width: box.width - 2)
      }
      right = [Span(values.total > values.count ? "last \(values.count) of \(values.total) values" : values.count.counted("value"), .dim)]
    } else {
      lines = renderer.plot(samples ?? [], width: box.width - 2, height: box.inside, now: time)
    }
    return renderer.box(title, right: right, lines, in: box, isFocused: pane == .tree)
  }

  private func name(of handle: AttributeHandle, on peer: PeerAddress) -> String {
    renderer.safe(devices.peers[peer]?.characteristic(handle).map { AssignedNumbers.name(of: $0.uuid) ?? "\($0.uuid)" } ?? "\(handle)")
  }

  /// Returns the last line of the screen, with the message or, without a message, hints for keys.
  private func lastLine(_ width: Int) -> Frame.Line {
    if let message {
      return renderer.line([Span(renderer.message(message.text), message.isProblem ? .red : .bold)], width: width)
    }
    let end = tracing.map { [Span("trace: \(renderer.safe($0))  ", .cyan)] } ?? []
    let always = overlay == nil ? Self.spans([("?", "help"), ("q", "quit")]) : []
    // Show only hints that fit completely.
    let room = width - renderer.columns(end + always) - 2
    var left: [Span] = []
    for count in 1...hints.count {
      let more = Self.spans(Array(hints.prefix(count)))
      guard renderer.columns(more) <= room else { break }
      left = more
    }
    return renderer.line(left, right: end + always, width: width)
  }

  private static func spans(_ hints: [(key: String, action: String)]) -> [Span] {
    hints.enumerated().flatMap { [Span(($0 > 0 ? "  " : "") + $1.key, .bold), Span(" \($1.action)", .dim)] }
  }
}
