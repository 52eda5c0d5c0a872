import Terminal
import Testing

@testable import BluetoothLE
@testable import Browser

/// Every key of the browser, without a terminal.
@Suite(.timeLimit(.minutes(15))) struct BrowserKeyTests {
  typealias Fixture = BrowserFixture

  private let peer = BrowserFixture.peer(0)

  // MARK: Devices

  @Test func movingAmongDevices() {
    var browser = Fixture.browser(devices: 40)
    let order = browser.devices.matches.map(\.peer)
    for (keys, index) in [
      ([Key.down], 1), (["j"], 1), ([.down, .up], 0), ([.down, "k"], 0), ([.up], 0), ([.pageDown], 26),
      ([.pageDown, .pageUp], 0), ([.end], 39), (["G"], 39), ([.end, .home], 0), ([.end, "g"], 0),
      ([.end, .down], 39),
      ([.wheelDown(row: 3, column: 3)], 3), ([.wheelDown(row: 3, column: 3), .wheelUp(row: 3, column: 3)], 0),
      ([.click(row: 4, column: 5)], 3),
    ] {
      browser.press(.home)
      browser.devices.selected = nil
      _ = browser.text()
      for key in keys { browser.press(key) }
      #expect(browser.devices.shown == order[index], "\(keys)")
    }
  }

  @Test func enterConnectsOnce() {
    var browser = Fixture.browser()
    #expect(browser.press(.enter) == [.connect(peer)])
    #expect(browser.pane == .tree && browser.devices.peers[peer]?.state == .connecting)
    browser.press(.escape)
    #expect(browser.pane == .devices)
    #expect(browser.press(.enter) == [])
    browser.connected(peer, mtu: 23, at: Fixture.begin)
    browser.press(.escape)
    #expect(browser.press(.enter) == [] && browser.pane == .tree)
    #expect(browser.press("d") == [.disconnect(peer)])
    browser.closed(peer, nil, at: Fixture.begin)
    #expect(browser.press("d") == [])
    browser.press(.escape)
    #expect(browser.press(.enter) == [.connect(peer)])
  }

  @Test func thePromptsOfAPairing() {
    var browser = Fixture.browser()
    #expect(browser.press("P") == [] && browser.message?.text == "Press Enter to connect first.")
    browser = Fixture.connected()
    #expect(browser.press("P") == [.pair(peer)])
    func ask(_ purpose: Prompt.Purpose) { browser.overlay = .prompt(Prompt(purpose: purpose, field: LineField(), digits: "012345  ")) }
    ask(.passkey)
    for digit in "24x68" { #expect(browser.press(.character(digit)) == []) }
    #expect(browser.press(.enter) == [] && browser.overlay != nil)
    for digit in "100" { #expect(browser.press(.character(digit)) == []) }
    #expect(browser.press(.enter) == [.answer("246810")] && browser.overlay == nil)
    for (purpose, key, answer) in [
      (Prompt.Purpose.comparison, Key.character("y"), "yes"), (.comparison, .character("n"), "no"), (.comparison, .escape, nil),
      (.passkey, .escape, nil), (.display, .escape, nil),
    ] as [(Prompt.Purpose, Key, String?)] {
      ask(purpose)
      #expect(browser.text().last?.contains("012345  \(purpose.rawValue)") == true)
      if purpose != .passkey { #expect(browser.press("x") == [] && browser.press(.enter) == [] && browser.overlay != nil) }
      #expect(browser.press(key) == [.answer(answer)] && browser.overlay == nil, "\(purpose)")
    }
  }

  @Test func aBeaconIsNotConnected() {
    var browser = Browser(isUTF8: true)
    browser.devices.heard(Fixture.report(1, rssi: -50, connectable: false), at: Fixture.begin)
    _ = browser.text()
    #expect(browser.press(.enter) == [])
    #expect(browser.message?.isProblem == true)
  }

  @Test func theMouseChoosesAndOnceMoreConnects() {
    var browser = Fixture.browser()
    let second = browser.devices.matches[1].peer
    #expect(browser.press(.click(row: 2, column: 4)) == [] && browser.devices.shown == second)
    #expect(browser.press(.click(row: 2, column: 4)) == [.connect(second)])
    #expect(browser.press(.click(row: 20, column: 4)) == [])
  }

  @Test func filtering() {
    var browser = Fixture.browser(devices: 8)
    browser.press("/")
    browser.type("panel")
    // The filter applies immediately, so fast typists need not wait for a frame.
    #expect(browser.devices.matches.map(\.peer) == [Fixture.peer(0)])
    browser.press(.enter)
    #expect(browser.text().first?.contains("Devices with \"panel\"") == true)
    browser.press(.escape)
    _ = browser.text()
    #expect(browser.devices.matches.count == 8)
    // Filter by address; Escape in the prompt shows all again.
    browser.press("/")
    browser.type("00:03")
    _ = browser.text()
    #expect(browser.devices.matches.map(\.peer) == [Fixture.peer(3)])
    browser.press(.escape)
    _ = browser.text()
    #expect(browser.devices.matches.count == 8)
  }

  /// The cursor is never on a device that the filter hides. It moves to the first match.
  @Test func filteringMovesTheCursor() {
    var browser = Fixture.browser(devices: 8)
    browser.select(Fixture.peer(3))
    browser.press("/")
    browser.type("panel")
    #expect(browser.devices.shown == Fixture.peer(0))
    #expect(browser.press(.enter, .enter) == [.connect(Fixture.peer(0))])
    // Connected devices pass every filter, but the cursor does not stay on them.
    browser.connected(Fixture.peer(0), mtu: 23, at: Fixture.begin)
    browser.press(.escape, "/", .control("u"))
    browser.type("00:03")
    _ = browser.text()
    #expect(Set(browser.devices.matches.map(\.peer)) == [Fixture.peer(0), Fixture.peer(3)] && browser.devices.shown == Fixture.peer(3))
  }

  @Test func attributeKeysAmongDevicesSayWhereTheyBelong() {
    var browser = Fixture.browser()
    for key in "rwsa " {
      #expect(browser.press(.character(key)) == [])
      #expect(browser.message != nil)
    }
    var connected = Fixture.connected()
    connected.press(.escape)
    #expect(connected.press("a") == [.readAll(peer)])
    #expect(connected.press("r") == [])
  }

  // MARK: The tree

  @Test func movingInTheTree() {
    var browser = Fixture.connected()
    for (keys, handle) in [
      ([Key.down], 3), (["j"], 3), ([.down, .down, .down], 0x12), ([.down, .up], 1), ([.end], 0x24), ([.end, .home], 1),
      (["G", "g"], 1), ([.pageDown], 0x24), ([.pageDown, .pageUp], 1),
      // Left collapses, right expands, Space toggles.
      ([.down, .left], 1), ([.down, .down, .down, .right, .down], 0x13), ([.down, .down, .down, .right, .down, .left], 0x12),
      ([.down, .down, .down, " ", .down, .down], 0x14), ([.down, .down, .down, " ", " ", .down], 0x20),
      // A folded service hides its rows.
      ([.left, .down], 0x10), ([.left, .right, .down], 3), ([.enter, .down], 0x10),
    ] as [([Key], AttributeHandle)] {
      browser = Fixture.connected()
      for key in keys { browser.press(key) }
      #expect(browser.cursor == handle, "\(keys)")
    }
  }

  @Test(
    arguments: [
      (0x03, "r", [BrowserAction.read(BrowserFixture.peer(0), 0x03)]), (0x12, "r", [.read(BrowserFixture.peer(0), 0x12)]),
      (0x14, "r", [.read(BrowserFixture.peer(0), 0x14)]), (0x24, "r", []), (0x22, "r", []), (0x10, "r", []),
      (0x12, "s", [.subscribe(BrowserFixture.peer(0), 0x12)]), (0x13, "s", [.subscribe(BrowserFixture.peer(0), 0x12)]),
      (0x24, "s", [.subscribe(BrowserFixture.peer(0), 0x24)]), (0x22, "s", []), (0x10, "s", []), (0x03, "s", []),
      (0x12, "a", [.readAll(BrowserFixture.peer(0))]), (0x10, "w", []),
    ] as [(AttributeHandle, Character, [BrowserAction])])
  func keysOnAttributes(_ handle: AttributeHandle, _ key: Character, _ actions: [BrowserAction]) {
    var browser = Fixture.at(handle)
    #expect(browser.press(.character(key)) == actions)
    // A key without an action shows a message.
    #expect((browser.message != nil) == actions.isEmpty)
  }

  @Test func enterDoesWhatIsLikely() {
    for (handle, actions) in [
      (0x24, [BrowserAction.subscribe(peer, 0x24)]), (0x14, [.read(peer, 0x14)]),
    ] as [(AttributeHandle, [BrowserAction])] {
      var browser = Fixture.at(handle)
      #expect(browser.press(.enter) == actions)
    }
    var browser = Fixture.at(0x22)
    #expect(browser.press(.enter) == [])
    guard case .form = browser.overlay else {
      Issue.record("no form")
      return
    }
  }

  /// Enter lists the values of a characteristic, the latest first. New values do not move what the user reads.
  @Test func enterListsTheValues() {
    var browser = Fixture.at(0x12)
    for level in 0..<1200 { browser.receive([UInt8(level % 100)], of: 0x12, at: Fixture.begin + Int64(level) * Fixture.second) }
    #expect(browser.press(.enter) == [])
    func rows() -> [String] {
      browser.text().filter { $0.contains(" %  ") }.compactMap { $0.firstMatch(of: /[0-9]+ %/).map { String($0.output) } }
    }
    #expect(browser.text()[0].contains("Battery Level") && browser.text()[0].contains("last 1000 of 1201 values"))
    #expect(rows().prefix(3) == ["99 %", "98 %", "97 %"] && rows().count == browser.layout.tree.inside)
    browser.press(.down)
    browser.receive([7], of: 0x12)
    #expect(rows().prefix(2) == ["98 %", "97 %"])
    browser.press(.end)
    #expect(rows().last == "1 %", "\(rows())")
    // Values that are replaced while they are visible do not make the list shorter.
    for _ in 0..<50 { browser.receive([8], of: 0x12) }
    #expect(rows().count == browser.layout.tree.inside)
    browser.press(.home)
    #expect(rows().first == "8 %")
    browser.press("p")
    #expect(browser.plotted == .value(peer, 0x12))
    browser.press("p", .escape)
    #expect(browser.plotted == nil && Fixture.at(0x24).devices.peers[peer]?.received[0x24] == nil)
  }

  @Test func theListIsExportedAsCSV() {
    var browser = Fixture.at(0x12)
    browser.receive([61], of: 0x12, at: Fixture.begin + 2 * Fixture.second)
    browser.press("h", "e", .control("u"), "x")
    guard case .save(let text, let path, let count)? = browser.press(.enter).first else {
      Issue.record("nothing to save")
      return
    }
    let lines = text.split(separator: "\n")
    #expect(path == "x" && count == 2 && lines.first == "time,name,uuid,handle,value,text,battery_level", "\(text)")
    #expect(lines.count == 3 && lines[1].hasSuffix(",2a19,18,3c,,60") && lines[2].hasSuffix(",2a19,18,3d,,61"), "\(text)")
    var other = Fixture.at(0x24)
    #expect(other.press("h") == [] && other.message?.isProblem == true && other.plotted == nil)
  }

  @Test func subscribedIsEndedByTheSameKey() {
    var browser = Fixture.at(0x12)
    browser.devices.peers[peer]?.subscribed = [0x12]
    #expect(browser.press("s") == [.unsubscribe(peer, 0x12)])
  }

  @Test func aKeyThatIsHeldDownDoesNotPileUp() {
    var browser = Fixture.at(0x12)
    let asked = (0..<100).filter { _ in !browser.press("r").isEmpty }.count
    #expect(asked == 32)
    browser.devices.peers[peer]?.finishRequest()
    #expect(!browser.press("r").isEmpty)
  }

  @Test func afterALossEnterConnectsAndOthersSaySo() {
    var browser = Fixture.at(0x12)
    browser.closed(peer, "lost", at: Fixture.begin)
    // The same before a form opens that could not be sent.
    for key in "rwsa" {
      #expect(browser.press(.character(key)) == [] && browser.overlay == nil)
      #expect(browser.message?.isProblem == true && browser.message?.text.contains("Press Enter to connect.") == true)
    }
    #expect(browser.press(.enter) == [.connect(peer)])
    #expect(browser.press(.enter) == [])
  }

  /// Each letter searches from the start of the search. Items that no longer match are folded again, and Escape restores all.
  @Test func searchingLeavesNothingUnfolded() {
    var browser = Fixture.connected()
    let before = browser.cursor
    browser.press("/")
    browser.type("29")
    #expect(browser.text().contains { $0.contains("Client Ch") })
    browser.press(.backspace)
    browser.type("a19")
    #expect(browser.cursor == 0x12 && !browser.text().contains { $0.contains("Client Ch") })
    browser.press(.escape)
    #expect(browser.cursor == before)
  }

  @Test func searching() {
    var browser = Fixture.connected()
    browser.press("/")
    browser.type("2901")
    browser.press(.enter)
    #expect(browser.cursor == 0x14)
    for (text, handle) in [("ffe", 0x22), ("ffe0", 0x20), ("battery", 0x12), ("main", 0x12), ("0x0024", 0x24)]
      as [(String, AttributeHandle)]
    {
      browser.search = ""
      browser.press(.home, "/")
      browser.type(text)
      browser.press(.enter)
      #expect(browser.cursor == handle, "\(text)")
    }
    browser.search = "ffe"
    browser.press(.home, "n")
    #expect(browser.cursor == 0x20)
    browser.press("n")
    #expect(browser.cursor == 0x22)
    browser.press("n", "n")
    #expect(browser.cursor == 0x20 && browser.hints.contains { $0.key == "n" })
    browser.search = ""
    browser.press("/")
    browser.type("nothing")
    browser.press(.enter)
    #expect(browser.message?.isProblem == true)
  }

  @Test func theMouseInTheTree() {
    var browser = Fixture.connected()
    // Row 1 is the first inside the border.
    #expect(browser.press(.click(row: 2, column: 60)) == [] && browser.cursor == 3)
    #expect(browser.press(.click(row: 2, column: 60)) == [] && browser.plotted == .values(ValueHistory(peer: peer, handle: 3)))
    browser.press(.escape)
    browser.press(.wheelDown(row: 3, column: 60))
    #expect(browser.cursor == 0x20)
  }

  // MARK: Everywhere

  @Test func panesAndTheLog() {
    var browser = Fixture.connected()
    for (key, pane) in [(Key.tab, Browser.Pane.devices), (.tab, .tree), (.backTab, .devices), (.backTab, .tree)] {
      browser.press(key)
      #expect(browser.pane == pane)
    }
    browser.press("l", .tab)
    #expect(browser.showsLog && browser.pane == .log)
    for _ in 0..<100 { browser.record([0x0A, 3, 0], .sent) }
    _ = browser.text()
    for (key, below) in [(Key.up, 1), (.up, 2), (.down, 1), (.pageUp, 7), (.end, 0), (.wheelUp(row: 25, column: 5), 3)] {
      browser.press(key)
      #expect(browser.log.below == below, "\(key)")
    }
    // The text being read stays in place.
    browser.record([0x0A, 3, 0], .sent)
    #expect(browser.log.below == 4)
    browser.press("l")
    #expect(!browser.showsLog && browser.pane == .devices)
  }

  @Test func theLogForgets() {
    var browser = Fixture.connected()
    for _ in 0..<10_000 { browser.record([0x0A, 3, 0], .sent) }
    #expect((BrowserLog.capacity...2 * BrowserLog.capacity).contains(browser.log.entries.count))
  }

  @Test func plotting() {
    var browser = Fixture.at(0x22)
    browser.press("p")
    #expect(browser.plotted == nil && browser.message?.isProblem == true)
    browser.reveal(0x12)
    browser.press("p")
    #expect(browser.plotted == .value(peer, 0x12))
    #expect(browser.text().first?.contains("Panel · Battery Level") == true)
    browser.press("p")
    #expect(browser.plotted == nil)
    browser.press(.escape, "p")
    #expect(browser.plotted == .signal(peer))
    browser.press(.down)
    #expect(browser.plotted == .signal(browser.devices.matches[1].peer))
    browser.press(.escape)
    #expect(browser.plotted == nil)
  }

  @Test func tracing() {
    var browser = Fixture.browser()
    #expect(browser.press("T") == [])
    #expect(browser.text().last?.hasPrefix("trace to file: blectl.btsnoop") == true)
    browser.press(.control("u"))
    browser.type("/tmp/x")
    #expect(browser.press(.enter) == [.trace("/tmp/x")])
    browser.tracing = "/tmp/x"
    #expect(browser.press("T") == [.trace(nil)])
    browser.tracing = nil
    #expect(browser.press("T", .escape) == [])
    #expect(browser.press("T", .control("u"), .enter) == [])
  }

  @Test func helpAndTheEnd() {
    var browser = Fixture.browser()
    browser.press("?")
    #expect(browser.text().first?.contains("Keys") == true)
    browser.press(.down)
    #expect(browser.text().dropFirst().first?.contains("select a device") == true)
    // Any key only closes it.
    #expect(browser.press("q") == [] && browser.overlay == nil)
    #expect(browser.press(.control("l")) == [.redraw])
    #expect(browser.press("q") == [.quit])
    #expect(browser.press(.control("c")) == [.quit])
    #expect(browser.press("Z", .delete, .control("z")) == [])
  }
}
