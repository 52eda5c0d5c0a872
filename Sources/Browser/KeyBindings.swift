import BluetoothLE
import Presentation
import Terminal

/// An action that `Browser` requests after a key or click and `BrowserSession` performs.
enum BrowserAction: Equatable {
  case connect(PeerAddress)
  case disconnect(PeerAddress)
  /// A read of one attribute, by its handle.
  case read(PeerAddress, AttributeHandle)
  /// A read of all descriptors and all readable values of a device.
  case readAll(PeerAddress)
  case write(PeerAddress, AttributeHandle, [UInt8], WriteMode)
  /// A subscription to the characteristic whose value has the handle.
  case subscribe(PeerAddress, AttributeHandle)
  case unsubscribe(PeerAddress, AttributeHandle)
  /// A copy of a text to the clipboard of the terminal.
  case copy(String)
  /// The start of a recording of HCI and ATT traffic to the file at a path. Nil stops the recording.
  case trace(String?)
  /// A redraw of the whole screen, for example after another program has written to the terminal.
  case redraw
  case pair(PeerAddress)
  /// The answer to the question of the pairing. Nil cancels the pairing.
  case answer(String?)
  /// A new file with a text, which has the given number of values.
  case save(String, _ path: String, Int)
  case quit
}

/// The bindings of keys and mouse events to actions.
extension Browser {
  /// Changes the state of the browser for a key or mouse event. Returns the actions for the session.
  mutating func handle(_ key: Key) -> [BrowserAction] {
    message = nil
    if key == .control("l") { return [.redraw] }
    switch overlay {
    case .help(let top): return help(key, top)
    case .form(let form): return edit(form, key)
    case .prompt(let prompt): return ask(prompt, key)
    case nil: break
    }
    if let (list, values, facts) = shownHistory, pane == .tree {
      if let step = distance(key, page: layout.tree.inside) {
        scrollHistory(by: max(-values.count, min(values.count, step)))
        return []
      }
      if key == "e" { overlay = .prompt(Prompt(purpose: .export, field: LineField("\(facts.characteristic.uuid).csv"))) }
      if key == "p", devices.peers[list.peer]?.histories[list.handle] != nil { plotted = .value(list.peer, list.handle) }
      if key == "e" || key == "p" { return [] }
    }
    switch key {
    case "q", .control("c"): return [.quit]
    case "?": overlay = .help(top: 0)
    case "l":
      showsLog.toggle()
      if !showsLog, pane == .log { pane = .devices }
    case "T": return trace()
    case "d": return disconnect()
    case "y": return copy()
    case "p": plot()
    case "P": return pair()
    case "/":
      overlay = .prompt(
        isInTree
          ? Prompt(purpose: .search, field: LineField(), origin: devices.shownPeer?.tree)
          : Prompt(purpose: .filter, field: LineField(devices.filter)))
    case "n": find(afterCursor: true)
    case .tab: focus(1)
    case .backTab: focus(-1)
    case .escape: leave()
    case .click(let row, let column): return click(row, column)
    case .wheelUp(let row, let column): wheel(row, column, -3)
    case .wheelDown(let row, let column): wheel(row, column, 3)
    default: return isInTree ? treeKey(key) : pane == .log ? logKey(key) : deviceKey(key)
    }
    return []
  }

  /// Whether keys apply to the attributes of the visible device.
  private var isInTree: Bool { pane == .tree && devices.shownPeer?.tree.table != nil }

  // MARK: Panes

  private mutating func focus(_ step: Int) {
    let panes: [Pane] = showsLog ? [.devices, .tree, .log] : [.devices, .tree]
    let index = panes.firstIndex(of: pane) ?? 0
    pane = panes[(index + step + panes.count) % panes.count]
  }

  /// Closes the plot or leaves the log or the tree. In the list of devices, clears the filter.
  private mutating func leave() {
    if plotted != nil {
      plotted = nil
    } else if pane == .log {
      pane = .tree
    } else if pane == .tree {
      pane = .devices
    } else {
      setFilter("")
    }
  }

  /// Returns the number of rows by which a key moves the cursor, negative for up. Returns nil for other keys.
  private func distance(_ key: Key, page: Int) -> Int? {
    switch key {
    case .up, "k": -1
    case .down, "j": 1
    case .pageUp, .control("b"): -max(1, page - 1)
    case .pageDown, .control("f"): max(1, page - 1)
    case .home, "g": -1_000_000
    case .end, "G": 1_000_000
    default: nil
    }
  }

  private mutating func deviceKey(_ key: Key) -> [BrowserAction] {
    if let step = distance(key, page: layout.devices.inside) {
      // Scroll the advertisements of a device that is not connected.
      if pane == .tree { scrollDetails(max(-1000, min(1000, step))) } else { moveDevice(step) }
      return []
    }
    switch key {
    case .right where devices.shownPeer?.isConnected != true: pane = .tree
    case .enter, .right: return open()
    case .left: pane = .devices
    case "a" where devices.shownPeer?.isConnected == true: return readAll()
    case "r", "w", "s", "a", " ":
      say(devices.shownPeer?.isConnected == true ? "Press Tab to go to the attributes." : "Press Enter to connect first.")
    default: break
    }
    return []
  }

  private mutating func moveDevice(_ step: Int) {
    let all = devices.matches
    if !all.isEmpty { select(all[max(0, min(all.count - 1, devices.index + step))].peer) }
  }

  private mutating func scrollDetails(_ step: Int) { devices.detailTop = max(0, devices.detailTop + step) }

  private mutating func setFilter(_ text: String) { if let match = devices.setFilter(text) { select(match) } }

  /// Selects the device under the cursor and moves to its tree. Connects if the device has no connection.
  private mutating func open() -> [BrowserAction] {
    guard let peer = devices.shown else { return [] }
    select(peer)
    pane = .tree
    let device = devices.device(peer)
    switch devices.peers[peer]?.state {
    case .connecting, .connected: return []
    case .closed: break
    case nil:
      if let device, device.reports > 0, !device.isConnectable {
        return say("Cannot connect to \(title(of: peer)): it is not connectable.", isProblem: true)
      }
    }
    devices.connecting(peer, name: device?.name)
    return [.connect(peer)]
  }

  private mutating func disconnect() -> [BrowserAction] {
    switch devices.shownPeer?.state {
    case .connecting, .connected: return devices.shown.map { [.disconnect($0)] } ?? []
    case .closed, nil:
      return say("Not connected.")
    }
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
    if isTree(row, column) {
      pane = .tree
      guard plotted == nil, let line = layout.tree.line(atRow: row, column: column), line < layout.treeRows, let peer = devices.shown,
        let tree = devices.peers[peer]?.tree, let target = tree.rows.dropFirst(tree.top + line).first
      else { return [] }
      devices.peers[peer]?.tree.cursor = target.handle
      // A second click on a row acts like Enter.
      return tree.cursor != nil && tree.current?.handle == target.handle ? treeKey(.enter) : []
    }
    pane = .devices
    guard let line = layout.devices.line(atRow: row, column: column), let device = devices.matches.dropFirst(devices.top + line).first
    else { return [] }
    if devices.selected == device.peer { return open() }
    select(device.peer)
    return []
  }

  private mutating func wheel(_ row: Int, _ column: Int, _ step: Int) {
    if let log = layout.log, log.contains(row: row, column: column) {
      self.log.scroll(by: step, seen: log.inside)
    } else if isTree(row, column) {
      if shownHistory != nil {
        scrollHistory(by: step)
      } else if let peer = devices.shown, devices.peers[peer]?.tree.table != nil {
        devices.peers[peer]?.tree.move(by: step)
      } else {
        scrollDetails(step)
      }
    } else {
      moveDevice(step)
    }
  }

  private func isTree(_ row: Int, _ column: Int) -> Bool { layout.isWide ? layout.tree.contains(row: row, column: column) : pane == .tree }

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

  /// Limits the zero-based index of the first visible line of the help, so that the last page is full.
  private func helpTop(_ wanted: Int) -> Int { max(0, min(KeyHelp.lines(width: layout.width - 2).count - (layout.height - 3), wanted)) }

  private mutating func ask(_ prompt: Prompt, _ key: Key) -> [BrowserAction] {
    var prompt = prompt
    let text = prompt.field.text
    switch (key, prompt.purpose) {
    case (.escape, .filter):
      setFilter("")
      overlay = nil
    case (.escape, _):
      returnToOrigin(of: prompt)
      overlay = nil
      return prompt.purpose.isOfPairing ? [.answer(nil)] : []
    case (.enter, .passkey):
      if text.utf8.count == 6 { return answer(text) }
    case ("y", .comparison), ("n", .comparison): return answer(key == "y" ? "yes" : "no")
    case (_, .comparison), (_, .display): break
    case (.character(let digit), .passkey) where !(digit.isASCII && digit.isNumber && text.utf8.count < 6): break
    case (.enter, .filter): overlay = nil
    case (.enter, .search):
      overlay = nil
      if !text.isEmpty, !find(afterCursor: false) { say("Cannot find \"\(text)\" in the tree.", isProblem: true) }
    case (.enter, .trace):
      overlay = nil
      return text.isEmpty ? [] : [.trace(text)]
    case (.enter, .export):
      overlay = nil
      return text.isEmpty ? [] : exported(to: text)
    default:
      guard prompt.field.handle(key) else { return [] }
      overlay = .prompt(prompt)
      if prompt.purpose == .filter { setFilter(prompt.field.text) }
      if prompt.purpose == .search {
        search = prompt.field.text
        returnToOrigin(of: prompt)
        find(afterCursor: false)
      }
    }
    return []
  }

  private mutating func answer(_ text: String) -> [BrowserAction] {
    overlay = nil
    return [.answer(text)]
  }

  private mutating func returnToOrigin(of prompt: Prompt) {
    if let address = devices.shown, let origin = prompt.origin { devices.peers[address]?.tree.restore(origin) }
  }

  private mutating func trace() -> [BrowserAction] {
    if tracing != nil { return [.trace(nil)] }
    overlay = .prompt(Prompt(purpose: .trace, field: LineField("blectl.btsnoop")))
    return []
  }

  private mutating func edit(_ form: WriteForm, _ key: Key) -> [BrowserAction] {
    var form = form
    switch form.handle(key) {
    case .editing: overlay = .form(form)
    case .cancelled: overlay = nil
    case .write(let bytes, let written):
      overlay = nil
      let handle = form.attribute.handle
      var earlier = devices.peers[form.peer]?.written[handle] ?? []
      earlier.removeAll { $0 == written }
      devices.peers[form.peer]?.written[handle] = earlier.suffix(49) + [written]
      devices.peers[form.peer]?.wroteLast.insert(handle)
      return started(form.peer, .write(form.peer, handle, bytes, written.mode))
    }
    return []
  }

  // MARK: The attribute under the cursor

  /// The maximum number of pending requests for each device.
  private static let pendingLimit = 32

  private mutating func treeKey(_ key: Key) -> [BrowserAction] {
    guard let address = devices.shown, let peer = devices.peers[address], let row = peer.tree.current else { return [] }
    func fold(_ wanted: Bool?) { devices.peers[address]?.tree.fold(row, wanted) }
    if let step = distance(key, page: layout.treeRows) {
      devices.peers[address]?.tree.move(by: step)
      return []
    }
    switch key {
    case " ": fold(nil)
    case .right: fold(false)
    case .left:
      switch row {
      case .service(_, isFolded: true): pane = .devices
      case .service: fold(true)
      case .characteristic(let item, _, isFolded: false) where !item.descriptors.isEmpty: fold(true)
      case .include, .characteristic, .descriptor: devices.peers[address]?.tree.moveToParent(of: row)
      }
    case .backspace: pane = .devices
    case .enter where !peer.isConnected:
      devices.connecting(address, name: peer.name)
      return peer.state == .connecting ? [] : [.connect(address)]
    case "h": return showHistory(row, of: address)
    case .enter:
      if case .service = row { fold(nil) } else { return performDefault(row, of: address) }
    case .character(let letter) where "rwsa".contains(letter) && !peer.isConnected: return sayNotConnected(address)
    case "r": return read(row, of: address)
    case "a": return readAll()
    case "w": return write(row, of: address)
    case "s": return subscribe(row, of: address)
    default: break
    }
    return []
  }

  /// Shows the values of a characteristic. Without a value, reads an attribute, or else subscribes to it or opens the form to write it.
  private mutating func performDefault(_ row: TreeRow, of peer: PeerAddress) -> [BrowserAction] {
    guard let item = row.characteristic else { return read(row, of: peer) }
    if devices.peers[peer]?.received[item.valueHandle] != nil { return showHistory(row, of: peer) }
    if item.properties.contains(.read) { return read(row, of: peer) }
    return item.properties.isDisjoint(with: [.notify, .indicate]) ? write(row, of: peer) : subscribe(row, of: peer)
  }

  private mutating func showHistory(_ row: TreeRow, of peer: PeerAddress) -> [BrowserAction] {
    guard let item = row.characteristic, devices.peers[peer]?.received[item.valueHandle] != nil else {
      return say("\(row.characteristic.map(name) ?? "This row") has no values yet.", isProblem: true)
    }
    plotted = .values(ValueHistory(peer: peer, handle: item.valueHandle))
    return []
  }

  private mutating func started(_ peer: PeerAddress, _ action: BrowserAction) -> [BrowserAction] {
    guard devices.peers[peer]?.isConnected == true else { return sayNotConnected(peer) }
    guard let pending = devices.peers[peer]?.pending, pending < Self.pendingLimit else {
      return say("\(Self.pendingLimit) requests are already pending.", isProblem: true)
    }
    devices.peers[peer]?.pending = pending + 1
    return [action]
  }

  private mutating func sayNotConnected(_ peer: PeerAddress) -> [BrowserAction] {
    say("\(title(of: peer)) is not connected. Press Enter to connect.", isProblem: true)
  }

  private mutating func read(_ row: TreeRow, of peer: PeerAddress) -> [BrowserAction] {
    guard let attribute = row.attribute else {
      return say("A \(row.depth == 0 ? "service" : "declaration") has no value. Select a characteristic.")
    }
    if let item = attribute.characteristic, !item.properties.contains(.read) {
      let hint = item.properties.isDisjoint(with: [.notify, .indicate]) ? "" : " Press s to subscribe."
      return say("\(name(item)) is not readable.\(hint)", isProblem: true)
    }
    devices.peers[peer]?.wroteLast.remove(attribute.handle)
    return started(peer, .read(peer, attribute.handle))
  }

  private func name(_ item: Characteristic) -> String { AssignedNumbers.name(of: item.uuid).map { renderer.safe($0) } ?? "\(item.uuid)" }

  private mutating func pair() -> [BrowserAction] {
    guard let peer = devices.shown, devices.shownPeer?.isConnected == true else { return say("Press Enter to connect first.") }
    return started(peer, .pair(peer))
  }

  private mutating func readAll() -> [BrowserAction] { devices.shown.map { started($0, .readAll($0)) } ?? [] }

  private mutating func write(_ row: TreeRow, of peer: PeerAddress) -> [BrowserAction] {
    guard let attribute = row.attribute else { return say("A \(row.depth == 0 ? "service" : "declaration") is not writable.") }
    overlay = .form(WriteForm(attribute, of: peer, earlier: devices.peers[peer]?.written[attribute.handle] ?? []))
    return []
  }

  private mutating func subscribe(_ row: TreeRow, of peer: PeerAddress) -> [BrowserAction] {
    // On a descriptor, subscribe to its characteristic.
    guard let item = row.characteristic ?? devices.peers[peer]?.characteristic(row.handle), row.depth > 0 else {
      return say("Only characteristics send values.")
    }
    if item.properties.isDisjoint(with: [.notify, .indicate]) {
      return say("\(name(item)) sends no notifications.\(item.properties.contains(.read) ? " Press r to read it." : "")", isProblem: true)
    }
    devices.peers[peer]?.wroteLast.remove(item.valueHandle)
    let isOn = devices.peers[peer]?.subscribed.contains(item.valueHandle) == true
    return started(peer, isOn ? .unsubscribe(peer, item.valueHandle) : .subscribe(peer, item.valueHandle))
  }

  // MARK: Copying, plotting, searching

  /// Copies the blectl command for the attribute or device under the cursor to the clipboard of the terminal.
  private mutating func copy() -> [BrowserAction] {
    guard let address = devices.shown else { return say("No device found yet.") }
    guard let command = command(for: address) else { return say("Nothing to copy yet. Write a value first: w", isProblem: true) }
    return [.copy(command)]
  }

  /// Returns nil for an attribute that can only be written and has not been written yet.
  private func command(for address: PeerAddress) -> String? {
    guard pane == .tree, let peer = devices.peers[address], let attribute = peer.tree.current?.attribute else {
      return commandLine.services(address)
    }
    let table = peer.tree.table
    let isReadable = attribute.properties?.contains(.read) ?? true
    let written = peer.written[attribute.handle]?.last
    if let written, peer.wroteLast.contains(attribute.handle) || !isReadable {
      return commandLine.write(address, attribute, written, in: table)
    }
    if peer.subscribed.contains(attribute.handle) { return commandLine.notify(address, attribute, in: table) }
    if isReadable { return commandLine.read(address, attribute, in: table) }
    return attribute.characteristic?.sendsValues == true ? commandLine.notify(address, attribute, in: table) : nil
  }

  private mutating func plot() {
    guard plotted == nil, let address = devices.shown else {
      plotted = nil
      return
    }
    guard pane == .tree, let peer = devices.peers[address], let item = peer.tree.current?.characteristic else {
      plotted = .signal(address)
      return
    }
    if peer.histories[item.valueHandle] == nil {
      say("\(name(item)) has sent no numbers yet.", isProblem: true)
    } else {
      plotted = .value(address, item.valueHandle)
    }
  }

  /// Moves the cursor in the visible tree to the next match of the search text. Returns false if no row matches.
  /// - Parameter afterCursor: Whether the search starts below the row under the cursor, not at that row.
  @discardableResult
  private mutating func find(afterCursor: Bool) -> Bool {
    guard let address = devices.shown, let peer = devices.peers[address] else { return false }
    return devices.peers[address]?.tree.find(search, afterCursor: afterCursor, values: peer.values) == true
  }

  // MARK: The list of values

  /// The list of values on the screen, its values, and their characteristic. Nil if the screen shows no list.
  var shownHistory: (list: ValueHistory, values: Ring<ReceivedValue>, facts: CharacteristicFacts)? {
    guard case .values(let list)? = plotted, let peer = devices.peers[list.peer], let values = peer.received[list.handle],
      let item = peer.characteristic(list.handle)
    else { return nil }
    return (list, values, peer.facts(item))
  }

  private mutating func scrollHistory(by step: Int) {
    guard case (var list, let values, _)? = shownHistory else { return }
    list.scroll(by: step, of: values, rows: layout.tree.inside)
    plotted = .values(list)
  }

  private func exported(to path: String) -> [BrowserAction] {
    guard let (list, values, facts) = shownHistory else { return [] }
    return [.save(list.table(values, facts, of: devices.name(of: list.peer)), path, values.count)]
  }
}
