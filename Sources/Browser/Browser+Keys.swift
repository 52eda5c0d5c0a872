import Bluetooth
import Finding
import GATT
import Terminal

extension Browser {
  /// Handles a key or click. Returns the actions to perform.
  mutating func handle(_ key: Key) -> [BrowserAction] {
    forget()
    if key == .control("l") { return [.redraw] }
    switch overlay {
    case .help(let top): return help(key, top)
    case .form(let form): return edit(form, key)
    case .prompt(let prompt): return ask(prompt, key)
    case nil: break
    }
    switch key {
    case .character("q"), .control("c"): return [.quit]
    case .character("?"): overlay = .help(top: 0)
    case .character("l"):
      showsLog.toggle()
      if !showsLog, pane == .log { pane = .devices }
    case .character("T"): return trace()
    case .character("d"): return disconnect()
    case .character("y"): return copy()
    case .character("p"): plot()
    case .character("/"):
      let isTree = pane == .tree && shownPeer?.table != nil
      overlay = .prompt(
        Prompt(purpose: isTree ? .search : .filter, field: LineField(isTree ? "" : filter), origin: isTree ? shownPeer?.place : nil))
    case .character("n"): findNext(after: true)
    case .tab: focus(1)
    case .backTab: focus(-1)
    case .escape: leave()
    case .click(let row, let column): return click(row, column)
    case .wheelUp(let row, let column): wheel(row, column, -3)
    case .wheelDown(let row, let column): wheel(row, column, 3)
    default: return pane == .tree && shownPeer?.table != nil ? treeKey(key) : pane == .log ? logKey(key) : deviceKey(key)
    }
    return []
  }

  // MARK: Panes

  private mutating func focus(_ step: Int) {
    let panes: [Pane] = showsLog ? [.devices, .tree, .log] : [.devices, .tree]
    let index = panes.firstIndex(of: pane) ?? 0
    pane = panes[(index + step + panes.count) % panes.count]
  }

  /// Handles Escape. Leaves the plot, the log or the tree, or clears the filter.
  private mutating func leave() {
    if plotted != nil {
      plotted = nil
    } else if pane == .log {
      pane = .tree
    } else if pane == .tree {
      pane = .devices
    } else {
      filter = ""
    }
  }

  private func distance(_ key: Key, page: Int) -> Int? {
    switch key {
    case .up, .character("k"): -1
    case .down, .character("j"): 1
    case .pageUp, .control("b"): -max(1, page - 1)
    case .pageDown, .control("f"): max(1, page - 1)
    case .home, .character("g"): -1_000_000
    case .end, .character("G"): 1_000_000
    default: nil
    }
  }

  private mutating func deviceKey(_ key: Key) -> [BrowserAction] {
    if let step = distance(key, page: layout.devices.inside) {
      // Scroll the advertisements of a device that is not connected.
      if pane == .tree { detailTop = max(0, detailTop + max(-1000, min(1000, step))) } else { moveDevice(step) }
      return []
    }
    switch key {
    case .enter, .right: return key == .right && shownPeer?.isConnected != true ? look() : open()
    case .left: pane = .devices
    case .character("a") where shownPeer?.isConnected == true: return readAll()
    case .character("r"), .character("w"), .character("s"), .character("a"), .character(" "):
      say(shownPeer?.isConnected == true ? "Press Tab to go to the attributes." : "Press Enter to connect first.")
    default: break
    }
    return []
  }

  private mutating func look() -> [BrowserAction] {
    pane = .tree
    return []
  }

  private mutating func moveDevice(_ step: Int) {
    guard !devices.isEmpty else { return }
    let index = selected.flatMap { peer in devices.firstIndex { $0.peer == peer } } ?? 0
    select(devices[max(0, min(devices.count - 1, index + step))].peer)
  }

  mutating func select(_ peer: PeerAddress) {
    if peer != shown { detailTop = 0 }
    selected = peer
    if case .signal? = plotted { plotted = .signal(peer) }
  }

  /// Connects to the selected device, or shows the tree of a connected device.
  private mutating func open() -> [BrowserAction] {
    guard let peer = shown else { return [] }
    select(peer)
    pane = .tree
    switch peers[peer]?.state {
    case .connecting, .connected: return []
    case .closed, nil: break
    }
    if let device = device(peer), device.reports > 0, !device.isConnectable, peers[peer] == nil {
      say("Cannot connect to \(title(of: peer)): it is not connectable.", isProblem: true)
      return []
    }
    connecting(peer, name: device(peer)?.name)
    return [.connect(peer)]
  }

  private mutating func disconnect() -> [BrowserAction] {
    guard let peer = shown, let state = peers[peer]?.state else {
      say("Not connected.")
      return []
    }
    if case .closed = state {
      say("Not connected.")
      return []
    }
    return [.disconnect(peer)]
  }

  private mutating func logKey(_ key: Key) -> [BrowserAction] {
    if let step = distance(key, page: layout.log?.inside ?? 1) { log.scroll(by: step, seen: layout.log?.inside ?? 1) }
    return []
  }

  // MARK: The mouse

  private mutating func click(_ row: Int, _ column: Int) -> [BrowserAction] {
    if let log = layout.log, log.contains(row: row, column: column) {
      pane = .log
      return []
    }
    let isTree = layout.isWide ? layout.tree.contains(row: row, column: column) : pane == .tree
    if isTree {
      pane = .tree
      guard plotted == nil, let line = layout.tree.line(atRow: row, column: column), let peer = shown, var known = peers[peer],
        known.rows.indices.contains(known.top + line), line < treeRoom
      else { return [] }
      let target = known.rows[known.top + line]
      // A second click on a row acts like Enter.
      let isAgain = known.current?.handle == target.handle && known.cursor != nil
      known.cursor = target.handle
      peers[peer] = known
      return isAgain ? treeKey(.enter) : []
    }
    pane = .devices
    guard let line = layout.devices.line(atRow: row, column: column), devices.indices.contains(deviceTop + line) else { return [] }
    let peer = devices[deviceTop + line].peer
    if selected == peer { return open() }
    select(peer)
    return []
  }

  private mutating func wheel(_ row: Int, _ column: Int, _ step: Int) {
    if let log = layout.log, log.contains(row: row, column: column) {
      self.log.scroll(by: step, seen: log.inside)
    } else if layout.isWide ? layout.tree.contains(row: row, column: column) : pane == .tree {
      if let peer = shown, peers[peer]?.table != nil { peers[peer]?.move(by: step) } else { detailTop = max(0, detailTop + step) }
    } else {
      moveDevice(step)
    }
  }

  // MARK: Help, prompts, the form

  private mutating func help(_ key: Key, _ top: Int) -> [BrowserAction] {
    if let step = distance(key, page: layout.height - 3) {
      overlay = .help(top: helpTop(top + max(-1000, min(1000, step))))
    } else {
      switch key {
      case .wheelUp: overlay = .help(top: helpTop(top - 3))
      case .wheelDown: overlay = .help(top: helpTop(top + 3))
      default: overlay = nil
      }
    }
    return []
  }

  /// Limits a scroll position of the help, so that the last page is full.
  private func helpTop(_ wanted: Int) -> Int { max(0, min(BrowserHelp.lines(width: layout.width - 2).count - (layout.height - 3), wanted)) }

  private mutating func ask(_ prompt: Prompt, _ key: Key) -> [BrowserAction] {
    var prompt = prompt
    let text = prompt.field.text
    switch (key, prompt.purpose) {
    case (.escape, .filter):
      filter = ""
      overlay = nil
    case (.escape, _):
      returnToOrigin(of: prompt)
      overlay = nil
    case (.enter, .filter): overlay = nil
    case (.enter, .search):
      overlay = nil
      if !text.isEmpty, !findNext(after: false) { say("Cannot find “\(text)” in the tree.", isProblem: true) }
    case (.enter, .trace):
      overlay = nil
      return text.isEmpty ? [] : [.trace(text)]
    default:
      guard prompt.field.handle(key) else { return [] }
      overlay = .prompt(prompt)
      if prompt.purpose == .filter { filter = prompt.field.text }
      if prompt.purpose == .search {
        search = prompt.field.text
        returnToOrigin(of: prompt)
        findNext(after: false)
      }
    }
    return []
  }

  private mutating func returnToOrigin(of prompt: Prompt) {
    if let address = shown, let origin = prompt.origin { peers[address]?.place = origin }
  }

  private mutating func trace() -> [BrowserAction] {
    if tracing != nil { return [.trace(nil)] }
    overlay = .prompt(Prompt(purpose: .trace, field: LineField("blectl.btsnoop"), origin: nil))
    return []
  }

  private mutating func edit(_ form: WriteForm, _ key: Key) -> [BrowserAction] {
    var form = form
    switch form.handle(key) {
    case .editing: overlay = .form(form)
    case .cancelled: overlay = nil
    case .write(let octets, let written):
      overlay = nil
      let handle = form.attribute.handle
      var earlier = peers[form.peer]?.written[handle] ?? []
      earlier.removeAll { $0 == written }
      peers[form.peer]?.written[handle] = earlier.suffix(49) + [written]
      peers[form.peer]?.wroteLast.insert(handle)
      return started(form.peer, .write(form.peer, handle, octets, written.mode))
    }
    return []
  }
}
