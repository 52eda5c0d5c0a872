import BluetoothLELinux
import TestSupport

extension KernelTests {
  /// The links of an adapter, whichever program made them, and a lost link that is restored.
  @Suite struct PeersTests {
    @Test func linksOfOthersAreListed() throws {
      let air = try Guest.air("--controller", "extended", "--tuning", "on")
      defer { Guest.removeAir() }
      #expect(try air.blectl("peers", "--json").records.isEmpty)
      let other = try Blectl.start(["connect", "\(BumbleAir.peer)/random", "-"], adapter: air.adapter, virtual: false)
      #expect(other.waitForOutput(containing: "Connected to"))
      let record = try #require(try air.blectl("peers", "--json").records.first)
      #expect(record.string("address") == BumbleAir.peer && record.string("address_type") == "random")
      #expect(record.bool("connected") == true && record.bool("ours") == false && record.isNull("last_connected"))
      // Without capabilities the kernel does not reveal the type. Scanning would need more.
      try Guest.must("cp", Blectl.path, "/tmp/blectl")
      let nobody = try RunningProcess.run(
        ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set", "-all", "/tmp/blectl"]
          + ["-i", air.adapter, "peers", "--json"])
      let seen = try #require(try nobody.records.first, "\(nobody.errors)")
      #expect(seen.string("address") == BumbleAir.peer && seen.isNull("address_type") && seen.bool("connected") == true)
      #expect(other.finish().status == 0)
      #expect(try air.blectl("peers", "--json").records.isEmpty)
      try Guest.switchOff(air.adapter)
      let down = try air.blectl("peers", "--json")
      #expect(down.status == 0 && down.errors.contains("Listing only earlier connections"), "\(down.errors)")
    }

    /// The device goes out of range and returns: the connection continues with its subscription.
    @Test func aLostLinkIsRestored() async throws {
      let air = try Guest.air("--controller", "extended", "--tuning", "on")
      let number = try #require(Int(air.adapter.dropFirst(3)))
      try await onLoop {
        let session = Session { try await KernelCentral.open(adapter: number) }
        session.staysOpen = true
        let connection = try await session.connect(TwoBumbleLinks.peers[0])
        let values = SubscribedValues(lastingOn: connection)
        try await values.add(try await connection.client.characteristic(Selector("ffe5")))
        _ = try await values.next(until: nil)
        air.say("away")
        _ = try await connection.client.untilClosed()
        EventLoop.shared.schedule(after: .seconds(3)) { air.say("back") }
        let restoration = try await session.restore(connection)
        #expect(restoration.subscriptions == 1 && restoration.missing.isEmpty && connection.isOpen)
        while try await values.next(until: EventLoop.shared.now) != nil {}
        #expect(try await values.next(until: EventLoop.shared.now.advanced(by: .seconds(30))) != nil)
        await session.close()
      }
      try Guest.expectQuiet(air.adapter)
    }
  }
}
