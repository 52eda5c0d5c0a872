import BluetoothLEDeviceFiles
import TestSupport

/// Device files decode manufacturer data. Hostile data cause no trap and do not hide other data.
@Suite(.timeLimit(.minutes(15))) struct AdvertisingFormatsTests {
  static func formats(_ frame: String, company: String = "0305") throws -> AdvertisingFormats {
    let text = #"{"device": "Made", "advertisement": {"manufacturer_data": {"\#(company)": \#(frame)}}}"#
    return AdvertisingFormats(device: try DeviceFile.parse(Array(text.utf8), name: "made.json"))
  }

  private static func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex) ?? [] }

  private static let bits =
    #"{"bits": [{"name": "alarm", "bit": 0}, {"name": "mode", "bit": 4, "width": 3, "values": {"eco": 5}}], "type": "u8"}"#
  /// Layouts, bytes that fit them, and the decoded fields.
  static let table: [(frame: String, hex: String, fields: [DecodedData.Field])] = [
    (
      #"{"header": "02", "fields": [\#(bits), {"name": "mac", "type": "bytes", "length": 2}]}"#, "0251d10d",
      [
        .init("alarm", .described(.integer(1), unit: nil)), .init("mode", .described(.text("eco"), unit: nil)),
        .init("mac", .described(.bytes([0xD1, 0x0D]), unit: nil)),
      ]
    ),
    (
      #"{"fields": [{"name": "t", "type": "i16le", "scale": 0.1, "unit": "°C"}, {"name": "s", "type": "u8", "values": {"open": 1}}]}"#,
      "fdff01",
      [.init("t", .described(.number(-0.3), unit: "°C")), .init("s", .described(.text("open"), unit: nil))]
    ),
    (
      #"{"fields": [{"name": "a", "type": "u64le"}, {"name": "b", "type": "i64be"}]}"#, "ffffffffffffffff8000000000000000",
      [
        .init("a", .described(.integer(0xFFFF_FFFF_FFFF_FFFF), unit: nil)),
        .init("b", .described(.integer(Int128(Int64.min)), unit: nil)),
      ]
    ),
    (
      #"{"fields": [{"length_of": "t", "type": "u8"}, {"name": "t", "type": "text"}, {"checksum": "sum8"}]}"#, "026162c5",
      [.init("t", .described(.text("ab"), unit: nil))]
    ),
    (
      #"{"fields": [{"count_of": "l", "type": "u8"}, {"name": "l", "list": [{"name": "x", "type": "u8"}]}, {"octets": "ee"}]}"#, "020102ee",
      [.init("l", .described(.list([.object([.init("x", .integer(1))]), .object([.init("x", .integer(2))])]), unit: nil))]
    ),
    (#"{"header": "0203"}"#, "0203", []),
  ]

  @Test(arguments: table) func fields(_ frame: String, _ hex: String, _ fields: [DecodedData.Field]) throws {
    let data = try #require(try Self.formats(frame).described(0x0305, Self.bytes(hex)))
    #expect(data == DecodedData("device_0305", fields, of: "Made"))
  }

  @Test(arguments: [
    (#"{"header": "02", "fields": [{"name": "a", "type": "u8"}]}"#, "0301", PacketFault.foreign),
    (#"{"header": "02", "fields": [{"name": "a", "type": "u8"}]}"#, "02", .cut(1, needs: 2)),
    (#"{"header": "02", "fields": [{"name": "a", "type": "u8"}]}"#, "020101", .tooLong(3, allowed: 2)),
    (#"{"fields": [{"name": "a", "type": "u8"}, {"checksum": "sum8"}]}"#, "0102", .checksum(expected: [1], found: [2])),
    (#"{"fields": [{"name": "t", "type": "text", "length": 1}]}"#, "ff", .text(field: "t", [0xFF])),
    (#"{"fields": [{"length_of": "t", "type": "u8", "add": 3}, {"name": "t", "type": "text"}]}"#, "00", .size(-3)),
    (#"{"fields": [{"length_of": "t", "type": "u8"}, {"name": "t", "type": "text"}]}"#, "ff61", .cut(2, needs: 256)),
  ]) func whatDoesNotFit(_ frame: String, _ hex: String, _ fault: PacketFault) throws {
    let data = try #require(try Self.formats(frame).described(0x0305, Self.bytes(hex)))
    #expect(data == DecodedData("device_0305", [], .frame(fault), of: "Made"))
  }

  /// Cut data are not decoded as whole data, and are not skipped.
  @Test(arguments: table) func everyTruncation(_ frame: String, _ hex: String, _: [DecodedData.Field]) throws {
    let formats = try Self.formats(frame)
    let whole = Self.bytes(hex)
    for count in 0..<whole.count {
      let data = try #require(formats.described(0x0305, Array(whole[..<count])))
      #expect(data.problem != nil && data.fields.isEmpty, "\(count) of \(hex)")
    }
  }

  @Test(arguments: table) func anythingIsReadOrAProblem(_ frame: String, _ hex: String, _: [DecodedData.Field]) throws {
    let formats = try Self.formats(frame)
    var random = SplitMix64(seed: 11)
    for _ in 0..<3000 {
      let start = Self.bytes(hex).prefix(Int.random(in: 0...4, using: &random))
      let bytes = start + (0..<Int.random(in: 0...28, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let data = try #require(formats.described(0x0305, Array(bytes)))
      if data.problem != nil { #expect(data.fields.isEmpty, "\(Hex.encode(bytes))") }
    }
  }

  @Test func besideTheDocumentedFormats() throws {
    let beacon = Self.bytes("0215e2c56db5dffb48d2b060d0f5a71096e000010002c5")
    let formats = try Self.formats(#"{"header": "02", "fields": [{"name": "more", "type": "bytes"}]}"#, company: "004c")
    let both = formats.all(manufacturerData: [(0x004C, beacon), (0x0305, [2, 0])], serviceData: [])
    #expect(both.map(\.format) == ["ibeacon", "device_004c"])
    // Without a file, or for companies that it does not describe, nothing is added.
    #expect(AdvertisingFormats().all(manufacturerData: [(0x004C, beacon)], serviceData: []).map(\.format) == ["ibeacon"])
    #expect(AdvertisingFormats().described(0x0305, [2, 0]) == nil && formats.described(0x0305, [2, 0]) == nil)
    // All data of one company are decoded; an object shows the last.
    let all = formats.all(manufacturerData: [(0x004C, [2, 1]), (0x004C, beacon), (0x004C, [3])], serviceData: [])
    #expect(all.map(\.format) == ["ibeacon", "device_004c", "device_004c", "device_004c"] && all[1].problem == nil)
    let last = DecodedData("device_004c", [], .frame(.foreign), of: "Made")
    #expect(all.last == last && DecodedData.latest(all) == [all[0], last])
  }
}
