import TestSupport

/// Tests values that the peer sends, and values that are read.
@Suite(.timeLimit(.minutes(15))) struct ValueTests {
  @LoopActor
  private func follow(_ attribute: String, _ limits: FollowLimits) async throws -> (FollowOutcome?, [[UInt8]], Duration) {
    let air = try await TestAir()
    var result: (FollowOutcome?, [[UInt8]], Duration) = (nil, [], .zero)
    try await air.withPeer("band-7") { _, client in
      var start = EventLoop.shared.now
      result.0 = try await client.follow {
        try await $0.add(try await client.characteristic(Selector(attribute)))
      } limits: {
        start = EventLoop.shared.now
        return FollowLimits(
          count: limits.count, end: limits.end.map { _ in start.advanced(by: .milliseconds(2500)) }, patience: limits.patience)
      } take: { event, uuid in
        #expect(uuid.description == attribute)
        result.1.append(event.value)
      }
      result.2 = start.duration(to: EventLoop.shared.now)
      // The subscription has ended, but the link may stay.
      let table = try await client.discover()
      let configuration = try #require(table.characteristics.first { $0.uuid.description == attribute }?.clientConfiguration)
      #expect(try await client.read(configuration.handle) == [0, 0])
    }
    await air.central.close()
    return result
  }

  @Test(.onLoop) @LoopActor func aCountEndsIt() async throws {
    let (outcome, values, _) = try await self.follow("2a37", FollowLimits(count: 3))
    #expect(outcome == .count)
    #expect(values == [[0x00, 0x48], [0x00, 0x4A], [0x00, 0x49]])
  }

  @Test(.onLoop) @LoopActor func aTimeEndsIt() async throws {
    let (outcome, values, time) = try await self.follow("2a37", FollowLimits(end: EventLoop.shared.now, patience: .seconds(10)))
    #expect(outcome == .end && values.count == 2)
    // Then the subscription ends, which takes one round trip.
    #expect(time >= .milliseconds(2500) && time < .milliseconds(2600))
  }

  /// The wait ends with a silent characteristic, but every value extends it.
  @Test(arguments: [("ff01", 30.0, 0), ("2a37", 0.5, 0)]) func silenceEndsIt(_ attribute: String, _ patience: Double, _ count: Int)
    async throws
  {
    try await onLoop {
      let (outcome, values, time) = try await self.follow(attribute, FollowLimits(count: 1, patience: .limited(seconds: patience)))
      #expect(outcome == .silence && values.count == count)
      #expect(time >= .limited(seconds: patience) && time < .limited(seconds: patience + 0.1))
    }
  }

  @Test(.onLoop) @LoopActor func everyValueRenewsThePatience() async throws {
    let (outcome, values, _) = try await self.follow("2a37", FollowLimits(count: 5, patience: .milliseconds(1100)))
    #expect(outcome == .count && values.count == 5)
  }

  /// A slow consumer gets the values in order, and none from after the count or the end.
  @Test(.onLoop) @LoopActor func aSlowTakerGetsThemInOrder() async throws {
    let air = try await TestAir()
    try await air.withPeer("band-7") { _, client in
      var values: [UInt8] = []
      let outcome = try await client.follow {
        try await $0.add(try await client.characteristic(Selector("2a37")))
      } limits: {
        FollowLimits(count: 3, patience: .seconds(2))
      } take: { event, _ in
        try await EventLoop.shared.sleep(for: .seconds(4))
        values.append(event.value.last ?? 0)
      }
      #expect(outcome == .count && values == [0x48, 0x4A, 0x49])
    }
    await air.central.close()
  }

  @Test(.onLoop) @LoopActor func theEndOfTheLinkIsThrown() async throws {
    let air = try await TestAir()
    var values = 0
    await #expect(throws: (any Error).self) {
      try await air.withPeer("band-7") { link, client in
        EventLoop.shared.schedule(after: .milliseconds(3500)) { EventLoop.shared.spawn { await link.disconnect() } }
        _ = try await client.follow {
          try await $0.add(try await client.characteristic(Selector("2a37")))
        } limits: {
          FollowLimits()
        } take: { _, _ in
          values += 1
        }
      }
    }
    #expect(values >= 2)
    await air.central.close()
  }

  @Test(.onLoop) @LoopActor func onlyCharacteristicsNotify() async throws {
    let air = try await TestAir()
    await #expect(throws: NotACharacteristic.self) {
      try await air.withPeer("band-7") { _, client in _ = try await client.characteristic(Selector("0x0001")) }
    }
    await air.central.close()
  }

  @Test(.onLoop) @LoopActor func aPlainHandleNeedsNoDiscovery() async throws {
    let air = try await TestAir()
    try await air.withPeer("band-7") { _, client in
      let plain = try await client.attribute(Selector("0x0003"), discovering: false)
      #expect(plain == .handle(0x0003) && client.table == nil)
      let found = try await client.attribute(Selector("2a19"), discovering: false)
      #expect(found.characteristic?.uuid.short == 0x2A19 && client.table != nil)
    }
    await air.central.close()
  }

  @Test(.onLoop) @LoopActor func allThatCanBeRead() async throws {
    let air = try await TestAir()
    try await air.withPeer("band-7") { _, client in
      let table = try await client.discover()
      let (values, failure) = try await client.readableValues(table)
      #expect(failure == nil)
      let readable = table.characteristics.filter { $0.properties.contains(.read) }
      let descriptors = table.characteristics.flatMap(\.descriptors)
      #expect(Set(values.keys) == Set(readable.map(\.valueHandle) + descriptors.map(\.handle)))
      #expect(readable.count >= 3 && descriptors.count >= 3)
      let battery = try await client.attribute(Selector("2a19"), discovering: true)
      #expect(try values[battery.handle]?.get() == [60])
    }
    await air.central.close()
  }
}
