import TestSupport

/// Tests long subscriptions whose services change during the link, and requests that fail.
@Suite(.timeLimit(.minutes(15))) struct RenewalTests {
  static let first = UUID(0xFF01)
  static let second = UUID(0xFF02)

  /// Sets up 1–4: Generic Attribute with Service Changed; then services ff00 with one notifying characteristic (4 handles) each.
  static func server(_ uuids: [UInt8], from start: UInt8 = 5, properties: UInt8 = 0x12) -> PlainServer {
    var items: [PlainServer.Item] = [
      .init(handle: 1, type: UUID(0x2800), value: [0x01, 0x18]), .init(handle: 2, type: UUID(0x2803), value: [0x20, 3, 0, 0x05, 0x2A]),
      .init(handle: 3, type: UUID(0x2A05), value: [], isReadable: false), .init(handle: 4, type: UUID(0x2902), value: [0, 0]),
    ]
    for (index, uuid) in uuids.enumerated() {
      let handle = start + UInt8(index) * 4
      items += [
        .init(handle: AttributeHandle(rawValue: UInt16(handle)), type: UUID(0x2800), value: [uuid, 0xFE]),
        .init(handle: AttributeHandle(rawValue: UInt16(handle + 1)), type: UUID(0x2803), value: [properties, handle + 2, 0, uuid, 0xFF]),
        .init(handle: AttributeHandle(rawValue: UInt16(handle + 2)), type: UUID(0xFF00 + UInt32(uuid)), value: [0]),
        .init(handle: AttributeHandle(rawValue: UInt16(handle + 3)), type: UUID(0x2902), value: [0, 0]),
      ]
    }
    return PlainServer(items)
  }

  @LoopActor private final class Fixture {
    let client: Client
    let peer: ScriptedPeer
    let values: SubscribedValues
    var missing: [[UUID]] = []
    private let state: State
    private final class State { var server = RenewalTests.server([1, 2]) }

    init(properties: UInt8 = 0x12) {
      let (near, far) = MemoryChannel.pair()
      let state = State()
      state.server = RenewalTests.server([1, 2], properties: properties)
      self.state = state
      peer = ScriptedPeer(far) { state.server.answer($0) }
      client = Client(near)
      client.followsServiceChanges = true
      values = SubscribedValues(client)
      values.onRenewed = { [weak self] in self?.missing.append($0.map(\.characteristic.uuid)) }
    }

    func serve(_ server: PlainServer) { state.server = server }

    func characteristic(_ uuid: UUID) async throws -> Characteristic {
      try #require(try await client.discover().characteristics.first { $0.uuid == uuid })
    }

    func subscribe() async throws {
      for uuid in [RenewalTests.first, RenewalTests.second] { try await values.add(try await characteristic(uuid)) }
    }

    func change(to server: PlainServer, _ range: [UInt8] = [5, 0, 0xFF, 0xFF]) async throws {
      state.server = server
      peer.push([0x1D, 3, 0] + range)
      try await EventLoop.shared.sleep(for: .milliseconds(5))
    }

    func configuration(_ handle: AttributeHandle) -> [UInt8]? { state.server.items.first { $0.handle == handle }?.value }

    /// Returns the types of values from these handles, in turn.
    func types(at handles: [UInt8]) async throws -> [UUID] {
      for handle in handles { peer.push([0x1B, handle, 0, handle]) }
      let end = EventLoop.shared.now.advanced(by: .milliseconds(5))
      var types: [UUID] = []
      while let (_, uuid) = try await values.next(until: end) { types.append(uuid) }
      return types
    }
  }

  /// If handles move, values arrive from the new ones. Nothing is written to the old ones, which belong to others.
  @Test(.onLoop) @LoopActor func valuesGoOnWhereTheyAreNow() async throws {
    let fixture = Fixture()
    try await fixture.subscribe()
    #expect(try await fixture.types(at: [7, 11]) == [Self.first, Self.second])
    try await fixture.change(to: Self.server([9, 1, 2]))
    #expect(fixture.missing == [[]] && fixture.values.characteristics.map(\.valueHandle) == [11, 15])
    #expect(try await fixture.types(at: [7, 11, 15]) == [Self.first, Self.second])
    #expect(fixture.configuration(8) == [0, 0] && fixture.configuration(12) == [1, 0] && fixture.configuration(16) == [1, 0])
    let before = fixture.peer.received.count
    await fixture.values.end()
    #expect(fixture.peer.received.dropFirst(before) == [[0x12, 12, 0, 0, 0], [0x12, 16, 0, 0, 0]])
    fixture.client.close()
  }

  /// If handles stay but the peer forgets its subscriptions, they are renewed, even after a change of all handles.
  @Test(arguments: [[5, 0, 0xFF, 0xFF], [1, 0, 0xFF, 0xFF], [5, 0, 8, 0]] as [[UInt8]]) func askedAgainWhereItWas(_ range: [UInt8])
    async throws
  {
    try await onLoop(with: Fixture()) { fixture in
      try await fixture.subscribe()
      try await fixture.change(to: Self.server([1, 2]), range)
      #expect(fixture.configuration(8) == [1, 0] && fixture.configuration(12) == (range[2] == 8 ? [0, 0] : [1, 0]))
      #expect(try await fixture.types(at: [7, 11]) == [Self.first, Self.second])
      // The services change again.
      try await fixture.change(to: Self.server([1, 2]), range)
      #expect(fixture.configuration(8) == [1, 0] && fixture.missing == [[], []])
      fixture.client.close()
    }
  }

  /// A queue for one characteristic ends with its subscription, and with no other one.
  @Test(.onLoop) @LoopActor func aLostSubscriptionMayEndTheQueue() async throws {
    let fixture = Fixture()
    var missing: [Restoration.Missing] = []
    fixture.values.onRenewed = { missing += $0 }
    let values = SubscribedValues(fixture.client)
    try await values.add(try await fixture.characteristic(Self.first))
    try await fixture.subscribe()
    try await fixture.change(to: Self.server([1]))
    let lost = try #require(missing.first?.characteristic)
    values.close(missing: missing)
    #expect(lost.uuid == Self.second && !values.isClosed)
    fixture.values.close(missing: missing)
    await #expect(throws: GATTError.gone(lost)) { _ = try await fixture.values.next(until: nil) }
  }

  /// A missing characteristic is reported and may return. It has one subscription, which ends on the peer too.
  @Test(.onLoop) @LoopActor func whatIsMissingMayComeBack() async throws {
    let fixture = Fixture()
    try await fixture.subscribe()
    try await fixture.change(to: Self.server([1]))
    #expect(fixture.missing == [[Self.second]] && fixture.values.characteristics.map(\.uuid) == [Self.first])
    #expect(try await fixture.types(at: [7, 11]) == [Self.first])
    try await fixture.change(to: Self.server([1, 2], from: 0x21))
    #expect(fixture.missing.last == [])
    #expect(try await fixture.types(at: [7, 0x23, 0x27]) == [Self.first, Self.second])
    try await fixture.values.removeAll()
    #expect(fixture.configuration(0x24) == [0, 0] && fixture.configuration(0x28) == [0, 0])
    #expect(try await fixture.types(at: [0x23, 0x27]).isEmpty)
    fixture.client.close()
  }

  /// The services may change again during a renewal or a first subscription.
  @Test(.onLoop) @LoopActor func aChangeMeanwhile() async throws {
    let fixture = Fixture()
    let change = ScriptedPeer.Rule([0x12], [.pdu([0x1D, 3, 0, 5, 0, 0xFF, 0xFF]), .pdu([0x13])])
    let item = try await fixture.characteristic(Self.first)
    fixture.peer.rules = [change]
    try await fixture.values.add(item)
    await fixture.values.untilRenewed()
    #expect(fixture.configuration(8) == [1, 0])
    fixture.peer.rules = [change]
    try await fixture.change(to: Self.server([9, 1]))
    await fixture.values.untilRenewed()
    #expect(fixture.configuration(12) == [1, 0] && fixture.missing.last == [])
    #expect(try await fixture.types(at: [7, 11]) == [Self.first])
    fixture.client.close()
  }

  /// A peer that answers every subscription with Database Out Of Sync is abandoned.
  @Test(.onLoop) @LoopActor func alwaysOutOfSync() async throws {
    let fixture = Fixture()
    try await fixture.subscribe()
    fixture.peer.rules = [ScriptedPeer.Rule([0x12, 8], [.pdu([0x01, 0x12, 8, 0, 0x12])], times: nil)]
    try await fixture.change(to: Self.server([1, 2]))
    await fixture.values.untilRenewed()
    try await EventLoop.shared.sleep(for: .seconds(5))
    #expect(fixture.missing.count == 1 && fixture.missing[0].contains(Self.first))
    #expect(fixture.client.closed == nil)
    #expect(fixture.peer.received.filter { $0.starts(with: [0x12, 8]) }.count < 20)
    await fixture.values.end()
    fixture.client.close()
  }

  /// If ending a subscription fails or is cancelled, it stays with its values and can be ended again.
  @Test(.onLoop, arguments: [false, true]) @LoopActor func whatCouldNotBeSwitchedOffStays(_ isGivenUp: Bool) async throws {
    let fixture = Fixture()
    try await fixture.subscribe()
    let item = try await fixture.characteristic(Self.first)
    fixture.peer.rules = [ScriptedPeer.Rule([0x12, 8], isGivenUp ? [] : [.pdu([0x01, 0x12, 8, 0, 0x11])])]
    let removing = EventLoop.shared.spawn { (try? await fixture.values.removeAll()) != nil }
    if isGivenUp {
      try await EventLoop.shared.sleep(for: .milliseconds(5))
      removing.cancel()
      // The answer is late.
      EventLoop.shared.schedule(after: .milliseconds(1)) { fixture.peer.push([0x13]) }
    }
    #expect(await removing.value == false)
    #expect(fixture.values.characteristics.contains(item))
    #expect(try await fixture.types(at: [7]) == [Self.first])
    try await fixture.values.remove(item)
    #expect(!fixture.values.characteristics.contains(item) && fixture.configuration(8) == [0, 0])
    #expect(try await fixture.types(at: [7]).isEmpty)
    // It can be subscribed to again.
    try await fixture.values.add(item)
    #expect(fixture.configuration(8) == [1, 0])
    fixture.client.close()
  }

  /// If the services change while a characteristic changes its kind of values, only the renewal subscribes again, at the new handle.
  @Test(.onLoop) @LoopActor func leavingDuringAChangeOfKind() async throws {
    let fixture = Fixture(properties: 0x32)
    let item = try await fixture.characteristic(Self.first)
    try await fixture.values.add(item)
    // Service Changed arrives before the response.
    fixture.peer.rules = [ScriptedPeer.Rule([0x12, 8], [.pdu([0x1D, 3, 0, 5, 0, 0xFF, 0xFF]), .pdu([0x13])])]
    fixture.serve(Self.server([9, 1], properties: 0x32))
    _ = try? await fixture.values.add(item, kind: .indication)
    await fixture.values.untilRenewed()
    #expect(fixture.values.characteristics.map(\.valueHandle) == [11])
    // Handle 8 belongs to another characteristic now.
    #expect(fixture.peer.received.count { $0.starts(with: [0x12, 8]) } == 2, "\(fixture.peer.received)")
    #expect(fixture.configuration(8) == [0, 0] && fixture.configuration(12) == [1, 0])
    fixture.client.close()
  }

  /// A new subscription writes again, because the peer may or may not still send.
  @Test(.onLoop) @LoopActor func subscribedToAgainInsteadOfEnded() async throws {
    let fixture = Fixture()
    try await fixture.subscribe()
    let item = try await fixture.characteristic(Self.first)
    fixture.peer.rules = [ScriptedPeer.Rule([0x12, 8], [.pdu([0x13])])]
    let removing = EventLoop.shared.spawn { (try? await fixture.values.remove(item)) != nil }
    removing.cancel()
    _ = await removing.value
    let before = fixture.peer.received.count
    try await fixture.values.add(item)
    #expect(fixture.peer.received.dropFirst(before).last == [0x12, 8, 0, 1, 0])
    #expect(try await fixture.types(at: [7]) == [Self.first])
    #expect(fixture.values.characteristics.filter { $0 == item }.count == 1)
    fixture.client.close()
  }
}
