import Terminal

@testable import BluetoothLE
@testable import Browser

/// Browsers with devices and connections, for tests.
enum BrowserFixture {
  static let second: Int64 = 1_000_000_000
  /// The start time, 2026-01-01T00:00:00Z.
  static let begin: Int64 = 1_767_225_600 * second

  static func peer(_ number: Int) -> PeerAddress { PeerAddress(Address(rawValue: 0xD100_0000_0000 + UInt64(number)), .random) }

  static let names = [
    "Panel", "温度計センサー玄関の外側", "\u{1B}[31mEvil\u{202E}\u{7}\n", "LongSensorNameNumber01", "", "👩‍👩‍👧‍👦 family", "e\u{301}clair", "\u{FF21}\u{FF22}",
  ]

  static func report(_ number: Int, rssi: Int8, name: String? = nil, connectable: Bool = true) -> AdvertisingReport {
    let name = Array((name ?? names[number % names.count]).utf8)
    return AdvertisingReport(
      pdu: connectable ? .connectable : .nonConnectable, isConnectable: connectable, isScannable: connectable, peer: peer(number),
      rssi: rssi,
      data: [2, 1, 6] + [UInt8(name.count + 1), 9] + name)
  }

  static func browser(devices: Int = 3, isUTF8: Bool = true, adapter: String? = nil) -> Browser {
    var browser = Browser(isUTF8: isUTF8, adapter: adapter)
    for number in 0..<devices {
      browser.devices.heard(report(number, rssi: Int8(-40 - number * 7 % 60)), at: begin + Int64(number) * 1_000_000)
    }
    _ = browser.frame(width: 100, height: 30, at: begin + second)
    return browser
  }

  /// 0x0003 Device Name, read · 0x0012 Battery Level, read and notify, with 2902 and 2901 · 0x0022 ffe1, write · 0x0024 ffe2, notify.
  static let table: AttributeTable = {
    var access = Service(uuid: UUID(0x1800), handle: 1, endHandle: 3, isPrimary: true)
    access.characteristics = [Characteristic(uuid: UUID(0x2A00), handle: 2, valueHandle: 3, endHandle: 3, properties: .read)]
    var battery = Service(uuid: UUID(0x180F), handle: 0x10, endHandle: 0x14, isPrimary: true)
    var level = Characteristic(uuid: UUID(0x2A19), handle: 0x11, valueHandle: 0x12, endHandle: 0x14, properties: [.read, .notify])
    level.descriptors = [Descriptor(uuid: UUID(0x2902), handle: 0x13), Descriptor(uuid: UUID(0x2901), handle: 0x14)]
    battery.characteristics = [level]
    var own = Service(uuid: UUID(0xFFE0), handle: 0x20, endHandle: 0x24, isPrimary: false)
    own.includes = [Include(handle: 0x21, startHandle: 0x10, endHandle: 0x14, uuid: UUID(0x180F))]
    own.characteristics = [
      Characteristic(uuid: UUID(0xFFE1), handle: 0x21, valueHandle: 0x22, endHandle: 0x22, properties: .writeWithoutResponse),
      Characteristic(uuid: UUID(0xFFE2), handle: 0x23, valueHandle: 0x24, endHandle: 0x24, properties: .notify),
    ]
    return AttributeTable(services: [access, battery, own])
  }()

  /// Returns a browser connected to the first device, with the cursor in its tree.
  static func connected(isUTF8: Bool = true, adapter: String? = nil, table: AttributeTable = table) -> Browser {
    var browser = browser(isUTF8: isUTF8, adapter: adapter)
    _ = browser.handle(.enter)
    browser.connected(peer(0), mtu: 185, at: begin + second)
    browser.devices.peers[peer(0)]?.tree.update(table)
    browser.receive(Array("Panel".utf8), of: 3, at: begin + second)
    browser.receive([60], of: 0x12, at: begin + second)
    browser.receive(Array("Main \u{1B}cell".utf8), of: 0x14, at: begin + second)
    _ = browser.frame(width: 100, height: 30, at: begin + 2 * second)
    return browser
  }

  /// Returns a connected browser with the cursor on this attribute.
  static func at(_ handle: AttributeHandle) -> Browser {
    var browser = connected()
    browser.reveal(handle)
    return browser
  }
}

extension Browser {
  /// Returns the text of the screen.
  mutating func text(_ width: Int = 100, _ height: Int = 30, at time: Int64 = BrowserFixture.begin + 2 * BrowserFixture.second) -> [String]
  {
    frame(width: width, height: height, at: time).lines.map(\.text)
  }

  /// Presses keys one after the other. - Returns: The actions of the last key.
  @discardableResult
  mutating func press(_ keys: Key...) -> [BrowserAction] {
    var actions: [BrowserAction] = []
    for key in keys { actions = handle(key) }
    return actions
  }

  mutating func reveal(_ handle: AttributeHandle) { devices.peers[BrowserFixture.peer(0)]?.tree.reveal(handle) }

  mutating func receive(_ bytes: [UInt8], of handle: AttributeHandle, at time: Int64 = BrowserFixture.begin) {
    devices.peers[BrowserFixture.peer(0)]?.receive(.success(bytes), of: handle, at: time)
  }

  mutating func record(_ pdu: [UInt8], _ direction: PDUDirection = .received, at time: Int64 = BrowserFixture.begin) {
    log.add(direction, pdu, of: BrowserFixture.peer(0), at: time)
  }

  mutating func type(_ text: String) { for character in text { _ = handle(.character(character)) } }

  var cursor: AttributeHandle? { devices.shownPeer?.tree.cursor }
}
