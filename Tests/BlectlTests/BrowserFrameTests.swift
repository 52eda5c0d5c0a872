import Terminal
import TestSupport

@testable import BluetoothLE
@testable import Browser

/// The browser draws correctly at every size, with any input from the air.
@Suite(.timeLimit(.minutes(15))) struct BrowserFrameTests {
  static let sizes = [(20, 5), (39, 9), (40, 10), (60, 20), (80, 24), (89, 25), (90, 25), (100, 30), (160, 50), (300, 100), (1, 1)]

  /// Returns browsers in all states that look different.
  static func states(isUTF8: Bool) -> [(String, Browser)] {
    var states: [(String, Browser)] = [
      ("empty", Browser(isUTF8: isUTF8)), ("devices", BrowserFixture.browser(devices: 30, isUTF8: isUTF8)),
      ("connected", BrowserFixture.connected(isUTF8: isUTF8)),
    ]
    func add(_ name: String, _ change: (inout Browser) -> Void) {
      var browser = BrowserFixture.connected(isUTF8: isUTF8)
      change(&browser)
      states.append((name, browser))
    }
    add("unfolded") { $0.press(.down, .down, .down, .right, .down, .down) }
    add("descriptor") { $0.reveal(0x14) }
    add("log") { browser in
      browser.press("l")
      for byte in UInt8(0)...40 { browser.record([0x1B, 0x12, 0, byte]) }
      browser.record([0x0A, 3, 0], .sent)
      browser.record([0x01, 0x0A, 3, 0, 2])
      browser.record([0x0B] + Array("\u{1B}]52;c;\u{7}温".utf8))
      for hostile in [[], [0x1B], [0x0B], [0x01, 0x02], [0xFF] + Array("\u{1B}[2J".utf8), [UInt8](repeating: 0x1B, count: 512)] as [[UInt8]]
      { browser.record(hostile) }
    }
    add("form") { browser in
      browser.reveal(0x22)
      browser.press("w")
      browser.type(String(repeating: "0a", count: 200) + "\u{202E}温")
    }
    add("help") { $0.press("?") }
    add("prompt") { browser in
      browser.press("T")
      browser.type(String(repeating: "/long", count: 80) + "温\u{202E}")
    }
    add("filter") { browser in
      browser.press(.tab, "/")
      browser.type("nobody\u{1B}")
    }
    add("plot") { browser in
      browser.reveal(0x12)
      for number in 0..<500 {
        let time = BrowserFixture.begin + Int64(number) * 10_000_000
        browser.receive([UInt8(number % 101)], of: 0x12, at: time)
      }
      browser.press("p")
    }
    add("values") { browser in
      browser.reveal(0x24)
      browser.receive([UInt8](repeating: 0x1B, count: 512), of: 0x24)
      browser.press("h")
    }
    add("signal") { $0.press(.tab, "p") }
    add("lost") { $0.closed(BrowserFixture.peer(0), "the link was lost\u{7}", at: BrowserFixture.begin) }
    add("connecting") { browser in
      browser.press(.escape, .end, .enter)
    }
    add("refused") { browser in
      let error = GATTError.errorResponse(.readNotPermitted, to: .read(3), on: nil)
      browser.devices.peers[BrowserFixture.peer(0)]?.receive(.failure(error), of: 3, at: 0)
    }
    add("long values") { browser in
      browser.receive([UInt8](repeating: 0x41, count: 512), of: 0x24)
      browser.receive([], of: 3)
      browser.reveal(0x24)
    }
    return states
  }

  @Test(arguments: [true, false]) func everyLineHasItsWidthAndNothingEscapes(_ isUTF8: Bool) {
    for (name, browser) in Self.states(isUTF8: isUTF8) {
      for (width, height) in Self.sizes {
        var browser = browser
        let frame = browser.frame(width: width, height: height, at: BrowserFixture.begin + 3 * BrowserFixture.second)
        #expect(frame.lines.count == height, "\(name) \(width)×\(height)")
        for line in frame.lines {
          #expect(DisplayText.width(line.text) == width, "\(name) \(width)×\(height): \(line.text)")
          #expect(DisplayText.isPrintable(Array(line.text.utf8)), "\(name) \(width)×\(height): \(line.text)")
          if !isUTF8 { #expect(line.text.utf8.allSatisfy { $0 < 0x80 }, "\(name): \(line.text)") }
        }
        if let cursor = frame.cursor {
          #expect((0..<height).contains(cursor.row) && (0..<width).contains(cursor.column), "\(name) \(width)×\(height)")
        }
        // A second frame is the same: nothing jumps.
        #expect(browser.frame(width: width, height: height, at: BrowserFixture.begin + 3 * BrowserFixture.second) == frame, "\(name)")
      }
    }
  }

  @Test func tooSmallIsSaidPolitely() {
    var browser = BrowserFixture.browser()
    #expect(browser.text(39, 10).joined(separator: "\n").contains("This window has 39×10."))
    #expect(browser.text(40, 10).first?.contains("Devices") == true)
    // The browser still quits.
    _ = browser.frame(width: 10, height: 3, at: BrowserFixture.begin)
    #expect(browser.press("q") == [.quit])
  }

  @Test func sixtyByTwentyShowsWhatIsNeeded() {
    var browser = BrowserFixture.connected()
    let tree = browser.text(60, 20)
    #expect(tree.first?.contains("Panel · connected 00:00:01") == true, "\(tree)")
    #expect(tree.contains { $0.contains("Main \\x1bcell") && $0.contains("60 %") && $0.contains("3c") }, "\(tree)")
    browser.press(.tab)
    let devices = browser.text(60, 20)
    #expect(devices.contains { $0.contains("● ") && $0.contains("Panel") && $0.contains("D1:00:00:00:00:00 r") }, "\(devices)")
    #expect(devices.contains { $0.contains("\\x1b[31m") }, "\(devices)")
  }

  /// Sentences and hints of the help are never cut at any size, and its last page is full.
  @Test(arguments: [(60, 20), (40, 10), (100, 30)]) func nothingOfTheHelpIsCut(_ width: Int, _ height: Int) {
    var browser = BrowserFixture.connected()
    #expect(browser.text(width, height).last?.contains("…") == false)
    browser.press("?")
    var seen: [String] = []
    for _ in 0..<80 {
      let page = browser.text(width, height)
      #expect(!page.joined().contains("…") && !page.dropFirst().dropLast(2).contains { $0.hasPrefix("└") }, "\(page)")
      for line in page where !seen.contains(line) { seen.append(line) }
      browser.press(.down)
    }
    #expect(seen.contains { $0.contains("reconnect after a") || $0.contains("lost connection") }, "\(seen)")
    #expect(browser.text(width, height)[height - 3].contains("drag."), "\(browser.text(width, height))")
  }

  /// A connected device shows the strength of its link, without an age. The log keeps the device's name after the connection.
  @Test func aLinkIsNoOldAdvertisement() {
    var browser = BrowserFixture.connected()
    var parameters = LinkParameters()
    parameters.rssi = -77
    browser.devices.update(parameters, nil, of: BrowserFixture.peer(0), at: BrowserFixture.begin + 30 * BrowserFixture.second)
    let time = BrowserFixture.begin + 60 * BrowserFixture.second
    #expect(
      browser.text(at: time).contains { $0.hasPrefix("│●  -77 ") && $0.contains("Panel     00:00:00     │") }, "\(browser.text(at: time))")
    browser.devices.connecting(BrowserFixture.peer(1), name: "Other")
    browser.connected(BrowserFixture.peer(1), mtu: 23, at: time)
    browser.closed(BrowserFixture.peer(1), nil, at: time)
    browser.press("l")
    #expect(
      browser.text(at: time).contains { $0.contains("Disconnected from ") && $0.hasPrefix("│00:01:00.000 ") }, "\(browser.text(at: time))")
  }

  @Test(arguments: [(nil, "connected"), (false, "encrypted"), (true, "authenticated")] as [(Bool?, String)])
  func theTitleShowsTheSecurity(_ isAuthenticated: Bool?, _ text: String) {
    var browser = BrowserFixture.connected()
    let security = isAuthenticated.map { LinkSecurity(keySize: 16, isAuthenticated: $0, isSecureConnections: true) }
    browser.devices.update(LinkParameters(), security, of: BrowserFixture.peer(0), at: BrowserFixture.begin)
    let screen = browser.text(at: BrowserFixture.begin)
    #expect(screen.contains { $0.contains(" · \(text) 00:00:00 ") }, "\(screen)")
  }

  @Test func whatIsMeantStandsBesideTheBytesAndTheNameOfTheFirmware() throws {
    var browser = BrowserFixture.at(0x12)
    let screen = browser.text()
    #expect(screen.contains { $0.contains("Main \\x1bcell") && $0.contains("60 %  3c") && $0.contains("00:00:01") }, "\(screen)")
    #expect(screen.contains { $0.contains("Battery Level \"Main \\x1bcell\" 2a19  0x0012  read, notify") }, "\(screen)")
    browser.press(.right, .down, .down)
    #expect(browser.cursor == 0x14)
    #expect(browser.text().contains { $0.contains("Characteristic User Description 2901  0x0014") })
  }

  @Test func aThousandDevicesAndFiveHundredAttributes() throws {
    var browser = BrowserFixture.browser(devices: 1000)
    browser.press(.end)
    let screen = browser.text()
    #expect(screen.first?.contains("974–1000 of 1000") == true, "\(screen.first ?? "")")
    var service = Service(uuid: UUID(0xFFE0), handle: 1, endHandle: 0xFFFF, isPrimary: true)
    service.characteristics = (1...500).map { number in
      let handle = AttributeHandle(clamping: 2 * number)
      return Characteristic(uuid: UUID(0xFF00), handle: handle, valueHandle: handle.next, endHandle: handle.next, properties: .read)
    }
    browser = BrowserFixture.connected(table: AttributeTable(services: [service]))
    browser.press(.end)
    #expect(browser.cursor == 1001)
    #expect(browser.text().contains { $0.contains("ff00 0x03e9") || $0.contains("ff00  0x03e9") })
  }

  @Test func aLossIsShownAndHowToComeBack() {
    var browser = BrowserFixture.connected()
    browser.closed(BrowserFixture.peer(0), "the link was lost", at: BrowserFixture.begin)
    let screen = browser.text()
    #expect(
      screen.first?.contains("Panel · connection lost") == true && screen.last?.hasPrefix("Panel: the link was lost") == true, "\(screen)")
    #expect(screen.contains { $0.contains("│! ") })
    // The values stay, and after some seconds the keys are shown again.
    #expect(screen.contains { $0.contains("60 %") })
    _ = browser.text()
    #expect(browser.text(at: BrowserFixture.begin + 60 * BrowserFixture.second).last?.hasPrefix("Enter reconnect") == true)
  }

  @Test func logSaysWhatAPDUIs() {
    var browser = BrowserFixture.connected()
    browser.press("l")
    let time = BrowserFixture.begin + 5_013_000_000
    browser.record([0x0A, 0x12, 0], .sent, at: time)
    browser.record([0x0B, 60], at: time + 23_000_000)
    browser.record([0x1B, 0x12, 0, 61], at: time + 30_000_000)
    browser.record([0x52, 0x22, 0, 1, 2], .sent, at: time + 40_000_000)
    browser.record([0x01, 0x0A, 3, 0, 2], at: time + 50_000_000)
    browser.record([0xFF], at: time + 60_000_000)
    let screen = browser.text()
    for line in [
      "00:00:05.013 → read request 0x0012 2a19 ", "00:00:05.036 ← read response  3c  60 %  (23 ms) ",
      "00:00:05.043 ← notification 0x0012 2a19  3d  61 % ", "00:00:05.053 → write command 0x0022 ffe1  0102 ",
      "00:00:05.063 ← error response to read request 0x0003: Read Not Permitted (0x02) ", "00:00:05.073 ← opcode 0xff ",
    ] {
      #expect(screen.contains { $0.contains(line) }, "\(line): \(screen)")
    }
  }

  @Test func plotsHaveTheirEnds() {
    let samples: [Plot.Sample] = (0...100).map { (BrowserFixture.begin + Int64($0) * BrowserFixture.second, Double($0)) }
    let now = BrowserFixture.begin + 100 * BrowserFixture.second
    func plot(_ samples: [Plot.Sample], isUTF8: Bool) -> [String] {
      LineRenderer(isUTF8: isUTF8).plot(samples, width: 40, height: 11, now: now).map(\.text)
    }
    let utf8 = plot(samples, isUTF8: true)
    #expect(utf8.count == 11 && utf8[0].hasPrefix("100│") && utf8[9].hasPrefix("  0│"), "\(utf8)")
    #expect(utf8[0].contains { "⠉⠔⡠".contains($0) }, "\(utf8)")
    #expect(utf8[10].hasPrefix("    -100 s") && utf8[10].hasSuffix("now"), "\(utf8)")
    let ascii = plot(samples, isUTF8: false)
    #expect(ascii[0].hasSuffix("*") && ascii[9].dropFirst(4).hasPrefix("*"), "\(ascii)")
    // A constant value has an axis too.
    let flat: [Plot.Sample] = samples.map { ($0.time, 5) }
    #expect(plot(flat, isUTF8: false).contains { $0.hasPrefix("5|**") })
    #expect(plot([], isUTF8: true).first?.hasPrefix("no numbers yet") == true)
  }
}
