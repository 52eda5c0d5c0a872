import TestSupport
import Testing

extension KernelTests {
  /// blectl's own host on a kernel adapter: the same commands as on hci0.
  @Suite struct UserChannelTests {
    static let peer = "\(BumbleAir.peer)/random"

    init() throws {
      _ = try Guest.lock()
      try Guest.switchOff("hci0")
    }

    private func blectl(_ arguments: String..., input: [UInt8]? = nil) throws -> ProcessResult {
      try Blectl.run(["-i", "user:0", "--json"] + arguments, input: input, adapter: nil, virtual: false)
    }

    @Test func theSameCommands() throws {
      #expect(try blectl("scan", "--name", "Lock-01", "--count", "1").records.first?.string("address") == BumbleAir.peer)
      #expect(try blectl("connect", Self.peer).records.first?.int("mtu") == 517)
      #expect(try blectl("services", Self.peer).records.contains { $0.string("uuid") == "ffe0" })
      #expect(try blectl("read", Self.peer, "ffe2").records.first?.string("text") == "hello lock")
      let long = Octets.picture(300)
      let written = try blectl("write", Self.peer, "ffe4", "-", "--mode", "long", "--read-back", input: long)
      #expect(written.status == 0, "\(written.errors)")
      #expect(try blectl("notify", Self.peer, "ffe5", "--count", "3").records.count == 3)
      #expect(try blectl("notify", Self.peer, "ffe6", "--count", "2").records.map { $0.string("event") } == ["indication", "indication"])
      let picture = Octets.picture(20_000)
      _ = try blectl("write", Self.peer, "ffe8", "00")
      let sent = try blectl("send-file", Self.peer, "ffe1", "-", input: picture)
      #expect(sent.status == 0, "\(sent.errors)")
      let value = try blectl("read", Self.peer, "ffe7").records.first?.string("value")
      #expect(
        value
          == Octets.hex(
            [UInt32(20_000), Octets.crc32(picture)].flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }))
    }

    @Test func whyItCannotBeHad() throws {
      try Guest.switchOn("hci0")
      let busy = try blectl("scan")
      #expect(busy.status == 3 && busy.errors.contains("sudo hciconfig hci0 down"), "\(busy.errors)")
      let taken = try Blectl.run(["-i", "user:1", "scan", "--json"], adapter: nil, virtual: false)
      #expect(taken.status == 3 && taken.errors.contains("user channel"), "\(taken.errors)")
      let none = try Blectl.run(["-i", "user:9", "scan", "--json"], adapter: nil, virtual: false)
      #expect(none.status == 3 && none.errors.contains("no adapter"), "\(none.errors)")
    }
  }
}
