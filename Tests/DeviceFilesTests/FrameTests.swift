import BluetoothLEDeviceFiles
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct FrameTests {
  /// Returns the frame that command `c` of a file writes.
  private func frame(_ text: String) throws -> Frame {
    let file = #"{"device": "D", "to": "ff02", "commands": {"c": {"request": \#(text)}}}"#
    return try #require(try DeviceFile.parse(Array(file.utf8), name: "x.json").command("c")).request
  }

  private func values(_ pairs: (String, DeviceValue)...) -> [NamedValue] { pairs.map { NamedValue($0.0, $0.1) } }

  /// Frames with their values and bytes, checked in both directions.
  private static let table: [(String, [NamedValue], String)] = [
    (#"{"header": "1b9901"}"#, [], "1b9901"),
    (#"{"header": "56", "fields": [{"octets": "7b"}], "trailer": "3b"}"#, [], "567b3b"),
    (
      #"{"fields": [{"name": "a", "type": "u8"}, {"name": "b", "type": "i8"}]}"#, [.init("a", .integer(255)), .init("b", .integer(-1))],
      "ffff"
    ),
    (
      #"{"fields": [{"name": "a", "type": "u16le"}, {"name": "b", "type": "u16be"}]}"#,
      [.init("a", .integer(258)), .init("b", .integer(258))], "02010102"
    ),
    (
      #"{"fields": [{"name": "a", "type": "i24be"}, {"name": "b", "type": "i32le"}]}"#,
      [.init("a", .integer(-2)), .init("b", .integer(-2))], "fffffefeffffff"
    ),
    (
      #"{"fields": [{"name": "a", "type": "u64le"}, {"name": "b", "type": "i64be"}]}"#,
      [.init("a", .integer(0xFFFF_FFFF_FFFF_FFFE)), .init("b", .integer(Int128(Int64.min)))], "feffffffffffffff8000000000000000"
    ),
    (
      #"{"fields": [{"name": "a", "type": "f32le"}, {"name": "b", "type": "f64be"}]}"#,
      [.init("a", .number(1.5)), .init("b", .number(-2))], "0000c03fc000000000000000"
    ),
    (#"{"fields": [{"name": "a", "type": "f32le"}]}"#, [.init("a", .number(1.1))], "cdcc8c3f"),
    (#"{"fields": [{"name": "a", "type": "u16le", "scale": 0.01, "offset": -40}]}"#, [.init("a", .number(-39.63))], "2500"),
    (#"{"fields": [{"name": "t", "type": "i16le", "scale": 0.1, "unit": "°C"}]}"#, [.init("t", .number(-0.3))], "fdff"),
    (#"{"fields": [{"name": "t", "type": "u8", "offset": -40}]}"#, [.init("t", .number(-40))], "00"),
    (#"{"fields": [{"name": "s", "type": "u8", "values": {"open": 1, "shut": 0}}]}"#, [.init("s", .text("open"))], "01"),
    (#"{"fields": [{"name": "s", "type": "u8", "values": {"open": 1, "shut": 0}}]}"#, [.init("s", .integer(7))], "07"),
    (
      #"{"fields": [{"bits": [{"name": "on", "bit": 0}, {"name": "mode", "bit": 4, "width": 3, "values": {"eco": 5}}], "type": "u16be"}]}"#,
      [.init("on", .integer(1)), .init("mode", .text("eco"))], "0051"
    ),
    (
      #"{"fields": [{"name": "t", "type": "text", "length": 4}, {"name": "b", "type": "bytes", "length": 2}]}"#,
      [.init("t", .text("ab")), .init("b", .bytes([1, 2]))], "616200000102"
    ),
    (#"{"fields": [{"name": "t", "type": "text"}, {"checksum": "xor8"}]}"#, [.init("t", .text("ab"))], "616203"),
    (
      #"{"fields": [{"length_of": "t", "type": "u8"}, {"name": "t", "type": "text"}, {"name": "b", "type": "bytes"}]}"#,
      [.init("t", .text("ab")), .init("b", .bytes([9]))], "02616209"
    ),
    (#"{"fields": [{"length_of": "t", "type": "u16be", "add": 3}, {"name": "t", "type": "text"}]}"#, [.init("t", .text("ab"))], "00056162"),
    (
      #"{"fields": [{"count_of": "l", "type": "u8"}, {"name": "l", "type": "u16le"}]}"#, [.init("l", .list([.integer(1), .integer(2)]))],
      "0201000200"
    ),
    (
      #"{"fields": [{"length_of": "l", "type": "u8"}, {"name": "l", "type": "u16le"}]}"#, [.init("l", .list([.integer(1), .integer(2)]))],
      "0401000200"
    ),
    (#"{"fields": [{"name": "l", "type": "u8", "count": 3}]}"#, [.init("l", .list([.integer(1), .integer(2), .integer(3)]))], "010203"),
    (#"{"fields": [{"name": "l", "type": "u8", "count": "rest"}, {"octets": "ff"}]}"#, [.init("l", .list([]))], "ff"),
    (
      #"{"fields": [{"name": "l", "list": [{"name": "x", "type": "u8"}, {"octets": "00"}, {"name": "y", "type": "u8"}]}]}"#,
      [
        .init(
          "l",
          .list([
            .object([.init("x", .integer(1)), .init("y", .integer(2))]), .object([.init("x", .integer(3)), .init("y", .integer(4))]),
          ]))
      ],
      "010002030004"
    ),
    (
      #"{"header": "5d", "fields": [{"name": "a", "type": "u8", "at": 3}, {"skip": 1}, {"name": "b", "type": "u8"}]}"#,
      [.init("a", .integer(1)), .init("b", .integer(2))], "5d0000010002"
    ),
    (
      #"{"header": "5d", "fields": [{"length_of": "all", "type": "u8"}, {"name": "b", "type": "bytes"}]}"#, [.init("b", .bytes([1, 2]))],
      "5d040102"
    ),
    (
      #"{"header": "5d", "fields": [{"length_of": "rest", "type": "u8", "add": -1}, {"name": "b", "type": "bytes"}]}"#,
      [.init("b", .bytes([1, 2]))], "5d010102"
    ),
    (#"{"fields": [{"name": "k", "type": "u8", "value": 7}, {"name": "v", "type": "u8"}]}"#, [.init("v", .integer(1))], "0701"),
    // Checksums: range, combination, byte order.
    (#"{"header": "5d0801", "fields": [{"checksum": "sum8", "xor": 0x5d}]}"#, [], "5d08013b"),
    (#"{"header": "010203", "fields": [{"checksum": "sum8_complement"}]}"#, [], "010203fa"),
    (#"{"header": "ff010203", "fields": [{"checksum": "sum8", "from": 1}], "trailer": "3b"}"#, [], "ff010203063b"),
    (#"{"header": "01", "fields": [{"checksum": "sum8", "over": "after"}], "trailer": "0203"}"#, [], "01050203"),
    (#"{"header": "01", "fields": [{"checksum": "sum8", "over": "all", "until": 1}], "trailer": "02ff"}"#, [], "010302ff"),
    (#"{"fields": [{"octets": {"utf8": "123456789"}}, {"checksum": "CRC-16/MODBUS"}]}"#, [], "313233343536373839374b"),
    (#"{"fields": [{"octets": {"utf8": "123456789"}}, {"checksum": "crc-16/modbus", "order": "big"}]}"#, [], "3132333435363738394b37"),
    (#"{"fields": [{"octets": {"utf8": "123456789"}}, {"checksum": "CRC-32", "order": "big"}]}"#, [], "313233343536373839cbf43926"),
    (#"{"fields": [{"octets": {"utf8": "123456789"}}, {"checksum": "CRC-8/SMBUS", "xor": 1}]}"#, [], "313233343536373839f5"),
  ]

  @Test(arguments: table.indices) func bothWays(_ index: Int) throws {
    let (text, values, hex) = Self.table[index]
    let frame = try frame(text)
    let packet = try frame.encode(values)
    #expect(Hex.encode(packet) == hex)
    #expect(try frame.decode(packet) == values)
    // A cut packet never decodes to these values.
    for count in 0..<packet.count { #expect((try? frame.decode(Array(packet.prefix(count)))) != values) }
  }

  /// Frames, bytes and faults.
  private static let faults: [(String, String, PacketFault)] = [
    (#"{"header": "567b", "fields": [{"name": "a", "type": "u8"}]}"#, "567c01", .foreign),
    (#"{"header": "567b", "fields": [{"name": "a", "type": "u8"}]}"#, "567b", .cut(2, needs: 3)),
    (#"{"header": "567b", "fields": [{"name": "a", "type": "u8"}]}"#, "", .cut(0, needs: 3)),
    (#"{"header": "567b", "fields": [{"name": "a", "type": "u8"}]}"#, "567b0102", .tooLong(4, allowed: 3)),
    (
      #"{"header": "56", "fields": [{"name": "a", "type": "u8"}, {"checksum": "sum8"}]}"#, "560158",
      .checksum(expected: [0x57], found: [0x58])
    ),
    (
      #"{"header": "56", "fields": [{"name": "a", "type": "bytes"}], "trailer": "3b"}"#, "5601",
      .bytes(offset: 1, expected: [0x3B], found: [1])
    ),
    (#"{"fields": [{"name": "a", "type": "bytes"}], "trailer": "3b3b"}"#, "3b", .cut(1, needs: 2)),
    (#"{"fields": [{"length_of": "all", "type": "u8"}, {"name": "a", "type": "bytes"}]}"#, "05ff", .cut(2, needs: 5)),
    (#"{"fields": [{"length_of": "all", "type": "u8"}, {"name": "a", "type": "bytes"}]}"#, "02ffff", .tooLong(3, allowed: 2)),
    (#"{"fields": [{"length_of": "a", "type": "u8"}, {"name": "a", "type": "bytes"}]}"#, "05ff", .cut(2, needs: 6)),
    (#"{"fields": [{"length_of": "a", "type": "u8", "add": 2}, {"name": "a", "type": "bytes"}]}"#, "01", .size(-1)),
    (
      #"{"fields": [{"length_of": "a", "type": "u64be"}, {"name": "a", "type": "bytes"}]}"#, "ffffffffffffffff",
      .size(0xFFFF_FFFF_FFFF_FFFF)
    ),
    (#"{"fields": [{"count_of": "a", "type": "u32be"}, {"name": "a", "type": "u64le"}]}"#, "00010000", .cut(4, needs: 524_292)),
    (#"{"fields": [{"length_of": "a", "type": "u8"}, {"name": "a", "type": "u16le"}]}"#, "03000000", .size(3)),
    (#"{"fields": [{"name": "a", "type": "u16le", "count": "rest"}]}"#, "010203", .cut(3, needs: 4)),
    (#"{"fields": [{"name": "a", "type": "text"}]}"#, "ff", .text(field: "a", [0xFF])),
    (
      #"{"fields": [{"name": "a", "type": "text", "values": ["OPEN", "FAIL"], "length": 4}]}"#, "4f504f4e",
      .text(field: "a", [0x4F, 0x50, 0x4F, 0x4E])
    ),
  ]

  @Test(arguments: faults.indices) func fault(_ index: Int) throws {
    let (text, hex, fault) = Self.faults[index]
    let frame = try frame(text)
    #expect(throws: fault) { try frame.decode(try #require(Hex.decode(hex))) }
  }

  /// Frames, values and errors.
  private static let wrongValues: [(String, String, String)] = [
    (#"{"fields": [{"name": "a", "type": "u8"}]}"#, "256", "a: 256 is out of range (0 to 255)"),
    (#"{"fields": [{"name": "a", "type": "u8"}]}"#, "1.5", "a: 1.5 is not a whole number"),
    (#"{"fields": [{"name": "a", "type": "u8"}]}"#, "x", "a: \"x\" is not a number"),
    (#"{"fields": [{"name": "a", "type": "u8"}]}"#, "99999999999999999999999999", "a: 1e+26 is out of range"),
    (#"{"fields": [{"name": "a", "type": "i8", "scale": 0.5}]}"#, "64", "a: 64 is out of range (-64 to 63.5)"),
    (#"{"fields": [{"name": "a", "type": "u8", "scale": 0.5}]}"#, "1.3", "a: 1.3 cannot be sent. The nearest value is 1.5"),
    (#"{"fields": [{"name": "a", "type": "u8", "count": 3}]}"#, "1,,2", "a: \"\" is not a number"),
    (#"{"fields": [{"name": "a", "type": "u8", "scale": 0.1}]}"#, "1e300", "a: 1e+300 is out of range"),
    (#"{"fields": [{"name": "a", "type": "f32le"}]}"#, "1e300", "a: 1e+300 does not fit"),
    (#"{"fields": [{"name": "a", "type": "u8", "values": {"on": 1}}]}"#, "of", "a: Unknown value \"of\". Use on"),
    (#"{"fields": [{"bits": [{"name": "a", "bit": 0, "width": 2}], "type": "u8"}]}"#, "4", "a: 4 is out of range (0 to 3)"),
    (#"{"fields": [{"name": "a", "type": "bytes", "length": 2}]}"#, "01", "a: Expected 2 bytes, found 1"),
    (#"{"fields": [{"name": "a", "type": "bytes"}]}"#, "xy", "a: Invalid hex \"xy\""),
    (#"{"fields": [{"name": "a", "type": "text", "length": 2}]}"#, "abc", "a: Too long: 3 bytes (maximum 2)"),
    (#"{"fields": [{"name": "a", "type": "text", "length": 2}]}"#, "a\u{0}", "a: Expected text"),
    (#"{"fields": [{"name": "a", "type": "text", "values": ["x"]}]}"#, "y", "a: Unknown value \"y\". Use x"),
    (#"{"fields": [{"name": "a", "type": "u8", "count": 2}]}"#, "1,2,3", "a: Expected 2 items, found 3"),
    (
      #"{"fields": [{"name": "a", "list": [{"name": "x", "type": "u8"}, {"name": "y", "type": "u8"}]}]}"#, "1/2/3",
      "a: Expected 2 fields, found 3"
    ),
    (
      #"{"fields": [{"length_of": "a", "type": "u8", "add": 255}, {"name": "a", "type": "text"}]}"#, "a", "a: Too long: 1 bytes (maximum 0)"
    ),
  ]

  @Test(arguments: wrongValues.indices) func wrongValue(_ index: Int) throws {
    let (text, value, message) = Self.wrongValues[index]
    let frame = try frame(text)
    let field = try #require(frame.fields.first)
    do {
      _ = try frame.encode([NamedValue(field.name, try field.parse(value))])
      Issue.record("\(value) was taken")
    } catch { #expect(error.description.contains(message), "\(error.description)") }
  }

  @Test func typedValues() throws {
    let frame = try frame(#"{"fields": [{"name": "l", "list": [{"name": "x", "type": "u8"}, {"name": "y", "type": "i8"}]}]}"#)
    let value = try #require(frame.fields.first).parse("1/-2, 0x10/3")
    #expect(Hex.encode(try frame.encode([NamedValue("l", value)])) == "01fe1003")
    #expect(value.plainText == "x 1, y -2, x 16, y 3")
  }
}
