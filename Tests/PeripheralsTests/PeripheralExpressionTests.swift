import BluetoothLEDeviceFiles
import BluetoothLESimulator
import TestSupport

/// Tests values, numbers and conditions of a peripheral file with their results.
@Suite(.timeLimit(.minutes(15))) struct PeripheralExpressionTests {
  private static let variables =
    #""variables": {"n": 5, "big": 9223372036854775807, "key": "2b7e151628aed2a6abf7158809cf4f3c", "none": ""},"#

  @Test(
    arguments: [
      (#""01 02""#, "0102"), (#"{"written": true}"#, "010203"), (#"{"value_of": "ff02"}"#, "0a0b"), (#"{"variable": "none"}"#, ""),
      (#"{"variable": "key", "octets": 2}"#, "2b7e"),
      // Cuts.
      (#"{"written": true, "from": 1}"#, "0203"), (#"{"written": true, "from": -1}"#, "03"), (#"{"written": true, "from": 9}"#, ""),
      (#"{"written": true, "from": -9}"#, "010203"), (#"{"written": true, "octets": 2}"#, "0102"),
      (#"{"written": true, "octets": -1}"#, "0102"),
      (#"{"written": true, "octets": -9}"#, ""), (#"{"written": true, "octets": 0}"#, ""),
      (#"{"written": true, "from": 1, "octets": 1}"#, "02"),
      (#"{"written": true, "from": -2, "octets": -1}"#, "02"), (#"{"written": true, "from": -65536, "octets": 65536}"#, "010203"),
      (#"{"u16be": 258, "from": 1}"#, "02"),
      // Numbers.
      (#"[{"u8": {"variable": "n"}}, "ff"]"#, "05ff"), (#"{"u16be": [1, {"variable": "n"}, "0x0203"]}"#, "000100050203"),
      (#"{"u16be": {"sum": [{"variable": "n"}, 256, 1]}}"#, "0106"), (#"{"i8": {"difference": [0, {"variable": "n"}]}}"#, "fb"),
      (#"{"u8": {"product": [3, 100]}}"#, "2c"), (#"{"u8": {"quotient": [{"variable": "n"}, 2]}}"#, "02"),
      (#"{"u8": {"quotient": [{"variable": "n"}, 0]}}"#, "00"), (#"{"u8": {"remainder": [{"variable": "n"}, 3]}}"#, "02"),
      (#"{"u8": {"remainder": [{"variable": "n"}, 0]}}"#, "00"), (#"{"u8": {"minimum": [7, {"variable": "n"}]}}"#, "05"),
      (#"{"u8": {"maximum": [7, {"variable": "n"}]}}"#, "07"), (#"{"u64be": {"sum": [{"variable": "big"}, 1]}}"#, "8000000000000000"),
      (#"{"u64be": {"product": [{"variable": "big"}, {"variable": "big"}]}}"#, "0000000000000001"),
      (#"{"u64be": {"quotient": [{"sum": [{"variable": "big"}, 1]}, -1]}}"#, "8000000000000000"),
      (#"{"u64be": {"remainder": [{"sum": [{"variable": "big"}, 1]}, -1]}}"#, "0000000000000000"),
      (#"{"f32le": {"variable": "n"}}"#, "0000a040"), (#"{"f64be": {"variable": "n"}}"#, "4014000000000000"),
      (#"{"u32be": {"number": {"written": true, "from": 1}, "as": "u16le"}}"#, "00000302"),
      (#"{"u32be": {"number": {"written": true}, "as": "u32le"}}"#, "00030201"),
      (#"{"u32be": {"number": {"written": true}, "as": "u32be"}}"#, "01020300"),
      (#"{"i16le": {"number": "fffe", "as": "i16be"}}"#, "feff"), (#"{"i16le": {"number": "80"}}"#, "8000"),
      (#"{"i16le": {"number": "80", "as": "i8"}}"#, "80ff"), (#"{"u8": {"number": ""}}"#, "00"),
      (#"{"u24be": {"number": "fffffffffffffff0", "as": "u64be"}}"#, "fffff0"),
      (#"{"u8": {"length": [{"written": true}, "00"]}}"#, "04"), (#"{"u8": {"subscribers": "ff02"}}"#, "00"),
      (#"{"u32le": {"clock": "unix"}}"#, "00b95569"), (#"{"u16le": {"clock": "year"}}"#, "ea07"),
      (#"{"u8": [{"clock": "month"}, {"clock": "day"}, {"clock": "hour"}, {"clock": "second"}, {"clock": "weekday"}]}"#, "0101000004"),
      (#"{"u8": {"clock": "uptime_ms"}}"#, "00"),
      // Checksums and codes.
      (#"["0102", {"checksum": "sum8"}, {"checksum": "sum8"}]"#, "01020306"), (#"["0103", {"checksum": "XOR8"}]"#, "010302"),
      (#"{"checksum": "sum8", "of": {"written": true, "octets": -1}}"#, "03"),
      (#"["ff", {"checksum": "crc-16/xmodem", "of": {"utf8": "123456789"}, "order": "big"}]"#, "ff31c3"),
      (#"{"checksum": "CRC-16/CCITT-FALSE", "of": {"utf8": "123456789"}}"#, "b129"),
      (#"[{"utf8": "123456789"}, {"checksum": "crc32", "from": 2}]"#, "313233343536373839f4cb"),
      (#"{"xor": "0102030405", "with": "ff00"}"#, "fe02fc04fa"), (#"{"xor": "01", "with": ""}"#, "01"), (#"{"xor": "", "with": "01"}"#, ""),
      (#"{"aes_cmac": "", "key": {"variable": "key"}}"#, "bb1d6929e95937287fa37d129b756746"),
      (#"{"aes_cmac": "", "key": {"written": true}}"#, ""),
      (
        #"{"hmac_sha256": {"utf8": "what do ya want for nothing?"}, "key": {"utf8": "Jefe"}}"#,
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      ),
      // Nested.
      (#"{"u8": {"sum": [{"length": {"variable": "key", "from": {}}}, 1]}}"#, nil),
      (#"{"checksum": "sum8", "of": {"u8": {"variable": "n"}}}"#, "05"),
    ] as [(String, String?)])
  func value(_ text: String, _ hex: String?) throws {
    func device() throws -> PeripheralDevice {
      try PeripheralDevice(Self.variables, reactions: #"[{"then": [{"notify": "ff02", "value": \#(text)}]}]"#)
    }
    guard let hex else {
      #expect(throws: FileEntryError.self) { try device() }
      return
    }
    var it = try device()
    #expect(it.write("010203") == ["notify \(hex)"])
    #expect(it.value == hex)
  }

  @Test(arguments: [
    (#"{"written": true, "is": "010203"}"#, true), (#"{"written": true, "is": ["01", "0203"]}"#, true),
    (#"{"written": true, "is": "0102"}"#, false),
    (#"{"written": true, "is_not": "0102"}"#, true), (#"{"written": true, "matches": "01??*"}"#, true),
    (#"{"written": true, "from": 1, "matches": "01*"}"#, false), (#"{"variable": "none", "is": ""}"#, true),
    (#"{"variable": "n", "is": 5}"#, true), (#"{"variable": "n", "is_not": 5}"#, false), (#"{"variable": "n", "below": 5}"#, false),
    (#"{"variable": "n", "at_most": 5, "at_least": 5}"#, true), (#"{"variable": "n", "above": 4, "below": 5}"#, false),
    (#"{"length": {"written": true}, "is": {"difference": [{"variable": "n"}, 2]}}"#, true),
    (#"{"number": {"written": true}, "as": "u16be", "is": 258}"#, true), (#"{"clock": "hour", "below": 7}"#, true),
    (#"{"subscribers": "ff02", "above": 0}"#, false), (#"{"random": [3, 3], "is": 3}"#, true),
    (#"[]"#, true), (#"{"any": []}"#, false), (#"{"not": []}"#, false),
    (#"[{"variable": "n", "is": 5}, {"variable": "n", "is": 6}]"#, false),
    (#"{"any": [{"variable": "n", "is": 6}, {"variable": "n", "is": 5}]}"#, true),
    (#"{"not": {"any": [{"variable": "n", "is": 6}, [{"variable": "n", "is": 7}]]}}"#, true),
    (#"{"checksum": "sum8", "of": {"written": true, "octets": -1}, "is": {"written": true, "from": -1}}"#, true),
    (#"{"aes_cmac": {"written": true}, "key": {"variable": "key"}, "octets": 4, "is": "00000000"}"#, false),
  ])
  func condition(_ text: String, _ holds: Bool) throws {
    var device = try PeripheralDevice(Self.variables, reactions: #"[{"if": \#(text), "then": []}, {"error": 128}]"#)
    #expect(device.choice("010203") == (holds ? 0 : 1))
  }

  @Test func chanceStaysInItsRangeAndComesFromTheSeed() throws {
    func drawn(_ text: String, seed: UInt64 = 1) throws -> [String] {
      var device = try PeripheralDevice("", reactions: #"[{"then": [{"notify": "ff02", "value": \#(text)}]}]"#, seed: seed)
      return (0..<200).flatMap { _ in device.write("00") }
    }
    let dice = try drawn(#"{"u8": {"random": [1, 6]}}"#)
    #expect(Set(dice) == Set((1...6).map { "notify 0\($0)" }))
    #expect(Set(try drawn(#"{"i8": {"random": [-1, 1]}}"#)) == ["notify ff", "notify 00", "notify 01"])
    let whole = #"{"u64le": {"random": [-9223372036854775807, 9223372036854775807]}}"#
    #expect(Set(try drawn(whole)).count == 200)
    let bytes = #"{"random_octets": 16}"#
    #expect(Set(try drawn(bytes)).count == 200)
    #expect(try drawn(bytes) == drawn(bytes) && drawn(bytes) != drawn(bytes, seed: 2))
  }

  @Test func theClockRunsAndCanBeSet() throws {
    var device = try PeripheralDevice(
      "",
      reactions: #"""
        [{"when": "??????????*", "then": [{"set_clock": {"number": {"written": true}, "as": "i64le"}}]},
         {"then": [{"notify": "ff02", "value": [{"u32be": {"clock": "unix"}}, {"u16be": {"clock": "year"}}, {"u32be": {"clock": "uptime_ms"}}]}]}]
        """#)
    _ = device.advance(milliseconds: 61_000)
    #expect(device.write("00") == ["notify 6955b93d" + "07ea" + "0000ee48"])
    _ = device.write("8086010000000000")
    _ = device.advance(milliseconds: 2000)
    #expect(device.write("00") == ["notify 00018682" + "07b2" + "0000f618"])
    _ = device.write("ffffffffffffffff")
    #expect(device.write("00") == ["notify 00000000" + "07b2" + "0000f618"])
    _ = device.write("ffffffffffffff7f")
    #expect(device.write("00") == ["notify fff4417f" + "270f" + "0000f618"])
  }
}
