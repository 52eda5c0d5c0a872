import TestSupport

@Suite(.timeLimit(.minutes(15))) struct SmallTypesTests {
  @Test(
    arguments: [
      ("0c025a", "Phone: Smartphone; Networking, Capturing, Object Transfer, Telephony"),
      ("040424", "Audio/Video: Wearable Headset; Rendering, Audio"),
      ("400500", "Peripheral: Keyboard"), ("c40500", "Peripheral: Keyboard and Pointing Device, Joystick"),
      ("080500", "Peripheral: Gamepad"),
      ("900600", "Imaging: Display, Printer"), ("000300", "Network Access Point: Fully available"),
      ("180900", "Health: Heart/Pulse Rate Monitor"),
      ("001f00", "Uncategorized"), ("000000", "Miscellaneous"), ("000100", "Computer"), ("fc0100", "Computer: minor class 63"),
      ("001200", "major class 18"), ("002000", "Miscellaneous; Limited Discoverable"), ("0c02", nil), ("", nil), ("0c025a00", nil),
    ] as [(String, String?)]) func classOfDevice(_ hex: String, _ shown: String?) throws
  {
    #expect(ClassOfDevice(try #require(Hex.decode(hex)))?.description == shown)
  }

  @Test func anyClassOfDeviceHasAText() {
    for value in 0..<0x4000 {
      let device = ClassOfDevice([UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8), 0])
      #expect(device?.description.isEmpty == false)
    }
  }

  // MARK: Addresses

  @Test(
    arguments: [
      ("A4:C1:38:00:11:22", "A4:C1:38:00:11:22"), ("a4-c1-38-00-11-22", "A4:C1:38:00:11:22"), ("00:00:00:00:00:00", "00:00:00:00:00:00"),
      ("", nil), ("A4:C1:38:00:11", nil), ("A4:C1:38:00:11:22:33", nil), ("A4:C1:38:00:11:2", nil), ("A4:C1:38:00:11:222", nil),
      ("a4C138001122", "A4:C1:38:00:11:22"), ("A4C13800112", nil), ("A4C1380011223", nil), ("A4C13800112G", nil),
      ("A4:C1:38:00:11:2G", nil), ("A4:C1-38:00:11:22", nil), (" A4:C1:38:00:11:22", nil),
      ("A4:C1:38:00:11:+2", nil),
      ("А4:C1:38:00:11:22", nil), ("1:2:3:4:5:6", nil),
    ] as [(String, String?)])
  func address(_ text: String, _ shown: String?) {
    #expect(Address(text)?.description == shown)
  }

  @Test func addressBytes() throws {
    let address = try #require(Address("A4:C1:38:00:11:22"))
    #expect(address.bigEndianBytes == [0xA4, 0xC1, 0x38, 0x00, 0x11, 0x22])
    #expect(address.littleEndianBytes == [0x22, 0x11, 0x00, 0x38, 0xC1, 0xA4])
    #expect(Address(bigEndian: address.bigEndianBytes) == address)
    #expect(Address(bigEndian: [1, 2, 3, 4, 5]) == nil)
    #expect(Address(rawValue: .max).description == "FF:FF:FF:FF:FF:FF")
  }

  @Test(arguments: [
    ("D1:00:00:00:00:01", PeerAddress.RandomKind.static), ("7F:00:00:00:00:01", .resolvablePrivate),
    ("3F:00:00:00:00:01", .nonResolvablePrivate),
    ("80:00:00:00:00:01", .reserved),
  ])
  func randomKinds(_ text: String, _ kind: PeerAddress.RandomKind) throws {
    let address = try #require(Address(text))
    #expect(PeerAddress(address, .random).randomKind == kind)
    #expect(PeerAddress(address, .public).randomKind == nil)
    #expect(PeerAddress(address, .random) != PeerAddress(address, .public))
  }

  // MARK: UUIDs

  @Test(
    arguments: [
      ("180f", "180f"), ("0x180F", "180f"), ("0000180F-0000-1000-8000-00805F9B34FB", "180f"), ("0000180f00001000800000805f9b34fb", "180f"),
      ("0000180f", "180f"), ("12345678", "12345678"), ("6E400001-B5A3-F393-E0A9-E50E24DCCA9E", "6e400001-b5a3-f393-e0a9-e50e24dcca9e"),
      ("", nil), ("18", nil), ("180", nil), ("180g", nil), ("0x", nil), ("0x18", nil), ("180f0", nil),
      ("6E400001B5A3-F393-E0A9-E50E24DCCA9E", nil),
      ("6E400001-B5A3-F393-E0A9E-50E24DCCA9E", nil), ("１８０f", nil), ("+180", nil),
    ] as [(String, String?)])
  func uuid(_ text: String, _ shown: String?) throws {
    let uuid = UUID(text)
    #expect(uuid?.description == shown)
    if let uuid {
      #expect(UUID(uuid.description) == uuid)
      #expect(UUID(uuid.fullDescription) == uuid)
      #expect(UUID(littleEndian: uuid.attBytes) == uuid)
      #expect(UUID(littleEndian: uuid.littleEndianBytes) == uuid)
    }
  }

  @Test func uuidBytes() {
    #expect(UUID(0x180F).attBytes == [0x0F, 0x18])
    #expect(UUID(0x1234_5678).attBytes.count == 16)
    #expect(UUID(littleEndian: [0x78, 0x56, 0x34, 0x12]) == UUID(0x1234_5678))
    for count in [0, 1, 3, 5, 15, 17] { #expect(UUID(littleEndian: Array(repeating: UInt8(1), count: count)) == nil) }
    #expect(UUID(0x180F).short == 0x180F)
    #expect(UUID(0x1_180F).short == nil)
  }

  // MARK: Hex

  @Test(
    arguments: [
      ("0100", [1, 0]), ("01 00", [1, 0]), ("01:00", [1, 0]), ("01-00", [1, 0]), ("0x01 0x00", [1, 0]), ("0X0100", [1, 0]),
      ("b99", nil), ("0x123", nil), ("01 234", nil), ("f", [0x0F]),
      ("0x5", [5]), ("1:2 3", [1, 2, 3]), ("\n", []),
      ("01,02", [1, 2]), ("", []), ("  ", []), ("aBcD", [0xAB, 0xCD]), ("0x", nil), (":", nil), ("zz", nil), ("0x0x01", nil),
      ("01 0x", nil), ("é", nil), ("٠١", nil),
    ] as [(String, [UInt8]?)])
  func hex(_ text: String, _ bytes: [UInt8]?) { #expect(Hex.decode(text) == bytes) }

  /// In text whose bytes are adjacent, a word of one digit lacks the other digit.
  @Test func loneDigitsOfALog() throws {
    #expect(try Hex.parse("1:2:03", loneDigits: false) == [1, 2, 3])
    for text in ["5", "01 5", "0x5", "1:203"] {
      #expect(throws: HexError.self) { try Hex.parse(text, loneDigits: false) }
    }
    #expect(throws: HexError.oddDigits("5", column: 4)) { try Hex.parse("01 5", loneDigits: false) }
  }

  @Test func hexRoundTrip() {
    let all = Array(UInt8.min...UInt8.max)
    #expect(Hex.encode(all).hasPrefix("000102"))
    #expect(
      Hex.encode(all).hasSuffix(
        "9a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
      ))
    #expect(Hex.decode(Hex.encode(all)) == all)
    #expect(Hex.number("ffffffffffffffff") == .max)
    #expect(Hex.number("10000000000000000") == nil)
    #expect(Hex.number("") == nil)
  }

  // MARK: Readers and writers

  @Test func fieldsAreLittleEndian() throws {
    var writer = ByteWriter()
    writer.uint8(1)
    writer.int8(-2)
    writer.uint16(0x0304)
    writer.uint32(0x0809_0A0B)
    writer.uint64(0x0C0D_0E0F_1011_1213)
    writer.address(Address(rawValue: 0xA4C1_3800_1122))
    writer.append([9, 8, 7])
    #expect(Hex.encode(writer.bytes) == "01fe04030b0a0908131211100f0e0d0c22110038c1a4090807")

    var reader = ByteReader(writer.bytes)
    #expect(try reader.uint8("a") == 1)
    #expect(try reader.int8("b") == -2)
    #expect(try reader.uint16("c") == 0x0304)
    #expect(try reader.uint32("e") == 0x0809_0A0B)
    #expect(try reader.uint64("f") == 0x0C0D_0E0F_1011_1213)
    #expect(try reader.address("g") == Address(rawValue: 0xA4C1_3800_1122))
    #expect(reader.remaining == 3)
    #expect(throws: MalformedPacket.self) { try reader.finish("h") }
    #expect(try reader.bytes(2, "i") == [9, 8])
    #expect(reader.rest() == [7])
    #expect(reader.isAtEnd)
    try reader.finish("j")
  }

  /// Offsets count from the start of a slice, which need not be 0. A failed read moves nothing.
  @Test func readingTooMuch() throws {
    var reader = ByteReader([0xFF, 0xFF, 1, 2, 3][2...])
    #expect(try reader.uint8("first") == 1)
    let error = #expect(throws: MalformedPacket.self) { _ = try reader.uint32("word") }
    #expect(error?.offset == 1)
    #expect(error?.description == "word: needs 4 bytes, has 2 (at byte 1)")
    for count in [-1, 3, Int.max, Int.min] { #expect(throws: MalformedPacket.self) { _ = try reader.slice(count, "slice") } }
    #expect(try reader.uint16("rest") == 0x0302)
    #expect(throws: MalformedPacket.self) { _ = try reader.uint8("end") }
    #expect(reader.rest() == [])
  }

  @Test func names() {
    #expect(ControllerErrorCode(rawValue: 0x3E).description == "Connection Failed to be Established (0x3e)")
    #expect(ControllerErrorCode.commandDisallowed.snakeName == "command_disallowed")
    #expect(ControllerErrorCode(rawValue: 0xFF).name == "Unknown Error")
    #expect(PHY.allCases.map(\.name) == ["1m", "2m", "coded"])
    #expect(PHY(name: "CODED") == .coded)
    #expect(PHY(name: "3m") == nil)
  }

  /// Base64 agrees with its definition for every count modulo three and every byte.
  @Test func base64() {
    for count in 0...64 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 251) }
      let text = Base64.encode(bytes)
      #expect(text.utf8.count == (count + 2) / 3 * 4)
      #expect(Base64.decode(text) == bytes)
      #expect(Base64.decode(String(text.prefix { $0 != "=" })) == bytes)
    }
    #expect(Base64.encode(Array("any carnal pleas".utf8)) == "YW55IGNhcm5hbCBwbGVhcw==")
    hostile([Array("YW55IGNhcm5hbCBwbGVhcw==".utf8)]) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      if let bytes = Base64.decode(text), Base64.decode(Base64.encode(bytes)) != bytes { Issue.record("\(text)") }
    }
  }

  @Test func hostileText() {
    hostile(["A4:C1:38:00:11:22", "0000180f-0000-1000-8000-00805f9b34fb", "0x01 0x00"].map { Array($0.utf8) }) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      if let address = Address(text), Address(address.description) != address { Issue.record("\(text)") }
      if let uuid = UUID(text), UUID(uuid.description) != uuid { Issue.record("\(text)") }
      if let bytes = Hex.decode(text), Hex.decode(Hex.encode(bytes)) != bytes { Issue.record("\(text)") }
    }
  }
}
