import BluetoothLEText
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct CBORTests {
  private func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex) ?? [] }

  /// Vectors: RFC 8949 appendix A, without tags, `undefined` and unassigned simple values.
  @Test(arguments: [
    ("00", CBOR.unsigned(0)), ("01", .unsigned(1)), ("0a", .unsigned(10)), ("17", .unsigned(23)), ("1818", .unsigned(24)),
    ("1864", .unsigned(100)), ("1903e8", .unsigned(1000)), ("1a000f4240", .unsigned(1_000_000)),
    ("1b000000e8d4a51000", .unsigned(1_000_000_000_000)), ("1bffffffffffffffff", .unsigned(.max)), ("20", .negative(0)),
    ("29", .negative(9)), ("3863", .negative(99)), ("3903e7", .negative(999)), ("3bffffffffffffffff", .negative(.max)),
    ("fb3ff199999999999a", .float(1.1)), ("fb7e37e43c8800759c", .float(1.0e300)), ("fbc010666666666666", .float(-4.1)),
    ("f4", .bool(false)), ("f5", .bool(true)), ("f6", .null), ("40", .bytes([])), ("4401020304", .bytes([1, 2, 3, 4])), ("60", .text("")),
    ("6449455446", .text("IETF")), ("62225c", .text("\"\\")), ("62c3bc", .text("ü")), ("64f0908591", .text("𐅑")), ("80", .array([])),
    ("83010203", .array([.unsigned(1), .unsigned(2), .unsigned(3)])),
    ("8301820203820405", .array([.unsigned(1), .array([.unsigned(2), .unsigned(3)]), .array([.unsigned(4), .unsigned(5)])])),
    ("a0", CBOR.map([:])), ("a26161016162820203", .map(["a": .unsigned(1), "b": .array([.unsigned(2), .unsigned(3)])])),
    ("826161a161626163", .array([.text("a"), .map(["b": .text("c")])])),
  ]) func canonical(_ hex: String, _ value: CBOR) throws {
    #expect(try CBOR(decoding: bytes(hex)) == value)
    #expect(Hex.encode(value.encoded) == hex)
  }

  /// Vectors: RFC 8949 appendix A; a list of images of a server in C with indefinite lengths.
  @Test(arguments: [
    ("1800", CBOR.unsigned(0)), ("1b0000000000000001", .unsigned(1)), ("f90000", .float(0)), ("f93c00", .float(1)),
    ("f97bff", .float(65504)),
    ("f90001", .float(5.960464477539063e-8)), ("f9c400", .float(-4)), ("fa47c35000", .float(100_000)), ("f97c00", .float(.infinity)),
    ("5f42010243030405ff", .bytes([1, 2, 3, 4, 5])), ("7f657374726561646d696e67ff", .text("streaming")), ("5fff", .bytes([])),
    ("9fff", .array([])),
    ("9f018202039f0405ffff", .array([.unsigned(1), .array([.unsigned(2), .unsigned(3)]), .array([.unsigned(4), .unsigned(5)])])),
    ("bf61610161629f0203ffff", .map(["a": .unsigned(1), "b": .array([.unsigned(2), .unsigned(3)])])),
    ("bf66696d616765739fbf64736c6f7400ffffff", .map(["images": .array([.map(["slot": .unsigned(0)])])])),
    ("a2026162016161", .map([.init(key: .unsigned(2), value: .text("b")), .init(key: .unsigned(1), value: .text("a"))])),
  ]) func otherForms(_ hex: String, _ value: CBOR) throws { #expect(try CBOR(decoding: bytes(hex)) == value) }

  @Test(arguments: [
    ("", CBOR.Failure.endsEarly(at: 0)), ("18", .endsEarly(at: 1)), ("1b00000000000000", .endsEarly(at: 1)), ("4401", .endsEarly(at: 1)),
    ("5bffffffffffffffff", .endsEarly(at: 9)), ("9bffffffffffffffff", .endsEarly(at: 9)), ("bb7fffffffffffffff00", .endsEarly(at: 9)),
    ("a161", .endsEarly(at: 1)), ("a2616100", .endsEarly(at: 1)), ("9f01", .endsEarly(at: 2)), ("5f4101", .endsEarly(at: 3)),
    ("a1636f66660000", .trailingBytes(at: 6)), ("0000", .trailingBytes(at: 1)), ("ff", .malformed(at: 0)), ("81ff", .malformed(at: 1)),
    ("a1ff00", .malformed(at: 1)), ("a100ff", .malformed(at: 2)), ("bf00ff", .malformed(at: 2)), ("1c", .malformed(at: 0)),
    ("1f", .malformed(at: 0)), ("3f", .malformed(at: 0)), ("df00", .malformed(at: 0)), ("fc", .malformed(at: 0)),
    ("5f6100ff", .malformed(at: 1)), ("5f5f4100ffff", .malformed(at: 1)), ("c000", .unsupported(at: 0)), ("f7", .unsupported(at: 0)),
    ("f8ff", .unsupported(at: 0)), ("61ff", .invalidText(at: 0)),
    ("a2616101616102", .repeatedKey(at: 4)), ("bf6161016161f6ff", .repeatedKey(at: 4)), ("a201001801f6", .repeatedKey(at: 3)),
  ]) func refused(_ hex: String, _ failure: CBOR.Failure) {
    #expect(throws: failure) { try CBOR(decoding: bytes(hex)) }
  }

  @Test func depthIsLimited() throws {
    func nested(_ depth: Int) -> [UInt8] { [UInt8](repeating: 0x81, count: depth - 1) + [0x80] }
    _ = try CBOR(decoding: nested(CBOR.maximumDepth))
    #expect(throws: CBOR.Failure.tooDeep(at: CBOR.maximumDepth)) { try CBOR(decoding: nested(CBOR.maximumDepth + 1)) }
    #expect(throws: CBOR.Failure.tooDeep(at: CBOR.maximumDepth)) { try CBOR(decoding: [UInt8](repeating: 0x9F, count: 100_000)) }
  }

  @Test func everyPrefixEndsEarly() throws {
    let whole = CBOR.map(["image": .integer(0), "len": .integer(70_000), "data": .bytes([1, 2, 3]), "sha": .text("x"), "f": .float(1)])
      .encoded
    for count in whole.indices {
      #expect { try CBOR(decoding: whole[..<count]) } throws: { if case CBOR.Failure.endsEarly = $0 { true } else { false } }
    }
    // A slice counts from its own start.
    #expect(throws: CBOR.Failure.trailingBytes(at: 1)) { try CBOR(decoding: [9, 9, 0, 0][2...]) }
  }

  @Test func members() throws {
    let value = CBOR.map(["off": .integer(-5), "match": .bool(true), "hash": .bytes([1]), "name": .text("a"), "list": .array([.null])])
    #expect(value["off"]?.integer == -5)
    #expect(value["match"]?.bool == true)
    #expect(value["hash"]?.bytes == [1])
    #expect(value["name"]?.text == "a")
    #expect(value["list"]?.array == [.null])
    #expect(value["rc"] == nil)
    #expect(CBOR.unsigned(.max).integer == nil)
    #expect(CBOR.negative(.max).integer == nil)
    #expect(CBOR.integer(.min).integer == .min)
    #expect(CBOR.integer(.max).integer == .max)
  }
}
