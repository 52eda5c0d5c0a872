import TestSupport

/// After the peer's services change, old handles may belong to other attributes. Nothing is written to them.
@Suite(.timeLimit(.minutes(15))) struct ChangedSubscriptionTests {
  @LoopActor private struct Fixture {
    let client: Client
    let peer: ScriptedPeer

    /// Sets up 1–4: Generic Attribute with Service Changed; 5–8: ff00 with ff01, which notifies.
    init() {
      let (near, far) = MemoryChannel.pair()
      var server = PlainServer(
        Array(ServiceChangedTests.before.items.prefix(7)) + [.init(handle: 8, type: UUID(0x2902), value: [0, 0])])
      peer = ScriptedPeer(far) { server.answer($0) }
      client = Client(near)
      client.followsServiceChanges = true
    }

    func subscribe() async throws -> Subscription {
      try await client.subscribe(try #require(try await client.discover().characteristics.first { $0.uuid == UUID(0xFF01) }))
    }

    func change(_ value: [UInt8]) async throws {
      peer.push([0x1D, 3, 0] + value)
      try await EventLoop.shared.sleep(for: .milliseconds(1))
    }

    /// The writes to Client Characteristic Configurations.
    var writes: [[UInt8]] { peer.received.filter { $0.first == 0x12 } }
  }

  static let on: [UInt8] = [0x12, 8, 0, 1, 0]
  static let off: [UInt8] = [0x12, 8, 0, 0, 0]
  static let changes: [UInt8] = [0x12, 4, 0, 2, 0]

  /// The change covers the whole database, one service, or only one descriptor.
  @Test(.onLoop, arguments: [[1, 0, 0xFF, 0xFF], [5, 0, 8, 0], [8, 0, 0xFF, 0xFF]] as [[UInt8]])
  @LoopActor func nothingIsWrittenToOldHandles(_ range: [UInt8]) async throws {
    let fixture = Fixture()
    let subscription = try await fixture.subscribe()
    #expect(fixture.writes == [Self.changes, Self.on] && !subscription.isGone)
    try await fixture.change(range)
    #expect(subscription.isGone && !fixture.client.isSubscribed(to: subscription.characteristic))
    await #expect(throws: GATTError.gone(subscription.characteristic)) { _ = try await subscription.next() }
    try await subscription.cancel()
    try await fixture.client.unsubscribeAll()
    #expect(fixture.writes.allSatisfy { $0 != Self.off })
    fixture.client.close()
  }

  /// A change in another range does not affect the subscription.
  @Test(.onLoop) @LoopActor func anotherRangeChangesNothing() async throws {
    let fixture = Fixture()
    let subscription = try await fixture.subscribe()
    try await fixture.change([9, 0, 0xFF, 0xFF])
    fixture.peer.push([0x1B, 7, 0, 9])
    #expect(try await subscription.next().value == [9] && !subscription.isGone)
    try await subscription.cancel()
    #expect(fixture.writes == [Self.changes, Self.on, Self.off])
    fixture.client.close()
  }

  /// Handles may stay while the peer forgets the subscription, so a new subscription writes again.
  /// Service Changed is switched off where it is now, after its rediscovery.
  @Test(.onLoop) @LoopActor func whoSubscribesAgainAsksThePeerAgain() async throws {
    let fixture = Fixture()
    _ = try await fixture.subscribe()
    try await fixture.change([1, 0, 0xFF, 0xFF])
    try await fixture.client.unsubscribeAll()
    let again = try await fixture.subscribe()
    #expect(fixture.writes == [Self.changes, Self.on, Self.on])
    fixture.peer.push([0x1B, 7, 0, 9])
    #expect(try await again.next().value == [9])
    try await fixture.client.unsubscribeAll()
    #expect(fixture.writes.dropFirst(3) == [Self.off, [0x12, 4, 0, 0, 0]])
    fixture.client.close()
  }

  /// Database Out Of Sync affects all handles in the same way.
  @Test(.onLoop) @LoopActor func outOfSync() async throws {
    let fixture = Fixture()
    let subscription = try await fixture.subscribe()
    fixture.peer.rules = [ScriptedPeer.Rule([0x0A], [.pdu([0x01, 0x0A, 7, 0, 0x12])])]
    await #expect(throws: GATTError.self) { _ = try await fixture.client.read(7) }
    #expect(subscription.isGone && fixture.client.table == nil)
    try await fixture.client.unsubscribeAll()
    #expect(fixture.writes == [Self.changes, Self.on])
    _ = try await fixture.subscribe()
    #expect(fixture.writes == [Self.changes, Self.on, Self.on])
    fixture.client.close()
  }

  /// If the services change during the write, the subscription is gone.
  /// The answer for the old descriptor does not count for the new one.
  @Test(.onLoop) @LoopActor func aChangeWhileItIsWritten() async throws {
    let fixture = Fixture()
    _ = try await fixture.client.discover()
    fixture.peer.rules = [ScriptedPeer.Rule([0x12], [.pdu([0x1D, 3, 0, 5, 0, 8, 0]), .pdu([0x13])])]
    let first = try await fixture.subscribe()
    #expect(first.isGone)
    let second = try await fixture.subscribe()
    #expect(!second.isGone && fixture.writes == [Self.changes, Self.on, Self.on])
    fixture.client.close()
  }
}
