import TestSupport

@testable import Presentation

/// Meanings of values, in a line and as JSON.
@Suite(.timeLimit(.minutes(15))) struct DecodedTextTests {
  @Test(
    arguments: [
      (0x2A37, "16484103", "72 bpm, contact, RR 813.5 ms"), (0x2A37, "0448", "72 bpm, no contact"), (0x2A37, "0048", "72 bpm"),
      (0x2A37, "08483412", "72 bpm, energy expended 4660 kJ"), (0x2A21, "3c00", "60 s"), (0x2A21, "0000", "no periodic measurement"),
      (0x2803, "0a0300e1ff", "value handle 3, read, write, characteristic ffe1"), (0x2802, "01000500", "start handle 1, end handle 5"),
      (0x2801, "0102030405060708090a0b0c0d0e0f10", "100f0e0d-0c0b-0a09-0807-060504030201"),
      (0x2800, "0f", "does not fit Primary Service: 1 byte, too few for Service"),
      (0x2A80, "1e", "30 years"), (0x2A6E, "", "does not fit Temperature: 0 bytes, too few for Temperature"),
    ] as [(UInt32, String, String)]) func lines(_ type: UInt32, _ value: String, _ text: String)
  {
    #expect(DecodedText.text(Hex.decode(value) ?? [], of: UUID(type)) == text)
  }

  /// A member always has the same type, whatever the value.
  @Test(arguments: [("0048", nil), ("0448", "no contact"), ("0648", "contact")] as [(String, String?)])
  func severalBitsAreANumberWithAName(_ value: String, _ name: String?) throws {
    var json = RecordWriter()
    DecodedRecord.write(&json, Hex.decode(value) ?? [], of: UUID(0x2A37))
    let contact = try Record(String(decoding: json.finished(), as: UTF8.self))["decoded"]?["flags"]?["sensor_contact"]
    #expect(contact?.int("value") == (Hex.decode(value)?.first).map { Int($0 >> 1 & 3) } && contact?.string("name") == name)
  }

  /// A float is a number or null, in lists too. A name accompanies values that JSON cannot express as numbers.
  @Test(
    arguments: [
      ("f32le", "33331344", #""decoded":588.8"#), ("f32le", "0000c07f", #""decoded":null,"decoded_name":"nan""#),
      ("f32le", "0000807f", #""decoded":null,"decoded_name":"inf""#), ("f32be", "ff800000", #""decoded":null,"decoded_name":"-inf""#),
      ("f32le", "010080ff", #""decoded":null,"decoded_name":"nan""#), ("f32le", "00000080", #""decoded":-0.0"#),
      ("f64le", "000000000000f87f", #""decoded":null,"decoded_name":"nan""#), ("f64be", "3ff8000000000000", #""decoded":1.5"#),
      ("f32le", "0000c07f 33331344 000080ff", #""decoded":[null,588.8,null],"decoded_name":["nan",null,"-inf"]"#),
      ("f32le", "0000803f 33331344", #""decoded":[1.0,588.8]"#), ("u8", "6e", #""decoded":110"#), ("f32le", "", #""decoded":[]"#),
    ]) func floats(_ format: String, _ value: String, _ text: String) throws
  {
    var json = RecordWriter()
    DecodedRecord.write(&json, Hex.decode(value) ?? [], as: try ValueFormat(format))
    #expect(String(decoding: json.finished(), as: UTF8.self) == "{\(text)}\n")
  }

  /// Names are the same for every format by which the device describes the value, and for types of the Bluetooth SIG.
  @Test(
    arguments: [
      ("16", "0802", "520.0", nil), ("16", "ff07", nil, "nan"), ("16", "fe07", nil, "inf"), ("16", "0208", nil, "-inf"),
      ("16", "0008", nil, "NRes"), ("17", "ffff7f00", nil, "nan"), ("17", "feff7f00", nil, "inf"), ("17", "02008000", nil, "-inf"),
      ("14", "33331344", "588.8", nil), ("14", "0000c07f", nil, "nan"), ("14", "0000807f", nil, "inf"), ("14", "000080ff", nil, "-inf"),
      ("14", "010080ff", nil, "nan"),
      ("15", "000000000000f87f", nil, "nan"), ("15", "000000000000f0ff", nil, "-inf"),
    ] as [(String, String, String?, String?)]) func describedFloats(_ format: String, _ value: String, _ number: String?, _ name: String?)
    throws
  {
    let description = try #require(PresentationFormat(Hex.decode(format + "002f27010000") ?? []))
    var json = RecordWriter()
    DecodedRecord.write(&json, Hex.decode(value) ?? [], of: nil, formats: [description])
    let field = try #require(try Record(String(decoding: json.finished(), as: UTF8.self))["decoded"]?["value"])
    #expect(field.isNull("value") == (number == nil) && field.string("name") == name && field.string("unit") == "°C")
    if let number { #expect(abs((field.double("value") ?? .nan) - (Double(number) ?? .nan)) < 1e-4) }
    // Glucose Measurement, Blood Pressure and Temperature Measurement have medical floats.
    guard format == "17" else { return }
    var temperature = RecordWriter()
    DecodedRecord.write(&temperature, [0] + (Hex.decode(value) ?? []), of: UUID(0x2A1C))
    let measured = try Record(String(decoding: temperature.finished(), as: UTF8.self))["decoded"]
    #expect(measured?.keys.contains { measured?[$0]?.string("name") == name } == true, "\(measured?.keys ?? [])")
  }

  @Test func textThatIsNone() throws {
    func record(_ value: [UInt8]) throws -> Record {
      var json = RecordWriter()
      DecodedRecord.write(&json, value, as: .utf8)
      return try Record(String(decoding: json.finished(), as: UTF8.self))
    }
    #expect(try record([0xFF]).isNull("decoded") && record([0xFF]).string("decoded_error") == "not UTF-8")
    #expect(try record([0x41, 0x43, 0, 0]).string("decoded") == "AC")
  }

  @Test func zerosThatEndATextAreLeftOut() {
    #expect(ValueFormat.utf8.render([0x41, 0, 0]) == "A" && ValueFormat.utf8.render([0x41, 0, 0x42]) == "A\\x00B")
    #expect(ValueText.result([], of: UUID(0x2A6E), as: .auto).hasPrefix("(empty)  does not fit"))
  }

  @Test func unitsAreASCIIWhereTheTerminalIs() {
    #expect(DisplayText.asciiLines("21.5 °C · 3 µg/m³ × 2 Ω ü") == "21.5 degC , 3 ug/m^3 x 2 Ohm ü")
  }
}
