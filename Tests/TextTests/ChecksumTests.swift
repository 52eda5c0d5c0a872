import TestSupport

@Suite(.timeLimit(.minutes(15))) struct ChecksumTests {
  private static let nine = Array("123456789".utf8)

  /// The catalog's check values are correct.
  @Test(arguments: CRC.all) func checkValues(_ crc: CRC) {
    #expect(crc.value(of: Self.nine) == crc.check)
    #expect(CRC(named: crc.name.lowercased()) == crc)
  }

  @Test func namesAreUnambiguous() {
    let names = CRC.all.map(\.name) + CRC.aliases.map(\.alias)
    #expect(Set(names.map { $0.filter { $0.isLetter || $0.isNumber } }).count == names.count)
    #expect(CRC(named: "crc16_modbus")?.name == "CRC-16/MODBUS" && CRC(named: "CRC8")?.name == "CRC-8/SMBUS")
    #expect(Checksum.names(like: "crc32x").hasPrefix("CRC-32/ISO-HDLC, ") && !Checksum.names(like: "crc32x").contains("16"))
    for (alias, name) in CRC.aliases { #expect(CRC(named: alias)?.name == name) }
    #expect(CRC(named: "CRC-16/CCITT-FALSE")?.check == 0x29B1 && CRC(named: "crc-8/maxim")?.check == 0xA1)
    #expect(CRC(named: "CRC-17") == nil && Checksum("sum16") == nil && Checksum("") == nil)
  }

  @Test func theFastOneIsTheSame() throws {
    let slow = try #require(CRC(named: "crc32"))
    for length in [0, 1, 7, 8, 15, 16, 256, 1003] {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 7) }
      var fast = CRC32()
      fast.add(bytes)
      #expect(slow.value(of: bytes) == fast.value)
      var inParts = CRC32()
      for start in stride(from: 0, to: length, by: 11) { inParts.add(bytes[start..<min(start + 11, length)]) }
      #expect(inParts == fast)
    }
  }

  @Test func theLastPartOfSomethingByWhatIsBeforeIt() throws {
    let sum = try #require(CRC(named: "crc32"))
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 4) }
    for head in [0, 1, 8, 333, 999, 1000] {
      let tail = CRC32.ofTail(bytes.count - head, whole: sum.value(of: bytes), head: sum.value(of: bytes[..<head]))
      #expect(tail == sum.value(of: bytes[head...]))
    }
  }

  @Test(arguments: [
    ("sum8", "5d0801", "66", "66"), ("SUM8", "", "00", "00"), ("xor8", "5d0801", "54", "54"), ("xor8", "", "00", "00"),
    ("crc-16/xmodem", "313233343536373839", "c331", "31c3"), ("CRC-8/MAXIM", "313233343536373839", "a1", "a1"),
    ("crc32", "313233343536373839", "2639f4cb", "cbf43926"),
  ]) func asSent(_ name: String, _ bytes: String, _ little: String, _ big: String) throws {
    let checksum = try #require(Checksum(name))
    let bytes = try #require(Hex.decode(bytes))
    #expect(Hex.encode(checksum.bytes(of: bytes, .little)) == little)
    #expect(Hex.encode(checksum.bytes(of: bytes, .big)) == big)
  }
}
