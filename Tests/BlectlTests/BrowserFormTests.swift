import Terminal
import Testing

@testable import BluetoothLE
@testable import Browser

/// Forms of the browser, and the equivalent command lines.
@Suite(.timeLimit(.minutes(15))) struct BrowserFormTests {
  typealias Fixture = BrowserFixture

  private let peer = BrowserFixture.peer(0)

  // MARK: Writing

  @Test func writing() {
    var browser = Fixture.at(0x22)
    browser.press("w")
    browser.type("01 0")
    browser.press(.backspace, .backspace)
    browser.type("ff")
    #expect(browser.press(.enter) == [.write(peer, 0x22, [1, 0xFF], .auto)])
    // The history has the written value and the unfinished one.
    browser.press("w", .up)
    #expect(browser.text().contains { $0.contains("value   01ff") && $0.contains("earlier value 1 of 1") })
    browser.press(.down, "7")
    #expect(browser.press(.enter) == [.write(peer, 0x22, [7], .auto)])
    // Another format and mode.
    browser.press("w", .tab, .right, .tab, .right, .backTab, "u", .tab, .tab)
    browser.type("300")
    #expect(browser.text().contains { $0.contains("blectl write D1:00:00:00:00:00/random ffe1 --as u") })
    browser.press(.escape)
    #expect(browser.overlay == nil)
  }

  @Test(
    arguments: [
      ("hex", "0100", [1, 0]), ("utf8", "AT", [0x41, 0x54]), ("u16le", "258", [2, 1]), ("i8", "-1", [255]), ("base64", "AQI=", [1, 2]),
    ] as [(String, String, [UInt8])])
  func formats(_ format: String, _ text: String, _ bytes: [UInt8]) {
    let attribute = BrowserFixture.table.attribute(at: 0x22)
    var form = WriteForm(attribute, of: peer, earlier: [WrittenValue(format: format, text: "x", mode: .command)])
    for character in text { _ = form.handle(.character(character)) }
    #expect(form.handle(.enter) == .write(bytes, WrittenValue(format: format, text: text, mode: .command)))
  }

  @Test func wrongValuesStayInTheForm() {
    var form = WriteForm(BrowserFixture.table.attribute(at: 0x22), of: peer, earlier: [])
    _ = form.handle("x")
    #expect(form.handle(.enter) == .editing && form.problem?.contains("Invalid hex") == true)
    _ = form.handle(.backspace)
    // An empty value is more often a slip than intended.
    #expect(form.handle(.enter) == .editing && form.problem?.contains("empty") == true)
    #expect(form.handle(.enter) == .write([], WrittenValue(format: "hex", text: "", mode: .auto)))
    #expect(form.handle(.escape) == .cancelled)
  }

  // MARK: The command that does the same

  @Test func copying() {
    func copied(_ change: (inout Browser) -> Void) -> String? {
      var browser = Fixture.connected(adapter: "sim")
      change(&browser)
      guard case .copy(let text)? = browser.press("y").first else { return nil }
      return text
    }
    let address = "D1:00:00:00:00:00/random"
    let devices = copied { $0.press(.tab) }
    #expect(devices == "blectl -i sim services \(address) --values")
    func at(_ handle: AttributeHandle) -> (inout Browser) -> Void { { $0.reveal(handle) } }
    #expect(copied(at(0x10)) == "blectl -i sim services \(address) --values")
    #expect(copied(at(0x12)) == "blectl -i sim read \(address) 2a19")
    #expect(copied(at(0x14)) == "blectl -i sim read \(address) 2a19@2901")
    #expect(copied(at(0x24)) == "blectl -i sim notify \(address) ffe2")
    #expect(copied(at(0x22)) == nil)
    let written = copied {
      at(0x22)(&$0)
      $0.press("w", .tab, .right, .backTab)
      $0.type("it's")
      $0.press(.enter)
    }
    #expect(written == "blectl -i sim write \(address) ffe1 --as utf8 'it'\\''s'")
  }

  /// Selectors of attributes with the same UUID include the service or the handle.
  @Test func selectorsMeanOneAttribute() throws {
    var services: [Service] = []
    for (number, uuid) in [(0, 0x180F), (1, 0xFFE0), (2, 0xFFE0)] as [(Int, UInt32)] {
      let handle = AttributeHandle(clamping: 0x10 + 8 * number)
      var service = Service(uuid: UUID(uuid), handle: handle, endHandle: AttributeHandle(clamping: handle.number + 7), isPrimary: true)
      service.characteristics = [
        Characteristic(
          uuid: UUID(0x2A19), handle: handle.next, valueHandle: handle.next.next, endHandle: service.endHandle, properties: .read)
      ]
      services.append(service)
    }
    let table = AttributeTable(services: services)
    let texts = [0x12, 0x1A, 0x22].map { BrowserCommandLine.selector(table.attribute(at: $0), in: table) }
    #expect(texts == ["180f/2a19", "0x001a", "0x0022"])
  }

  @Test func editing() {
    for (keys, text, cursor) in [
      (["a", "b"], "oneab", 5), ([.home, "x"], "xone", 1), ([.left, .backspace], "oe", 1),
      ([.left, .delete], "on", 2), ([.control("a"), .control("k")], "", 0), ([.control("u")], "", 0), ([.control("w")], "", 0),
      ([.left, .left, .left, .left], "one", 0), ([.right], "one", 3), ([.home, .end], "one", 3), ([.home, .backspace], "one", 0),
      ([.end, .delete], "one", 3),
    ] as [([Key], String, Int)] {
      var field = LineField("one")
      let areTaken = keys.map { field.handle($0) }
      #expect(areTaken.allSatisfy { $0 })
      #expect(field.text == text && field.cursor == cursor, "\(keys)")
    }
    var field = LineField()
    let others = [Key.up, .click(row: 1, column: 1), .enter].map { field.handle($0) }
    #expect(others == [false, false, false])
  }
}
