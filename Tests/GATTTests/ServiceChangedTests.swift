import TestSupport

/// Service Changed (Vol 3 Part G §7.1) causes rediscovery of the named range only.
@Suite(.timeLimit(.minutes(15))) struct ServiceChangedTests {
  /// 1–4 Generic Attribute with Service Changed · 5–7 ff00 with ff01 · 8–a ff10 with ff11
  static let before = PlainServer([
    .init(handle: 1, type: UUID(0x2800), value: [0x01, 0x18]), .init(handle: 2, type: UUID(0x2803), value: [0x20, 0x03, 0x00, 0x05, 0x2A]),
    .init(handle: 3, type: UUID(0x2A05), value: [], isReadable: false), .init(handle: 4, type: UUID(0x2902), value: [0, 0]),
    .init(handle: 5, type: UUID(0x2800), value: [0x00, 0xFF]), .init(handle: 6, type: UUID(0x2803), value: [0x12, 7, 0, 0x01, 0xFF]),
    .init(handle: 7, type: UUID(0xFF01), value: [1]),
    .init(handle: 8, type: UUID(0x2800), value: [0x10, 0xFF]), .init(handle: 9, type: UUID(0x2803), value: [0x02, 10, 0, 0x11, 0xFF]),
    .init(handle: 10, type: UUID(0xFF11), value: [2]),
  ])

  /// The database with ff20 and a descriptor in place of ff10, followed by ff30.
  static let after = PlainServer(
    Array(before.items.prefix(7)) + [
      .init(handle: 8, type: UUID(0x2800), value: [0x20, 0xFF]), .init(handle: 9, type: UUID(0x2803), value: [0x12, 10, 0, 0x21, 0xFF]),
      .init(handle: 10, type: UUID(0xFF21), value: [2]), .init(handle: 11, type: UUID(0x2902), value: [0, 0]),
      .init(handle: 20, type: UUID(0x2800), value: [0x30, 0xFF]), .init(handle: 21, type: UUID(0x2803), value: [0x02, 22, 0, 0x31, 0xFF]),
      .init(handle: 22, type: UUID(0xFF31), value: [3]),
    ])

  @LoopActor private struct Fixture {
    let client: Client
    let peer: ScriptedPeer
    let state: State
    @LoopActor final class State {
      var server = ServiceChangedTests.before
      var notes: [ClientNote] = []
    }

    init(follows: Bool = true) {
      let (near, far) = MemoryChannel.pair()
      let state = State()
      self.state = state
      peer = ScriptedPeer(far) { state.server.answer($0) }
      client = Client(near)
      client.followsServiceChanges = follows
      client.onNote = { state.notes.append($0) }
    }

    func change(_ value: [UInt8]) async throws {
      state.server = ServiceChangedTests.after
      peer.push([0x1D, 3, 0] + value)
      try await EventLoop.shared.sleep(for: .milliseconds(1))
    }

    /// Returns the handles of later requests.
    func asked(since count: Int) -> [AttributeHandle] {
      peer.received.dropFirst(count).compactMap {
        (try? PDU(parsing: $0)).flatMap { if case .request(let request) = $0 { request.handle } else { nil } }
      }
    }
  }

  @Test(.onLoop) @LoopActor func onlyTheRangeIsDiscoveredAgain() async throws {
    let fixture = Fixture()
    let first = try await fixture.client.discover()
    #expect(fixture.peer.received.last == [0x12, 4, 0, 2, 0])
    try await fixture.change([8, 0, 0xFF, 0xFF])
    #expect(fixture.peer.received.last == [0x1E] && fixture.state.notes == [.servicesChanged(HandleRange(8, 0xFFFF))])
    #expect(fixture.client.table?.services.map(\.handle) == [1, 5])
    let before = fixture.peer.received.count
    let second = try await fixture.client.discover()
    let asked = fixture.asked(since: before)
    #expect(!asked.isEmpty && asked.allSatisfy { $0 >= 8 }, "\(asked)")
    #expect(second.services.prefix(2) == first.services.prefix(2))
    #expect(second.services.map(\.uuid) == [0x1801, 0xFF00, 0xFF20, 0xFF30].map { UUID($0) })
    #expect(second.services[2].characteristics.first?.clientConfiguration?.handle == 11)
    #expect(second.services[3].characteristics.first?.valueHandle == 22)
    // A new client finds the same table.
    let fresh = Fixture(follows: false)
    fresh.state.server = Self.after
    #expect(try await fresh.client.discover() == second)
    // No further requests are sent.
    let count = fixture.peer.received.count
    #expect(try await fixture.client.discover() == second)
    #expect(fixture.peer.received.count == count)
    fixture.client.close()
    fresh.client.close()
  }

  @Test(.onLoop, arguments: [[1, 0, 0xFF, 0xFF], [], [9, 0, 8, 0], [0, 0, 0, 0], [8, 0, 10, 0, 1]] as [[UInt8]])
  @LoopActor func aRangeOfAllOrNoRangeDropsEverything(_ value: [UInt8]) async throws {
    let fixture = Fixture()
    _ = try await fixture.client.discover()
    try await fixture.change(value)
    #expect(fixture.client.table == nil && fixture.state.notes == [.servicesChanged(.all)])
    #expect(try await fixture.client.discover().services.count == 4)
    fixture.client.close()
  }

  /// A service that the range only touches is discovered in full.
  @Test(.onLoop) @LoopActor func aTouchedServiceIsDiscoveredWhole() async throws {
    let fixture = Fixture()
    _ = try await fixture.client.discover()
    try await fixture.change([10, 0, 30, 0])
    #expect(fixture.client.table?.services.map(\.handle) == [1, 5])
    #expect(try await fixture.client.discover().services.map(\.handle) == [1, 5, 8, 20])
    fixture.client.close()
  }

  /// A change during rediscovery is handled too.
  @Test(.onLoop) @LoopActor func aChangeDuringDiscoveryIsNotLost() async throws {
    let fixture = Fixture()
    _ = try await fixture.client.discover()
    fixture.peer.push([0x1D, 3, 0, 8, 0, 10, 0])
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    let discovering = EventLoop.shared.spawn { try? await fixture.client.discover() }
    try await fixture.change([5, 0, 0xFF, 0xFF])
    #expect(await discovering.value?.services.map(\.uuid) == [0x1801, 0xFF00, 0xFF20, 0xFF30].map { UUID($0) })
    fixture.client.close()
  }

  /// Without Service Changed, or if the peer refuses it, discovery works as usual.
  @Test(.onLoop) @LoopActor func withoutServiceChanged() async throws {
    let quiet = Fixture(follows: false)
    _ = try await quiet.client.discover()
    #expect(!quiet.peer.received.contains { $0.first == 0x12 })
    quiet.client.close()
    let refused = Fixture()
    refused.peer.rules = [ScriptedPeer.Rule([0x12], [.pdu([0x01, 0x12, 4, 0, 0x05])])]
    #expect(try await refused.client.discover().services.count == 3)
    #expect(refused.state.notes.isEmpty)
    refused.client.close()
  }
}
