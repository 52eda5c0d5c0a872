import TestSupport

extension KernelTests {
  /// Links that are tuned, lost, or lose their adapter.
  @Suite struct LinkTests {
    static let peer = "\(BumbleAir.peer)/random"

    @Test func connectReportsTheRealLink() throws {
      let air = try Guest.air("--controller", "extended", "--tuning", "on")
      let link = try #require(try air.blectl("connect", Self.peer, "--json").records.first)
      #expect(link.int("mtu") == 517 && link.string("phy") == "1m" && link.int("latency") == 0 && link.int("rssi") == -50)
      #expect((link.double("interval_ms") ?? 0) >= 7.5 && (link.double("supervision_timeout_ms") ?? 0) >= 100)
      try Guest.expectQuiet(air.adapter)
    }

    @Test func tuningALiveLink() throws {
      let air = try Guest.air("--controller", "extended", "--tuning", "on")
      let record = try #require(try sendTuned(air).records.last)
      #expect(record.double("interval_ms") == 15 && record.string("phy") == "2m" && record.int("data_length") == 251, "\(record)")
    }

    /// Sends a file with every link option, and checks whether it arrived.
    private func sendTuned(_ air: BumbleAir) throws -> ProcessResult {
      let picture = Bytes.picture(20_000)
      _ = try air.blectl("write", Self.peer, "ffe8", "00")
      let sent = try air.blectl(
        "send-file", Self.peer, "ffe1", "-", "--interval", "15", "--phy", "2m", "--data-length", "251", "--json", input: picture)
      #expect(sent.status == 0, "\(sent.errors)")
      #expect(try air.blectl("read", Self.peer, "ffe7", "--json").records.first?.string("value") == BumbleAir.report(picture))
      return sent
    }

    /// The device goes out of range after that many bytes. All bytes that blectl counts as confirmed have arrived.
    @Test(arguments: [(UInt32(5_000), []), (UInt32(12_000), ["--mode", "request"])]) func lostInATransfer(bytes: UInt32, mode: [String])
      throws
    {
      let air = try Guest.air("--controller", "extended", "--tuning", "on")
      let fuse = "03" + Bytes.hex(Bytes.u32le(bytes))
      for control in ["00", fuse] { #expect(try air.blectl("write", Self.peer, "ffe8", control).status == 0) }
      let sent = try Blectl.run(
        ["send-file", Self.peer, "ffe1", "-", "--json", "--ack-every", "4"] + mode, input: Bytes.picture(20_000), adapter: air.adapter,
        virtual: false)
      #expect(sent.status == 6 && sent.error?.int("code") == 8, "\(sent.errors)")
      let known = try #require(
        sent.errors.firstMatch(of: /(?:At least|Between) (\d+) (?:and \d+ )?of \d+ bytes arrived/).flatMap { Int($0.1) }, "\(sent.errors)")
      let arrived = try #require(air.event("dropping")?.int("count"))
      #expect(known <= arrived && arrived < Int(bytes) + 517 && known > 0, "\(known) \(arrived)")
      try Guest.expectQuiet(air.adapter)
    }

    @Test func outOfRangeAndBack() throws {
      let air = try Guest.air("--controller", "extended", "--tuning", "on")
      let listening = try Blectl.start(["notify", Self.peer, "ffe5", "--json"], adapter: air.adapter, virtual: false)
      #expect(listening.waitForOutput(containing: "notification"))
      air.say("away")
      let lost = listening.wait()
      #expect(lost.status == 6 && lost.error?.int("code") == 8, "\(lost.errors)")
      let absent = try air.blectl("connect", Self.peer, "--timeout", "3", "--json")
      #expect(absent.status == 4 && absent.error?.string("message")?.contains("3 s") == true, "\(absent.errors)")
      try Guest.expectQuiet(air.adapter)
      air.say("back")
      #expect(try air.blectl("read", Self.peer, "ffe2").text == "hello lock\n")
    }

    /// blectl reports the options that the controller does not support, and the transfer continues.
    @Test func aControllerThatCannotTune() throws {
      let sent = try sendTuned(try Guest.air("--controller", "extended", "--tuning", "off"))
      #expect(try sent.records.last?.double("interval_ms") == 15)
      #expect(sent.errors.contains("does not support PHYs other than 1M"), "\(sent.errors)")
    }

    @Test func unpluggedInMidOperation() throws {
      let air = try Guest.air("--controller", "extended", "--tuning", "off")
      defer { Guest.removeAir() }
      let listening = try Blectl.start(["notify", Self.peer, "ffe5", "--json"], adapter: air.adapter, virtual: false)
      #expect(listening.waitForOutput(containing: "notification"))
      air.kill()
      let lost = listening.wait()
      #expect(lost.status == 6 && lost.errors.contains("unplugged"), "\(lost.errors)")
      let gone = try air.blectl("scan", "--json")
      #expect(gone.status == 3 && gone.error?.string("message")?.contains("No adapter") == true, "\(gone.errors)")
    }
  }
}
