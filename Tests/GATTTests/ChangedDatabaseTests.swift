import TestSupport

@testable import BluetoothLE

/// Database Out Of Sync (Vol 3 Part G §2.5.2.1), and other news about a database that the client learns late.
@Suite(.timeLimit(.minutes(15))) struct ChangedDatabaseTests {
  /// The database of `ServiceChangedTests` after an update that moved ff01 from handle 7 to handle 10.
  private static let moved = PlainServer(
    Array(ServiceChangedTests.before.items.prefix(4)) + [
      .init(handle: 5, type: UUID(0x2800), value: [0x40, 0xFF]), .init(handle: 6, type: UUID(0x2803), value: [0x02, 7, 0, 0x41, 0xFF]),
      .init(handle: 7, type: UUID(0xFF41), value: [7]),
      .init(handle: 8, type: UUID(0x2800), value: [0x00, 0xFF]), .init(handle: 9, type: UUID(0x2803), value: [0x1E, 10, 0, 0x01, 0xFF]),
      .init(handle: 10, type: UUID(0xFF01), value: [10]), .init(handle: 11, type: UUID(0x2902), value: [0, 0]),
    ])

  @LoopActor private final class Fixture {
    let client: Client
    let peer: ScriptedPeer
    var notes: [ClientNote] = []
    private var server = ServiceChangedTests.before

    init() {
      let (near, far) = MemoryChannel.pair()
      peer = ScriptedPeer(far)
      client = Client(near)
      peer.fallback = { [unowned self] in server.answer($0) }
      client.onNote = { [unowned self] in notes.append($0) }
    }

    /// Moves the attributes. The peer refuses the next request, and only this one.
    func move(refusing opcode: UInt8) {
      server = ChangedDatabaseTests.moved
      peer.rules = [.init([opcode], [.pdu([0x01, opcode, 7, 0, 0x12])])]
    }

    func count(_ opcode: UInt8) -> Int { peer.received.count { $0.first == opcode } }
  }

  @Test(.onLoop) @LoopActor func aReadByUUIDIsRepeatedOnce() async throws {
    let fixture = Fixture()
    _ = try await fixture.client.discover()
    fixture.move(refusing: 0x0A)
    var values: [[UInt8]] = []
    try await fixture.client.read([try Selector("ff01")]) { values.append($1.value) }
    #expect(values == [[10]] && fixture.notes == [.servicesChanged(.all)] && fixture.count(0x0A) == 1)
    // A peer that always refuses is asked twice.
    fixture.peer.rules = [.init([0x0A], [.pdu([0x01, 0x0A, 10, 0, 0x12])], times: nil)]
    await #expect(throws: GATTError.self) {
      try await fixture.client.followingChanges(of: [try Selector("ff01")]) { _ = try await fixture.client.read(10) }
    }
    #expect(fixture.count(0x0A) == 3)
    fixture.client.close()
  }

  /// The handle may now be another attribute.
  @Test(.onLoop) @LoopActor func aReadByHandleIsNotRepeated() async throws {
    let fixture = Fixture()
    _ = try await fixture.client.discover()
    fixture.move(refusing: 0x0A)
    await #expect(throws: GATTError.self) { try await fixture.client.read([try Selector("0x0007")]) { _, _ in } }
    #expect(fixture.count(0x0A) == 1 && fixture.client.table == nil)
    fixture.client.close()
  }

  /// A peer ignores the commands that precede this error, and the check of commands must not ignore it.
  @Test(.onLoop) @LoopActor func commandsAreNotTakenForArrived() async throws {
    let fixture = Fixture()
    let selector = try Selector("ff01")
    let target = try await fixture.client.discover().resolve(selector)
    fixture.move(refusing: 0x04)
    var pacing = WritePacing()
    pacing.provesArrival = true
    let plan = try WriteProcedure(value: 1, properties: nil, mtu: 23, mode: .command)
    let thrown = await #expect(throws: GATTError.self) {
      try await fixture.client.write([1], to: target.handle, plan: plan, pacing: pacing)
    }
    guard case .errorResponse(.databaseOutOfSync, _, _)? = thrown else {
      Issue.record("\(String(describing: thrown))")
      return
    }
    #expect(fixture.client.table == nil)
    fixture.move(refusing: 0x16)
    await #expect(throws: GATTError.self) { try await fixture.client.checkCommands(to: target) }
    fixture.client.close()
  }

  /// A device without prepared writes takes at most one request, of 20 bytes at the smallest MTU.
  @Test(.onLoop, arguments: [(30, 20), (5, 20)]) @LoopActor func noLongWrites(_ count: Int, _ limit: Int) async throws {
    let fixture = Fixture()
    fixture.peer.rules = [.init([0x16], [.pdu([0x01, 0x16, 7, 0, 0x06])], times: nil)]
    for mode in [WriteMode.long, .reliable] {
      let plan = try WriteProcedure(value: count, properties: nil, mtu: 23, mode: mode)
      let thrown = await #expect(throws: GATTError.self) {
        try await fixture.client.write([UInt8](repeating: 1, count: count), to: 7, plan: plan)
      }
      #expect((thrown == .noLongWrites(.handle(7), count: count, limit: limit)) == (mode == .long), "\(String(describing: thrown))")
    }
    fixture.client.close()
  }

  /// The client remembers a refusal for lack of security until a read succeeds.
  @Test(.onLoop) @LoopActor func refusedReads() async throws {
    let fixture = Fixture()
    for (code, kept) in [(0x05, true), (0x0F, true), (0x02, false), (0x0C, false)] as [(UInt8, Bool)] {
      fixture.peer.rules = [.init([0x0A], [.pdu([0x01, 0x0A, 7, 0, code])])]
      _ = try? await fixture.client.read(7)
      #expect(fixture.client.refusedReads[7]?.rawValue == (kept ? code : nil))
    }
    fixture.peer.rules = [.init([0x0A], [.pdu([0x01, 0x0A, 7, 0, 0x05])])]
    _ = try? await fixture.client.read(7)
    _ = try await fixture.client.read(7)
    #expect(fixture.client.refusedReads.isEmpty)
    fixture.client.close()
  }

  /// Without discovery, the client cannot know the handle of Service Changed. An indication that looks like it gets a note.
  @Test(
    .onLoop,
    arguments: [
      ([0x1D, 3, 0, 6, 0, 0xFF, 0xFF], true), ([0x1D, 3, 0, 9, 0, 0xFF, 0xFF], false), ([0x1D, 3, 0, 6, 0, 5, 0], false),
      ([0x1D, 3, 0, 6, 0], false), ([0x1B, 3, 0, 6, 0, 0xFF, 0xFF], false), ([0x1D, 7, 0, 6, 0, 0xFF, 0xFF], false),
    ] as [([UInt8], Bool)])
  @LoopActor func aTypedHandleMayHaveMoved(_ pdu: [UInt8], _ isNoted: Bool) async throws {
    let fixture = Fixture()
    let item = Characteristic(uuid: UUID(0xFF01), handle: 6, valueHandle: 7, endHandle: 7, properties: .notify)
    _ = try await fixture.client.subscribe(item)
    fixture.notes = []
    fixture.peer.push(pdu)
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    #expect(fixture.notes == (isNoted ? [.movedHandle(7)] : []))
    fixture.client.close()
  }
}
