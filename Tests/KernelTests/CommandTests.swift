import TestSupport

extension KernelTests {
  /// Runs the commands on the kernel's own adapter, and compares with BlueZ's tools.
  @Suite struct CommandTests {
    init() throws { try Guest.lock() }

    @Test func adapters() throws {
      let records = try Guest.blectl("adapters", "--json").records
      let first = try #require(records.first)
      #expect(first.string("name") == "hci0" && first.bool("up") == true && first.bool("le") == true && first.string("bus") == "virtual")
      #expect(first.strings("features").first == "core_5.0")
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

    /// The kernel scans passively for devices that it should connect to, for example trusted devices of bluetoothd. Our scan replaces that
    /// scan and also hears scan responses. Afterwards the kernel scans as before.
    @Test func scanWhileTheKernelWaitsForADevice() throws {
      func manage(_ words: String) throws { try Guest.must("sh", "-c", "timeout 10 btmgmt --index 0 \(words) </dev/null") }
      try manage("add-device -a 2 -t 2 C1:22:33:44:55:66")
      try Guest.waitForScanning(true)
      let result = try Guest.blectl("scan", "--json", "--duration", "2")
      #expect(result.status == 0, "\(result.errors)")
      #expect(Set(try result.records.compactMap { $0.string("pdu") }) == ["adv_ind", "scan_rsp"], "\(result.text)")
      try Guest.waitForScanning(true)
      try manage("del-device -t 2 C1:22:33:44:55:66")
      try Guest.waitForScanning(false)
    }

    /// Every command works on the kernel's stack, and with our own host on its user channel.
    @Test(arguments: ["hci0", "user:0"]) func everyCommand(_ adapter: String) throws {
      if adapter == "user:0" { try Guest.switchOff("hci0") }
      defer { if adapter == "user:0" { _ = try? Guest.switchOn("hci0") } }
      let peer = "\(BumbleAir.peer)/random"
      func blectl(_ arguments: String..., input: [UInt8]? = nil) throws -> ProcessResult {
        let result = try Blectl.run(["-i", adapter, "--json"] + arguments, input: input, adapter: nil, virtual: false)
        #expect(result.status == 0, "\(arguments): \(result.errors)")
        return result
      }
      #expect(try blectl("scan", "--name", "Lock-01", "--count", "1").records.first?.string("address") == BumbleAir.peer)
      #expect(try blectl("connect", peer).records.first?.int("mtu") == 517)
      let asked = try blectl("connect", peer, "--mtu", "100", "--interval", "50", "--wait").records.first
      #expect(asked?.int("mtu") == 100 && asked?.double("interval_ms") == 50)
      #expect(try blectl("services", peer).records.contains { $0.string("uuid") == "ffe0" })
      #expect(try blectl("read", peer, "ffe2").records.first?.string("text") == "hello lock")
      #expect(try blectl("mac-from-adv", BumbleAir.peer, "--rule", "mfg:0x014c@0:be").records.first?.string("mac") == BumbleAir.peer)
      let long = Bytes.picture(300)
      #expect(try blectl("write", peer, "ffe4", "-", "--mode", "long", "--read-back", input: long).records.first?.int("bytes") == 300)
      let pong = try blectl("write", peer, "ffe1", "ping", "--as", "utf8", "--expect", "ffe2=706f6e67")
      #expect(pong.text.contains("706f6e67"))
      let both = try blectl("write", peer, "ffe1", "ping", "--as", "utf8", "--expect", "ffe2=\"po\"", "--fail-on", "ffe2=\"no\"")
      #expect(try both.records.last?.string("value") == "706f6e67")
      #expect(try blectl("notify", peer, "ffe5", "--count", "3").records.count == 3)
      #expect(try blectl("notify", peer, "ffe6", "--count", "2").records.map { $0.string("event") } == ["indication", "indication"])
      let picture = Bytes.picture(20_000)
      _ = try blectl("write", peer, "ffe8", "00")
      #expect(try blectl("send-file", peer, "ffe1", "-", input: picture).records.last?.int("bytes") == 20_000)
      #expect(try blectl("read", peer, "ffe7").records.first?.string("value") == BumbleAir.report(picture))
      if adapter == "hci0" { try Guest.expectQuiet() }
    }
  }
}
