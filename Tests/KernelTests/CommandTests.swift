import TestSupport
import Testing

extension KernelTests {
  /// The commands on the kernel's own adapter, and the same seen with BlueZ's tools.
  @Suite struct CommandTests {
    let air: BumbleAir

    init() throws { air = try Guest.lock() }

    @Test func adapters() throws {
      let records = try Guest.blectl("adapters", "--json").records
      let first = try #require(records.first)
      #expect(first.string("name") == "hci0" && first.bool("up") == true && first.bool("le") == true && first.string("bus") == "virtual")
      #expect(try Guest.must("hciconfig", "hci0").contains("BD Address: \(first.string("address") ?? "?")"))
    }

    @Test func scan() throws {
      let result = try Guest.blectl("scan", "--json", "--name", "Lock-01", "--count", "1")
      #expect(result.status == 0, "\(result.errors)")
      let record = try #require(try result.records.first)
      #expect(record.string("address") == BumbleAir.peer && record.string("address_type") == "random")
      #expect(record["manufacturer_data"]?.string("014c") == "f0f1f2f3f4f5")
      try Guest.expectQuiet()
    }

    @Test func read() throws {
      let result = try Guest.blectl("read", "\(BumbleAir.peer)/random", "ffe2", "--json")
      #expect(result.status == 0, "\(result.errors)")
      let value = try #require(try result.records.first?.string("value"))
      let theirs = try Guest.run("gatttool", "-i", "hci0", "-b", BumbleAir.peer, "-t", "random", "--char-read", "-u", "ffe2").text
      #expect(theirs.filter { !$0.isWhitespace }.hasSuffix("value:\(value)"), "\(theirs)")
      try Guest.waitForNoLink()
    }
  }
}
