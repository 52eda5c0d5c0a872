import BluetoothLESimulator
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct SessionTests {
  private struct NoRadio: Error {}

  @LoopActor
  private func session() async throws -> Session {
    let air = try await TestAir()
    return Session { air.central }
  }

  @LoopActor
  private func connect(_ name: String, in session: Session) async throws -> Connection {
    let match = try await session.central().find(PeerSearch(.name(name), takesFirst: true))
    return try await session.connect(match.peer, name: match.name)
  }

  /// Two peers have separate links and clients, whose requests do not disturb each other.
  @Test(.onLoop) @LoopActor func twoPeersAtOnce() async throws {
    let session = try await self.session()
    let band = try await self.connect("band-7", in: session)
    let panel = try await self.connect("panel", in: session)
    #expect(session.connections.map(\.name) == ["Band-7", "Panel"])
    #expect(band.isMeant(by: .name("band*")) && band.isMeant(by: .address(band.peer.address, nil)) && !panel.isMeant(by: .name("band*")))
    #expect(band.client.mtu == 185 && panel.client.mtu == 247)

    let beats = try await band.client.subscribe(band.client.characteristic(Selector("2a37")), kind: .auto)
    let target = try await panel.client.attribute(Selector("fff6"), discovering: true)
    let plan = try WriteProcedure(value: 20_000, properties: target.properties, mtu: panel.client.mtu, mode: .command)
    try await panel.client.send([UInt8](repeating: 7, count: 20_000), to: target.handle, plan: plan)
    for value in [[0x00, 0x48], [0x00, 0x4A]] as [[UInt8]] { #expect(try await beats.next().value == value) }

    await session.disconnect(panel)
    #expect(!panel.isOpen && band.isOpen && session.connections.map(\.name) == ["Band-7"])
    let battery = try await band.client.attribute(Selector("2a19"), discovering: true)
    #expect(try await band.client.read(battery.handle) == [60])
    await session.close()
    #expect(!band.isOpen && session.connections.isEmpty)
  }

  /// Only a session that stays open subscribes to Service Changed. For a single step it would waste a round trip.
  @Test(.onLoop, arguments: [true, false]) @LoopActor func serviceChangedIsFollowedByASessionThatStaysOpen(_ staysOpen: Bool) async throws {
    let session = try await self.session()
    session.staysOpen = staysOpen
    let band = try await self.connect("band-7", in: session)
    let table = try await band.client.discover()
    let configuration = try #require(table.characteristics.first { $0.uuid == UUID(0x2A05) }?.clientConfiguration)
    #expect(try await band.client.read(configuration.handle) == (staysOpen ? [2, 0] : [0, 0]))
    await session.close()
  }

  /// After the time limit of a transaction, nothing may be sent on the bearer (Vol 3 Part F §3.3.3). The device sees the end of its link.
  @Test(.onLoop) @LoopActor func aTransactionTimeoutEndsTheLink() async throws {
    let air = try await LosingAir(
      """
      {"name": "Mute", "address": "D1:00:00:00:00:77/random", "advertisement": {"name": "Mute"}, "services": [{"uuid": "fff0",
        "characteristics": [{"uuid": "fff1", "properties": ["write"], "reactions": [{"answer": false}]}]}]}
      """)
    let connection = try await air.connect(.name("mute"))
    let characteristic = try await connection.client.characteristic(Selector("fff1"))
    let plan = try WriteProcedure(value: 1, properties: nil, mtu: connection.client.mtu, mode: .request)
    await #expect(throws: ATTError.self) { try await connection.client.write([0], to: characteristic.valueHandle, plan: plan) }
    #expect(!connection.isOpen)
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(air.device.present.connectionCount == 0)
    await air.session.close()
  }

  @Test(.onLoop) @LoopActor func aConnectionIsMeantByItsServicesAndItsData() async throws {
    let session = try await self.session()
    let panel = try await self.connect("panel", in: session)
    let isMeant = { (text: String) in PeerSelector(text).map { panel.isMeant(by: $0) } }
    // Without its advertisement, only the discovered services are known.
    #expect(isMeant("service:fff0") == false)
    _ = try await panel.client.discover()
    #expect(isMeant("service:fff0") == true && isMeant("service:180d") == false)
    panel.payloads = [[3, 3, 0x0D, 0x18], [9, 0xFF, 0x4C, 1, 0xA4, 0xC1, 0x38, 0, 0x11, 0x22]]
    #expect(isMeant("service:180d") == true && isMeant("mac:A4:C1:38:00:11:22") == true && isMeant("mac:A4:C1:38:00:11:23") == false)
    await session.close()
    #expect(isMeant("service:fff0") == false)
  }

  /// Two connections may be requested at the same time.
  @Test(.onLoop) @LoopActor func twoConnectionsSideBySide() async throws {
    let session = try await self.session()
    let tasks = ["D1:00:00:00:00:01", "D1:00:00:00:00:02"].compactMap { Address($0) }.map { address in
      EventLoop.shared.spawn { () -> PeerAddress? in try? await session.connect(PeerAddress(address, .random)).peer }
    }
    var peers: [PeerAddress?] = []
    for task in tasks { peers.append(await task.value) }
    #expect(peers == [1, 2].map { peer($0) })
    #expect(session.connections.count == 2)
    await session.close()
  }

  /// Commands in sequence share an existing connection.
  @Test(.onLoop) @LoopActor func oneLinkServesManySteps() async throws {
    let session = try await self.session()
    let band = try await self.connect("band-7", in: session)
    for _ in 0..<3 {
      let values = try await band.client.readableValues(try await band.client.discover()).values
      #expect(values.count >= 3)
    }
    #expect(session.connections.count == 1)
    await session.close()
  }

  @Test(.onLoop) @LoopActor func theAdapterIsOpenedOnceAndWhenItIsNeeded() async throws {
    var count = 0
    let air = try await TestAir()
    let session = Session {
      count += 1
      try await EventLoop.shared.sleep(for: .seconds(1))
      if count == 1 { throw NoRadio() }
      return air.central
    }
    #expect(count == 0)
    await #expect(throws: NoRadio.self) { _ = try await session.central() }
    let tasks = (0..<3).map { _ in EventLoop.shared.spawn { (try? await session.central()) != nil } }
    for task in tasks { #expect(await task.value) }
    #expect(count == 2)
    await session.close()
  }

  /// The next command opens an adapter that failed again. The links of the old one are lost.
  @Test(.onLoop) @LoopActor func anAdapterThatDiedIsOpenedAnew() async throws {
    var opened: [HostCentral] = []
    let session = Session {
      let central = try await TestAir().central
      opened.append(central)
      return central
    }
    session.staysOpen = true
    let band = try await self.connect("band-7", in: session)
    await opened[0].close()
    #expect(!band.isOpen && opened[0].failure != nil)
    let again = try await self.connect("band-7", in: session)
    #expect(again.isOpen && opened.count == 2 && session.connections.count == 2)
    _ = try await session.central()
    #expect(opened.count == 2)
    // The new adapter restores a lost link.
    await opened[1].close()
    try await session.restore(again)
    #expect(again.isOpen && opened.count == 3)
    await session.close()
    #expect(opened.allSatisfy { $0.failure != nil })
  }

  /// If the task that opens an adapter is cancelled, the others still get it.
  @Test(.onLoop) @LoopActor func aCancelledOpenerLeavesTheOthersTheAdapter() async throws {
    let air = try await TestAir()
    let session = Session {
      try await EventLoop.shared.sleep(for: .seconds(1))
      return air.central
    }
    let tasks = (0..<3).map { _ in EventLoop.shared.spawn { (try? await session.central()) != nil } }
    try await EventLoop.shared.sleep(for: .milliseconds(500))
    tasks[0].cancel()
    var results: [Bool] = []
    for task in tasks { results.append(await task.value) }
    #expect(results == [false, true, true])
    await session.close()
  }

  /// Closing waits for an adapter that is being opened, and closes it.
  @Test(.onLoop) @LoopActor func closingWaitsForTheOpening() async throws {
    let air = try await TestAir()
    let session = Session {
      try await EventLoop.shared.sleep(for: .seconds(1))
      return air.central
    }
    let opening = EventLoop.shared.spawn { (try? await session.central()) != nil }
    try await EventLoop.shared.sleep(for: .milliseconds(500))
    await session.close()
    #expect(await opening.value)
    // Later use fails, because the adapter is closed.
    await #expect(throws: (any Error).self) { _ = try await air.central.connect(peer(1), timeout: .seconds(1)) }
  }

  @Test(.onLoop) @LoopActor func nothingIsLeftOfAConnectionThatFails() async throws {
    let session = try await self.session()
    var limits = Session.Limits()
    limits.connecting = .seconds(1)
    await #expect(throws: (any Error).self) { _ = try await session.connect(peer(0x99), limits: limits) }
    #expect(session.connections.isEmpty)
    await session.close()
  }
}
