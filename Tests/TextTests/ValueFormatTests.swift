import TestSupport

@Suite(.timeLimit(.minutes(15))) struct ValueFormatTests {
  /// Typed text gives these bytes, which are shown like this.
  @Test(arguments: [
    ("hex", "0100", "0100", "0100"), ("hex", "01:00", "0100", "0100"), ("hex", "0x01 0xff", "01ff", "01ff"),
    ("hex", "0x5 f", "050f", "050f"),
    ("hex", "", "", ""), ("utf8", "hello", "68656c6c6f", "hello"), ("utf8", "ü\u{1B}", "c3bc1b", "ü\\x1b"), ("utf8", "", "", ""),
    ("base64", "aGVsbG8=", "68656c6c6f", "aGVsbG8="), ("base64", "", "", ""), ("base64", "AQ", "01", "AQ=="),
    ("base64", "+/8=", "fbff", "+/8="),
    ("base64", "-_8", "fbff", "+/8="), ("base64", "AAEC", "000102", "AAEC"), ("auto", "68656c6c6f", "68656c6c6f", "hello"),
    ("auto", "3c", "3c", "3c"), ("auto", "4100", "4100", "4100"), ("auto", "c09b", "c09b", "c09b"), ("u8", "60", "3c", "60"),
    ("u8", "0, 255 0x7F", "00ff7f", "0 255 127"), ("i8", "-128 127 -0x1", "807fff", "-128 127 -1"), ("u16le", "258", "0201", "258"),
    ("u16be", "258", "0102", "258"), ("u16le", "0xffff", "ffff", "65535"), ("i16le", "-2", "feff", "-2"),
    ("i16be", "-32768", "8000", "-32768"),
    ("u24le", "0x123456", "563412", "1193046"), ("u24be", "16777215", "ffffff", "16777215"), ("i24le", "-8388608", "000080", "-8388608"),
    ("i24be", "-1", "ffffff", "-1"), ("u32le", "77831", "07300100", "77831"), ("u32be", "4294967295", "ffffffff", "4294967295"),
    ("i32le", "-2147483648", "00000080", "-2147483648"), ("u64le", "1", "0100000000000000", "1"),
    ("u64be", "18446744073709551615", "ffffffffffffffff", "18446744073709551615"),
    ("i64be", "-9223372036854775808", "8000000000000000", "-9223372036854775808"),
    ("i64le", "9223372036854775807", "ffffffffffffff7f", "9223372036854775807"), ("f32le", "1", "0000803f", "1.0"),
    ("f32be", "-0.5", "bf000000", "-0.5"), ("f64le", "21.5", "0000000000803540", "21.5"), ("f64be", "1e300", "7e37e43c8800759c", "1e+300"),
    ("f32le", "inf", "0000807f", "inf"), ("f32le", "-Infinity", "000080ff", "-inf"), ("U16LE", "1", "0100", "1"),
  ])
  func values(_ name: String, _ text: String, _ hex: String, _ shown: String) throws {
    let format = try ValueFormat(name)
    let bytes = try format.parse(text)
    #expect(Hex.encode(bytes) == hex)
    #expect(format.render(bytes) == shown)
    #expect(format.name == name.lowercased())
  }

  /// An error names the value and the allowed range or form.
  @Test(arguments: [
    ("u8", "256", "0–255"), ("u8", "-1", "0–255"), ("u8", "1 2 300", "column 5"), ("i8", "128", "-128 to 127"),
    ("i8", "-129", "-128 to 127"),
    ("u16le", "65536", "0–65535"), ("u24le", "16777216", "0–16777215"), ("i24be", "8388608", "-8388608 to 8388607"),
    ("u32le", "4294967296", "0–4294967295"), ("u64le", "18446744073709551616", "0–18446744073709551615"),
    ("i64le", "9223372036854775808", "-9223372036854775808 to 9223372036854775807"),
    ("u64le", "0x10000000000000000", "0–18446744073709551615"),
    ("u8", "1e9", "integer"), ("u8", "0x", "integer"), ("u8", "--1", "integer"), ("u8", "+1", "integer"), ("u8", "-", "integer"),
    ("u8", "1_0", "integer"), ("u8", "١", "integer"), ("u8", "１", "integer"), ("u8", "0b1", "integer"), ("u8", "", "no number"),
    ("u8", " , ", "no number"), ("f32le", "1e39", "does not fit"), ("f64le", "1e999", "does not fit"), ("f64le", "-1e999", "does not fit"),
    ("f32le", "warm", "number"), ("f32le", "１", "number"), ("hex", "zz", "hex"), ("hex", "0x", "hex"), ("hex", "é0", "hex"),
    ("hex", "b99", "Invalid hex \"b99\" (column 1): odd number of digits"), ("hex", "01 0x123", "\"0x123\" (column 4)"),
    ("auto", "01:203:4", "\"203\" (column 4)"), ("hex", "123 zz", "Invalid hex \"123 zz\""),
    ("auto", "hello", "hex"),
    ("base64", "A", "base64"), ("base64", "AR==", "base64"), ("base64", "AQ=", "base64"), ("base64", "AAEC=", "base64"),
    ("base64", "A!", "base64"),
    ("base64", "A=Q=", "base64"), ("u8", "\u{1B}[2J", "\\x1b"),
  ])
  func refusals(_ name: String, _ text: String, _ said: String) throws {
    let format = try ValueFormat(name)
    let error = #expect(throws: ValueFormatError.self) { _ = try format.parse(text) }
    #expect(error?.description.contains(said) == true, "\(error?.description ?? "")")
  }

  @Test func names() throws {
    #expect(ValueFormat.names.count == 26)
    for name in ValueFormat.names { #expect(try ValueFormat(name).name == name) }
    for name in ["", "u16", "f32", "u12le", "u8le", "f16le", "int", "u160le"] {
      #expect(throws: ValueFormatError.self) { _ = try ValueFormat(name) }
    }
    let error = #expect(throws: ValueFormatError.self) { _ = try ValueFormat("u16") }
    #expect(error?.description.contains("u16le or u16be") == true)
  }

  @Test func bytesThatAreNoWholeFields() throws {
    #expect(try ValueFormat("u16le").render([1, 2, 3]) == "hex:010203")
    #expect(try ValueFormat("f64be").render([1]) == "hex:01")
    #expect(try ValueFormat("u32le").render([]) == "")
  }

  @Test func notANumberKeepsItsSign() throws {
    let bytes = try ValueFormat("f32le").parse("nan")
    #expect(Float(bitPattern: UInt32(bytes[0]) | UInt32(bytes[1]) << 8 | UInt32(bytes[2]) << 16 | UInt32(bytes[3]) << 24).isNaN)
    #expect(try ValueFormat("f32le").render(bytes) == "nan")
    // Quiet and signaling NaNs, with a sign and a payload.
    #expect(try ValueFormat("f32be").render([0xFF, 0xC0, 0, 0, 0x7F, 0x80, 0, 1, 0xFF, 0x80, 0, 1]) == "nan nan nan")
    #expect(try ValueFormat("f64be").render([0xFF, 0xF0, 0, 0, 0, 0, 0, 1]) == "nan")
  }

  /// Integers and Base64 survive a round trip, and no text causes a trap.
  @Test func roundTripsAndHostileText() throws {
    let formats = try ValueFormat.names.map { try ValueFormat($0) }
    let seeds = ["1 2,3", "-128", "0x7fff", "1e39", "aGVsbG8=", "0100", "18446744073709551615", "hello"].map { Array($0.utf8) }
    hostile(seeds, mutations: 20_000) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      for format in formats {
        let shown = format.render(bytes)
        if !shown.hasPrefix("hex:") {
          switch format {
          case .unsigned, .signed: if !bytes.isEmpty, (try? format.parse(shown)) != bytes { Issue.record("\(format.name) \(shown)") }
          case .hex, .base64: if (try? format.parse(shown)) != bytes { Issue.record("\(format.name) \(shown)") }
          default: break
          }
        }
        _ = try? format.parse(text)
      }
    }
  }
}
