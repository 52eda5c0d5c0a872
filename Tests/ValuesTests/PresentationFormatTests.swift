import TestSupport

/// Tests values that a device describes itself.
@Suite(.timeLimit(.minutes(15))) struct PresentationFormatTests {
  private static func bytes(_ hex: String) throws -> [UInt8] { try #require(Hex.decode(hex)) }

  /// The format, exponent and unit turn the value into this text.
  @Test(
    arguments: [
      ("01 00 0027", "01", "1(true)"), ("01 00 0027", "00", "0(false)"), ("02 00 0027", "03", "3"), ("03 05 0027", "0f", "15"),
      ("04 00 ad27", "3c", "60%"), ("05 00 0027", "ff0f", "4095"), ("06 fe 2f27", "6608", "21.5°C"), ("07 00 0027", "0f2730", "3155727"),
      ("08 03 2527", "01000000", "1000J"), ("09 00 0027", "ffffffffffff", "281474976710655"),
      ("0a 00 0027", "ffffffffffffffff", "18446744073709551615"), ("0c ff 2f27", "fb", "-0.5°C"), ("0d 00 0027", "ff0f", "-1"),
      ("0e fe 2f27", "03ff", "-2.53°C"), ("0f 00 0027", "feffff", "-2"), ("10 00 0027", "ffffffff", "-1"),
      ("11 00 0027", "ffffffffffff", "-1"),
      ("12 00 0027", "0000000000000080", "-9223372036854775808"), ("14 00 2827", "0000c03f", "1.5V"), ("14 00 0027", "cdcccc3d", "0.1"),
      ("14 00 0027", "ffff7fff", "-3.4028235e+38"),
      ("14 00 0027", "000080ff", "-inf"), ("14 00 0027", "0000c07f", "nan"),
      ("15 00 2827", "000000000000f8bf", "-1.5V"), ("16 05 2f27", "6cf1", "36.4°C"), ("17 00 2f27", "6c0100ff", "36.4°C"),
      ("16 00 0027", "ff07", "(NaN)"), ("19 00 0027", "6772c3bc6e", "grün"), ("19 00 0027", "686900", "hi"),
      ("1a 00 0027", "68003dd81bde0000", "h\u{1F61B}"), ("19 02 0027", "6869", "hi"), ("06 80 0027", "0100", "1e-128"),
      ("06 7f 0027", "ffff", "6.5535e131"),
    ]) func decodes(_ head: String, _ hex: String, _ shown: String) throws
  {
    let format = try #require(PresentationFormat(Self.bytes(head + "01 0000")))
    let decoded = try #require(try DecodedValue.of(Self.bytes(hex), type: UUID(0xFFE1), formats: [format]))
    #expect(CharacteristicDescriptionTests.show(decoded) == ["value=\(shown)"])
  }

  /// Values of a partial byte use the lowest bits, and the others are ignored (Vol 3 Part G §3.3.3.5.2).
  @Test(
    arguments: [
      ("01", "03", "1(true)"), ("01", "fe", "0(false)"), ("02", "f7", "3"), ("02", "fc", "0"), ("03", "f3", "3"), ("05", "23f1", "291"),
      ("0d", "fff7", "2047"), ("0d", "00f8", "-2048"), ("0d", "fe5f", "-2"),
    ]) func ignoresTheBitsAbove(_ code: String, _ hex: String, _ shown: String) throws
  {
    let format = try #require(PresentationFormat(Self.bytes(code + "00 0027 01 0000")))
    let bytes = try Self.bytes(hex)
    #expect(try DecodedValue.of(bytes, type: nil, formats: [format]).map(CharacteristicDescriptionTests.show) == ["value=\(shown)"])
    // The next part starts at a byte boundary.
    #expect(
      try DecodedValue.of(bytes + bytes, type: nil, formats: [format, format]).map(CharacteristicDescriptionTests.show)
        == ["value=\(shown)", "value_2=\(shown)"])
    #expect(throws: ValueMismatch.tooLong(by: 1)) { try DecodedValue.of(bytes + [0], type: nil, formats: [format]) }
  }

  @Test(arguments: ["00", "0b", "13", "18", "1b", "1c", "1d", "ff"]) func leavesTheRestAsBytes(_ code: String) throws {
    let format = try #require(PresentationFormat(Self.bytes(code + "00 0027 01 0000")))
    for length in 0...20 { #expect(try DecodedValue.of([UInt8](repeating: 0, count: length), type: nil, formats: [format]) == nil) }
  }

  @Test func saysWhatDoesNotFit() throws {
    let format = try #require(PresentationFormat(Self.bytes("06 00 0027 01 0000")))
    #expect(throws: ValueMismatch.tooShort(field: "Value", bytes: 1)) { try DecodedValue.of([1], type: nil, formats: [format]) }
    #expect(throws: ValueMismatch.tooLong(by: 1)) { try DecodedValue.of([1, 2, 3], type: nil, formats: [format]) }
    let text = try #require(PresentationFormat(Self.bytes("1a 00 0027 01 0000")))
    for value in [[0x41], [0x00, 0xD8], [0x00, 0xDC, 0x41, 0x00]] as [[UInt8]] {
      #expect(throws: ValueMismatch.notText(field: "Value")) { try DecodedValue.of(value, type: nil, formats: [text]) }
    }
    for length in [0, 6, 8] { #expect(PresentationFormat([UInt8](repeating: 4, count: length)) == nil) }
  }

  @Test func partsStandOneBehindTheOther() throws {
    let formats = try ["01 00 0027", "06 ff 2f27", "19 00 0027"].map { try #require(PresentationFormat(Self.bytes($0 + "01 0000"))) }
    let decoded = try #require(try DecodedValue.of(Self.bytes("01 d700 6869"), type: nil, formats: formats))
    #expect(CharacteristicDescriptionTests.show(decoded) == ["value=1(true)", "value_2=21.5°C", "value_3=hi"])
    let broken = try #require(PresentationFormat(Self.bytes("1b 00 0027 01 0000")))
    #expect(try DecodedValue.of([1], type: nil, formats: [formats[0], broken]) == nil)
  }

  /// The Bluetooth SIG's description takes precedence: it has flags, codes and conditions, which a format lacks.
  @Test func theDescriptionGoesBeforeTheFormat() throws {
    let format = try #require(PresentationFormat(Self.bytes("06 00 0027 01 0000")))
    let temperature = try #require(try DecodedValue.of([0x00, 0x80], type: UUID(0x2A6E), formats: [format]))
    #expect(CharacteristicDescriptionTests.show(temperature) == ["temperature=(not known)°C"])
  }

  @Test(
    arguments: [
      ("2900", "0100", "properties=1[Reliable Write]"), ("2902", "0300", "configuration=3[notifications on][indications on]"),
      ("2903", "0100", "configuration=1[broadcasts on]"), ("2905", "10001200", "handles=16 18"),
      ("2901", "446f6f7200", "user_description=Door"),
      (
        "2904", "0efe2f27010d01",
        "format=14(sint16) exponent=-2 unit=272f name_space=1(Bluetooth SIG) description=269(left)"
      ),
      ("2908", "0103", "report_id=1 report_type=3(feature report)"), ("2909", "04", "number_of_digitals=4"),
    ] as [(String, String, String)]) func descriptors(_ uuid: String, _ hex: String, _ shown: String) throws
  {
    let decoded = try CharacteristicDescriptionTests.description(uuid).decode(Self.bytes(hex))
    #expect(CharacteristicDescriptionTests.show(decoded).joined(separator: " ") == shown)
  }
}
