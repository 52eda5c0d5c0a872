import Bluetooth
import GATT
import Terminal

/// Handles the keys for the attribute under the cursor.
extension Browser {
  /// The maximum number of pending requests per device, so that holding a key down does not fill the memory.
  private static let pendingLimit = 32

  mutating func treeKey(_ key: Key) -> [BrowserAction] {
    guard let address = shown, var peer = peers[address], let row = peer.current else { return [] }
    defer { peers[address]?.place = peer.place }
    let page = max(1, treeRoom - 1)
    switch key {
    case .up, .character("k"): peer.move(by: -1)
    case .down, .character("j"): peer.move(by: 1)
    case .pageUp, .control("b"): peer.move(by: -page)
    case .pageDown, .control("f"): peer.move(by: page)
    case .home, .character("g"): peer.move(by: -1_000_000)
    case .end, .character("G"): peer.move(by: 1_000_000)
    case .character(" "): peer.fold(row, nil)
    case .right: peer.fold(row, false)
    case .left:
      switch row {
      case .service(_, isFolded: true): pane = .devices
      case .service: peer.fold(row, true)
      case .characteristic(let item, _, isFolded: false) where !item.descriptors.isEmpty: peer.fold(row, true)
      case .include, .characteristic, .descriptor: peer.cursor = peer.parent(of: row)?.handle ?? peer.cursor
      }
    case .backspace: pane = .devices
    case .enter where !peer.isConnected:
      connecting(address, name: peer.name)
      return peers[address]?.state == peer.state ? [] : [.connect(address)]
    case .enter:
      if case .service = row {
        peer.fold(row, nil)
        return []
      }
      peers[address]?.place = peer.place
      return mostLikely(row, of: address)
    case .character(let letter) where "rwsa".contains(letter) && !peer.isConnected: sayNotConnected(address)
    case .character("r"): return read(row, of: address)
    case .character("a"): return readAll()
    case .character("w"): return write(row, of: address)
    case .character("s"): return subscribe(row, of: address)
    default: break
    }
    return []
  }

  /// Performs the first action that the properties allow: read, subscribe or write.
  private mutating func mostLikely(_ row: TreeRow, of peer: PeerAddress) -> [BrowserAction] {
    guard let item = row.characteristic else { return read(row, of: peer) }
    if item.properties.contains(.read) { return read(row, of: peer) }
    return item.properties.isDisjoint(with: [.notify, .indicate]) ? write(row, of: peer) : subscribe(row, of: peer)
  }

  mutating func started(_ peer: PeerAddress, _ action: BrowserAction) -> [BrowserAction] {
    guard peers[peer]?.isConnected == true else {
      sayNotConnected(peer)
      return []
    }
    guard let pending = peers[peer]?.pending, pending < Self.pendingLimit else {
      say("\(Self.pendingLimit) requests are already pending.", isProblem: true)
      return []
    }
    peers[peer]?.pending = pending + 1
    return [action]
  }

  private mutating func sayNotConnected(_ peer: PeerAddress) {
    say("\(title(of: peer)) is not connected. Press Enter to connect.", isProblem: true)
  }

  private mutating func read(_ row: TreeRow, of peer: PeerAddress) -> [BrowserAction] {
    guard let attribute = row.attribute else {
      say("A \(row.depth == 0 ? "service" : "declaration") has no value. Select a characteristic.")
      return []
    }
    if let item = attribute.characteristic, !item.properties.contains(.read) {
      let hint = item.properties.isDisjoint(with: [.notify, .indicate]) ? "" : " Press s to subscribe."
      say("\(name(item)) is not readable.\(hint)", isProblem: true)
      return []
    }
    peers[peer]?.wroteLast.remove(attribute.handle)
    return started(peer, .read(peer, attribute.handle))
  }

  private func name(_ item: Characteristic) -> String { AssignedNumbers.name(of: item.uuid).map { pen.safe($0) } ?? "\(item.uuid)" }

  mutating func readAll() -> [BrowserAction] { shown.map { started($0, .readAll($0)) } ?? [] }

  private mutating func write(_ row: TreeRow, of peer: PeerAddress) -> [BrowserAction] {
    guard let attribute = row.attribute else {
      say("A \(row.depth == 0 ? "service" : "declaration") is not writable.")
      return []
    }
    overlay = .form(WriteForm(attribute, of: peer, earlier: peers[peer]?.written[attribute.handle] ?? []))
    return []
  }

  private mutating func subscribe(_ row: TreeRow, of peer: PeerAddress) -> [BrowserAction] {
    // On a descriptor, subscribe to its characteristic.
    guard let item = row.characteristic ?? peers[peer]?.characteristic(row.handle), row.depth > 0 else {
      say("Only characteristics send values.")
      return []
    }
    if item.properties.isDisjoint(with: [.notify, .indicate]) {
      say("\(name(item)) sends no notifications.\(item.properties.contains(.read) ? " Press r to read it." : "")", isProblem: true)
      return []
    }
    peers[peer]?.wroteLast.remove(item.valueHandle)
    let isOn = peers[peer]?.subscribed.contains(item.valueHandle) == true
    return started(peer, isOn ? .unsubscribe(peer, item.valueHandle) : .subscribe(peer, item.valueHandle))
  }

  // MARK: Copying, plotting, searching

  /// Copies the command line for the item under the cursor.
  mutating func copy() -> [BrowserAction] {
    guard let text = commandUnderCursor() else {
      say("No device found yet.")
      return []
    }
    return [.copy(text)]
  }

  private mutating func commandUnderCursor() -> String? {
    guard let address = shown else { return nil }
    guard pane == .tree, var peer = peers[address], let row = peer.current, let attribute = row.attribute else {
      return commandLine.services(address)
    }
    let properties = attribute.properties
    if let written = peer.written[attribute.handle]?.last, peer.wroteLast.contains(attribute.handle) || properties?.contains(.read) == false
    {
      return commandLine.write(address, attribute, written, in: peer.table)
    }
    if peer.subscribed.contains(attribute.handle) { return commandLine.notify(address, attribute, in: peer.table) }
    guard let properties, !properties.contains(.read) else { return commandLine.read(address, attribute, in: peer.table) }
    if !properties.isDisjoint(with: [.notify, .indicate]) { return commandLine.notify(address, attribute, in: peer.table) }
    let example = BrowserPeer.Written(format: "hex", text: "00", mode: .auto)
    return commandLine.write(address, attribute, example, in: peer.table)
  }

  mutating func plot() {
    guard plotted == nil else {
      plotted = nil
      return
    }
    guard let address = shown else { return }
    if pane == .tree, var peer = peers[address], let item = peer.current?.characteristic {
      guard peer.histories[item.valueHandle] != nil else {
        say("\(name(item)) has sent no numbers yet.", isProblem: true)
        return
      }
      plotted = .value(address, item.valueHandle)
    } else {
      plotted = .signal(address)
    }
  }

  /// Finds the next row whose name, UUID or handle contains the text, also in folded rows. Continues at the top.
  /// - Parameter after: Whether to skip the row under the cursor.
  @discardableResult
  mutating func findNext(after: Bool) -> Bool {
    guard !search.isEmpty, let address = shown, var peer = peers[address], let table = peer.table else { return false }
    let all = TreeRow.rows(table, isFolded: { _ in false }, isUnfolded: { _ in true })
    guard !all.isEmpty else { return false }
    let start = all.firstIndex { $0.handle == (peer.cursor ?? all[0].handle) } ?? 0
    let wanted = search.lowercased()
    for step in (after ? 1 : 0)...all.count {
      let row = all[(start + step) % all.count]
      guard TreeText.words(row, peer).contains(where: { $0.lowercased().contains(wanted) }) else { continue }
      peer.reveal(row.handle)
      peers[address]?.place = peer.place
      return true
    }
    return false
  }
}
