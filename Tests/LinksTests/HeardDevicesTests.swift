import TestSupport

/// Tests the two logs for completion. Their contents come from strangers, and their lines may be damaged.
@Suite(.timeLimit(.minutes(15))) struct HeardDevicesTests {
  private typealias Device = HeardDevices.Device
  private typealias Record = HeardDevices.Record

  private func record(_ time: Int64, _ devices: [Device], air: String = "hci") -> Record { Record(air: air, time: time, devices: devices) }

  private func log(_ records: Record...) -> [UInt8] { records.flatMap(\.line) }

  @Test func whatIsWrittenIsRead() {
    let lock = Device(peer(1), name: "$(id)\u{1b}[2J\n\"\\`", rssi: -58)
    let band = Device(PeerAddress(Address(rawValue: 0xC0FF_EE00_0007), .public), name: nil, rssi: nil)
    let (first, second) = (record(10, [lock]), record(20, [band], air: "tcp:rig:7000"))
    let written = log(first, second)
    #expect(written.count { $0 == 0x0A } == 2)
    #expect(HeardDevices(parsing: written).records == [second, first])
    #expect(HeardDevices(parsing: written, air: "hci").records == [first])
    #expect(HeardDevices(parsing: HeardDevices(parsing: written).log) == HeardDevices(parsing: written))
    #expect(HeardDevices(parsing: []).records.isEmpty)
  }

  /// Connected devices come first, then strong ones, then earlier ones. Each appears once, under its latest name.
  @Test func theLatestAndStrongestStandFirst() {
    let heard = HeardDevices(
      parsing: log(
        record(10, [Device(peer(1), name: "Old", rssi: -30), Device(peer(4), name: "Far", rssi: -90)]),
        record(20, [Device(peer(1), name: "One", rssi: -80), Device(peer(2), name: "Two", rssi: -40)]),
        record(30, [Device(peer(1), name: nil, rssi: nil), Device(peer(3), name: nil, rssi: -20)])))
    let devices = heard.records.flatMap(\.devices)
    #expect(devices.map(\.peer) == [peer(1), peer(3), peer(2), peer(4)])
    #expect(devices.map(\.name) == ["One", nil, "Two", "Far"])
    #expect(heard.records.map(\.time) == [30, 20, 10])
  }

  @Test(arguments: [
    "", "{", "null", "[]", "half a li", #"{"heard":1,"air":"hci"}"#, #"{"heard":-1,"air":"hci","devices":[]}"#,
    #"{"heard":1,"devices":[]}"#,
    #"{"heard":1,"air":"hci","devices":[{"peer":"nobody"},{"peer":"D1:00:00:00:00:02"},{"peer":7},null,[],{"name":"x"}]}"#,
    #"{"heard":99999999999999999999,"air":"hci","devices":[{"peer":"D1:00:00:00:00:02/random"}]}"#, "\u{0}\u{FFFD}", "{\"a\":1,\"a\":1}",
    String(repeating: "[", count: 5000),
  ]) func brokenLinesArePassedOver(_ line: String) {
    let (one, two) = (record(1, [Device(peer(1), name: "One", rssi: -1)]), record(2, [Device(peer(3), name: "Three", rssi: -2)]))
    #expect(HeardDevices(parsing: log(one) + line.utf8 + [0x0A] + log(two) + line.utf8).records == [two, one])
    #expect(KnownAttributes(parsing: Array(line.utf8)).records.isEmpty)
  }

  /// The log stays short, whatever the number and names of devices.
  @Test func theLogStaysShort() {
    var written: [UInt8] = []
    for time in 0..<20 {
      let devices: [Device] = (0..<1000).map {
        Device(peer(UInt64(time * 1000 + $0)), name: UntrustedText(String(repeating: "\u{1}", count: 64)), rssi: Int8(-1 - $0 % 100))
      }
      let record = record(Int64(time), devices)
      #expect(record.devices.count == HeardDevices.capacity && record.devices.allSatisfy { $0.rssi ?? 0 > -15 })
      written += record.line
    }
    let heard = HeardDevices(parsing: written)
    #expect(heard.records.map(\.time) == [19] && heard.records[0].devices.count == HeardDevices.capacity)
    #expect(heard.log.count < 64 << 10)
    #expect(Device(peer(1), name: UntrustedText(String(repeating: "n", count: 65)), rssi: 0).name == nil)
  }

  // MARK: Attributes

  private func attributes(_ number: UInt64, count: Int = 1, name: UntrustedText? = nil, selector: PeerSelector? = nil, air: String = "hci")
    -> KnownAttributes.Record
  {
    let uuid = UUID("6e400001-b5a3-f393-e0a9-e50e24dcca9e") ?? UUID(0)
    return .init(
      air: air, peer: peer(number), name: name, selector: selector,
      items: (0..<count).map {
        .init(service: uuid, uuid: uuid, handle: .init(rawValue: UInt16($0 + 1)), properties: [.read, .notify])
      })
  }

  @Test func attributesAreFoundByWhatNamesTheDevice() {
    let mac = PeerSelector.mac(Address(rawValue: 0xA4C1_3800_1122))
    let records = [attributes(1, name: "Band \"7\""), attributes(2, selector: mac), attributes(1, count: 3, air: "unix:/x")]
    let written = records.flatMap(\.line)
    #expect(KnownAttributes(parsing: written).records == records.reversed())
    #expect(KnownAttributes(parsing: KnownAttributes(parsing: written).log) == KnownAttributes(parsing: written))
    func found(_ selector: PeerSelector, air: String = "hci") -> KnownAttributes.Record? {
      KnownAttributes(parsing: written, limit: 1) { $0.air == air && $0.isMeant(by: selector) }.records.first
    }
    #expect(found(.name("band*")) == records[0] && found(.address(peer(1).address, nil)) == records[0] && found(mac) == records[1])
    #expect(found(.address(peer(1).address, nil), air: "unix:/x") == records[2])
    #expect(found(.name("Lock")) == nil && found(.address(peer(1).address, .public)) == nil)
  }

  /// Descriptions are kept with their attributes, unless they are too long or not a valid format.
  @Test func attributesHaveTheirDescriptions() throws {
    let format = try #require(PresentationFormat([0x0E, 0xFE, 0x2F, 0x27, 1, 0, 0]))
    func record(_ name: String?, _ formats: [PresentationFormat]) -> KnownAttributes.Record {
      let uuid = UUID(0xFFE1)
      let description = ValueDescription(userDescription: name, formats: formats)
      let item = KnownAttributes.Item(service: uuid, uuid: uuid, handle: 7, properties: .read, description: description)
      return .init(air: "hci", peer: peer(1), name: nil, selector: nil, items: [item])
    }
    let whole = record("Door\n\"1\"", [format, format])
    #expect(KnownAttributes(parsing: whole.line).records == [whole] && whole.items[0].description.formats.count == 2)
    let long = record(String(repeating: "n", count: 65), Array(repeating: format, count: 9))
    #expect(KnownAttributes(parsing: long.line).records == [record(nil, [])])
    let broken = String(decoding: whole.line, as: UTF8.self).replacing("0efe2f27000000\"]", with: "0efe\"]")
    #expect(KnownAttributes(parsing: Array(broken.utf8)).records == [record("Door\n\"1\"", [])])
  }

  /// The log of attributes stays short, even with many devices and many attributes.
  @Test func theLogOfAttributesStaysShort() {
    let written = (0..<100).flatMap { attributes(UInt64($0), count: 5000).line }
    let known = KnownAttributes(parsing: written)
    #expect(known.records.count == KnownAttributes.capacity && known.records[0].items.count == KnownAttributes.longest)
    #expect(known.log.count < 64 << 10)
    #expect(KnownAttributes(parsing: known.log).records.first == known.records.first)
  }
}

func peer(_ number: UInt64) -> PeerAddress { PeerAddress(Address(rawValue: 0xD1_00_00_00_00_00 + number), .random) }
