import TestSupport
import Testing
import Text

@Suite struct ChecksumTests {
  private static let nine = Array("123456789".utf8)

  /// The catalogue's check values.
  @Test(arguments: CRC.all) func checkValues(_ crc: CRC) {
    #expect(crc.value(of: Self.nine) == crc.check)
    #expect(CRC(named: crc.name.lowercased()) == crc)
  }

  @Test func namesAreUnambiguous() {
    let names = CRC.all.map(\.name) + CRC.aliases.map(\.alias)
    #expect(Set(names).count == names.count)
    for (alias, name) in CRC.aliases { #expect(CRC(named: alias)?.name == name) }
    #expect(CRC(named: "CRC-16/CCITT-FALSE")?.check == 0x29B1 && CRC(named: "crc-8/maxim")?.check == 0xA1)
    #expect(CRC(named: "CRC-17") == nil && Checksum("sum16") == nil && Checksum("") == nil)
  }

  @Test func theFastOneIsTheSame() throws {
    let slow = try #require(CRC(named: "crc32"))
    for length in [0, 1, 15, 256] {
      let octets = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 7) }
      var fast = CRC32()
      fast.add(octets)
      #expect(slow.value(of: octets) == fast.value)
    }
  }

  @Test(arguments: [
    ("sum8", "5d0801", "66", "66"), ("SUM8", "", "00", "00"), ("xor8", "5d0801", "54", "54"), ("xor8", "", "00", "00"),
    ("crc-16/xmodem", "313233343536373839", "c331", "31c3"), ("CRC-8/MAXIM", "313233343536373839", "a1", "a1"),
    ("crc32", "313233343536373839", "2639f4cb", "cbf43926"),
  ]) func asSent(_ name: String, _ octets: String, _ little: String, _ big: String) throws {
    let checksum = try #require(Checksum(name))
    let octets = try #require(Hex.decode(octets))
    #expect(Hex.encode(checksum.octets(of: octets, .little)) == little)
    #expect(Hex.encode(checksum.octets(of: octets, .big)) == big)
  }
}
