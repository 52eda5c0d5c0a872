import BluetoothLESimulator
import TestSupport

@testable import BluetoothLE

/// A lost link comes back with its subscriptions.
@Suite(.timeLimit(.minutes(15))) struct RestorationTests {
  static let hash = "000102030405060708090a0b0c0d0e0f"

  @LoopActor
  private func subscribe(_ uuids: [String], on connection: Connection) async throws -> SubscribedValues {
    let values = SubscribedValues(lastingOn: connection)
    for uuid in uuids { try await values.add(try await connection.client.characteristic(Selector(uuid))) }
    return values
  }

  /// Returns the types of the values that arrive within some seconds.
  @LoopActor
  private func types(_ values: SubscribedValues, within limit: Duration = .milliseconds(1500)) async throws -> Set<UUID> {
    let end = EventLoop.shared.now.advanced(by: limit)
    var types: Set<UUID> = []
    while let (event, uuid) = try await values.next(until: end) {
      #expect(event.value == [UInt8(truncatingIfNeeded: uuid.short ?? 0)])
      types.insert(uuid)
    }
    return types
  }

  @Test(.onLoop) @LoopActor func valuesGoOnAfterALoss() async throws {
    let air = try await LosingAir(LosingAir.counter())
    let connection = try await air.connect(.name("counter"))
    let client = connection.client
    let values = try await self.subscribe(["ff01", "ff02"], on: connection)
    #expect(try await self.types(values) == [UUID(0xFF01), UUID(0xFF02)])
    try await air.lose(connection)
    #expect(!connection.isOpen)
    _ = try await self.types(values)

    var events: [String] = []
    let begin = EventLoop.shared.now
    let restoration = try await air.session.restore(connection) {
      switch $0 {
      case .lost(let reason): events.append("lost \((reason as? Disconnection)?.cause == .lost(.connectionTimeout))")
      case .trying(let number, let pause, let error): events.append("trying \(number) \(pause) \(error == nil)")
      case .restored(let result): events.append("restored \(result.subscriptions) \(connection.isOpen)")
      }
    }
    #expect(events == ["lost true", "trying 1 0.5 seconds true", "restored 2 true"])
    #expect(restoration.isDiscovered && restoration.subscriptions == 2 && restoration.missing.isEmpty && restoration.tries == 1)
    #expect(restoration.time == begin.duration(to: EventLoop.shared.now))
    #expect(connection.client !== client && connection.client.mtu == 185 && connection.isOpen)
    #expect(try await self.types(values) == [UUID(0xFF01), UUID(0xFF02)])
    #expect(values.characteristics.count == 2)
    await values.end()
    #expect(connection.lasting.isEmpty)
    await air.session.close()
  }

  /// With an equal Database Hash, nothing is discovered again. Only a session that stays open reads the hash, once.
  @Test(.onLoop, arguments: [true, false]) @LoopActor func theDatabaseHashSavesDiscovery(_ staysOpen: Bool) async throws {
    let air = try await LosingAir(LosingAir.counter(hash: Self.hash))
    air.session.staysOpen = staysOpen
    var requests: [UInt8] = []
    air.session.onClient = { $0.onPDU = { if $0 == .sent { requests.append($1.first ?? 0) } } }
    let connection = try await air.connect(.name("counter"))
    let values = try await self.subscribe(["ff01"], on: connection)
    _ = try await connection.client.discover()
    #expect(connection.client.knownDatabase?.hash == (staysOpen ? (0...15).map { UInt8($0) } : nil))
    try await air.lose(connection)
    requests = []
    let restoration = try await air.session.restore(connection)
    #expect(restoration.isDiscovered == !staysOpen && restoration.subscriptions == 1)
    // Exchange MTU, Read By Type for the hash, Write for Service Changed and for ff01.
    if staysOpen { #expect(requests == [0x02, 0x08, 0x12, 0x12]) }
    #expect(try await self.types(values) == [UUID(0xFF01)])
    await air.session.close()
  }

  /// With another or no hash, the services are discovered again. The attributes have moved, and one is missing.
  @Test(.onLoop, arguments: ["ff0102030405060708090a0b0c0d0e0f", nil, "00"]) @LoopActor func aChangedDatabase(_ hash: String?) async throws
  {
    let air = try await LosingAir(LosingAir.counter(hash: Self.hash))
    let connection = try await air.connect(.name("counter"))
    let values = try await self.subscribe(["ff01", "ff02"], on: connection)
    let before = values.characteristics
    try await air.lose(connection)
    let first = #"{"uuid": "fe00", "characteristics": [{"uuid": "fe01", "properties": ["read", "notify"]}]},"#
    air.device.present = try LosingAir.peripheral(LosingAir.counter(hash: hash, first: first, second: false))
    let restoration = try await air.session.restore(connection)
    #expect(restoration.isDiscovered && restoration.subscriptions == 1)
    #expect(restoration.missing.map(\.characteristic) == [before[1]] && restoration.missing.allSatisfy { $0.reason == nil })
    #expect(values.characteristics.map(\.uuid) == [UUID(0xFF01)] && values.characteristics != [before[0]])
    #expect(try await self.types(values) == [UUID(0xFF01)])

    // A missing attribute is remembered: it may be back next time.
    try await air.lose(connection)
    air.device.present = try LosingAir.peripheral(LosingAir.counter(hash: Self.hash))
    #expect(try await air.session.restore(connection).subscriptions == 2)
    #expect(try await self.types(values) == [UUID(0xFF01), UUID(0xFF02)])
    await air.session.close()
  }

  /// While the device is out of range, pauses between attempts grow up to 30 s.
  @Test(.onLoop) @LoopActor func thePausesGrow() async throws {
    let air = try await LosingAir(LosingAir.counter())
    let connection = try await air.connect(.name("counter"))
    try await air.lose(connection)
    air.device.isAway = true
    var pauses: [Duration] = []
    var causes: [GAPError?] = []
    let restoring = EventLoop.shared.spawn {
      try? await air.session.restore(connection) {
        guard case .trying(_, let pause, let error) = $0 else { return }
        pauses.append(pause)
        causes.append(error as? GAPError)
      }
    }
    try await EventLoop.shared.sleep(for: .seconds(180))
    #expect(connection.isBeingRestored && !connection.isOpen)
    air.device.isAway = false
    let waiting = EventLoop.shared.spawn { try? await connection.untilRestored() }
    let restoration = try #require(await restoring.value)
    await waiting.value
    #expect(pauses.map { Int($0.inMilliseconds) } == [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000])
    #expect(causes.dropFirst().allSatisfy { $0 == .noConnection(connection.peer, within: PeerSearch.usualLimit) })
    #expect(restoration.tries == pauses.count && !restoration.isDiscovered && connection.isOpen)
    await air.session.close()
  }

  /// Some links fail to establish, and others are lost during the restoration.
  @Test(.onLoop) @LoopActor func losesItAgainWhileRestoring() async throws {
    let air = try await LosingAir(LosingAir.counter(limits: #""failing_connections": 3,"#))
    var limits = Session.Limits()
    limits.retries = 5
    let peer = air.device.address
    let connection = try await air.session.connect(peer, limits: limits)
    let values = try await self.subscribe(["ff01"], on: connection)
    try await air.lose(connection)
    air.device.shortLinks = 3
    let restoration = try await air.session.restore(connection)
    #expect(restoration.tries == 4 && restoration.subscriptions == 1 && air.device.connections == 5)
    #expect(try await self.types(values) == [UUID(0xFF01)])
    await air.session.close()
  }

  @Test(.onLoop) @LoopActor func givesUpAtTheDeadline() async throws {
    let air = try await LosingAir(LosingAir.counter())
    let connection = try await air.connect(.name("counter"))
    let values = try await self.subscribe(["ff01"], on: connection)
    try await air.lose(connection)
    air.device.isAway = true
    var options = ReconnectPolicy.forever
    options.deadline = EventLoop.shared.now.advanced(by: .seconds(20))
    do {
      try await air.session.restore(connection, options)
      Issue.record("it is not there")
    } catch RestorationError.gaveUp(let time, let tries, let last) {
      #expect(time == .seconds(20) && tries == 2 && last is GAPError)
    }
    #expect(!connection.isBeingRestored && !connection.isOpen)
    // The state is kept for a later attempt.
    air.device.isAway = false
    #expect(try await air.session.restore(connection).subscriptions == 1)
    #expect(try await self.types(values) == [UUID(0xFF01)])
    await air.session.close()
  }

  /// Canceling or ending the connection stops the restoration immediately, at any moment, and leaves nothing behind.
  @Test(arguments: [0, 300, 501, 550, 600, 700, 800, 2000], [true, false]) func endsAtOnce(_ milliseconds: Int, _ isAway: Bool) async throws
  {
    try await onLoop {
      for cancelling in [true, false] {
        let air = try await LosingAir(LosingAir.counter())
        let connection = try await air.connect(.name("counter"))
        let values = try await self.subscribe(["ff01", "ff02"], on: connection)
        try await air.lose(connection)
        air.device.isAway = isAway
        let restoring = EventLoop.shared.spawn { () -> (any Error)? in
          do { try await air.session.restore(connection) } catch { return error }
          return nil
        }
        try await EventLoop.shared.sleep(for: .milliseconds(milliseconds))
        guard connection.isBeingRestored || milliseconds == 0 else { return await air.session.close() }
        if milliseconds > 0 {
          await #expect(throws: RestorationError.self) { try await air.session.restore(connection) }
        }
        if cancelling { restoring.cancel() } else { await air.session.disconnect(connection) }
        let error = await restoring.value
        #expect(cancelling ? error is CancellationError : error is RestorationError)
        #expect(!connection.isBeingRestored && !connection.isOpen)
        try await EventLoop.shared.sleep(for: .seconds(5))
        #expect(air.device.present.connectionCount == 0)
        if cancelling {
          air.device.isAway = false
          #expect(try await air.session.restore(connection).subscriptions == 2)
        } else {
          _ = try? await self.types(values)
          await #expect(throws: Disconnection.self) { _ = try await values.next(until: nil) }
          await #expect(throws: RestorationError.self) { try await air.session.restore(connection) }
        }
        await air.session.close()
      }
    }
  }

  /// After a day with a loss every five minutes, everything is restored and nothing accumulates.
  @Test(.onLoop) @LoopActor func aDayOfLosses() async throws {
    let air = try await LosingAir(LosingAir.counter(interval: 20_000, hash: Self.hash))
    let connection = try await air.connect(.name("counter"))
    let values = try await self.subscribe(["ff01", "ff02"], on: connection)
    var count = 0
    let taking = EventLoop.shared.spawn {
      while let _ = try? await values.next(until: nil) { count += 1 }
    }
    weak var client: Client?
    weak var link: (any Link)?
    for _ in 0..<288 {
      let before = count
      (client, link) = (connection.client, connection.link)
      try await EventLoop.shared.sleep(for: .seconds(290))
      #expect(count > before + 20)
      try await air.lose(connection)
      let restoration = try await air.session.restore(connection)
      #expect(!restoration.isDiscovered && restoration.subscriptions == 2)
      #expect(client == nil && link == nil)
    }
    #expect(air.session.connections.count == 1 && connection.lasting.count == 1)
    await values.end()
    await taking.value
    await air.session.close()
  }
}
