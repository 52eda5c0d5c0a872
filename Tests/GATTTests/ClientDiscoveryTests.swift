import TestSupport

@Suite(.timeLimit(.minutes(15))) struct ClientDiscoveryTests {
  /// Returns services whose characteristics are readable, notify, and have a Client Characteristic Configuration.
  static func server(services: Int, characteristics: Int, isLong: (Int) -> Bool = { _ in false }, descriptors: Bool = true) -> PlainServer {
    var items: [PlainServer.Item] = []
    var handle: AttributeHandle = 1
    func add(_ type: UUID, _ value: [UInt8]) {
      items.append(PlainServer.Item(handle: handle, type: type, value: value))
      handle = handle.next
    }
    for service in 0..<services {
      add(UUID(0x2800), UUID(UInt32(0xFF00 + service)).attBytes)
      for index in 0..<characteristics {
        let number = UInt32(0xA000 + service * characteristics + index)
        let uuid = isLong(index) ? UUID(high: UInt64(number), low: 0x1122_3344_5566_7788) : UUID(number)
        let value = handle.next
        add(UUID(0x2803), [0x12] + little(value) + uuid.attBytes)
        add(uuid, [UInt8(index)])
        if descriptors { add(UUID(0x2902), [0, 0]) }
      }
    }
    return PlainServer(items)
  }

  @LoopActor
  static func discover(_ server: PlainServer, mtu: Int) async throws -> (table: AttributeTable, roundTrips: Int, notes: [ClientNote]) {
    let (near, far) = MemoryChannel.pair()
    var server = server
    let peer = ScriptedPeer(far) { server.answer($0) }
    let client = Client(near)
    var notes: [ClientNote] = []
    client.onNote = { notes.append($0) }
    try await client.exchangeMTU(mtu)
    let table = try await client.discover()
    #expect(try await client.discover() == table)
    client.close()
    return (table, peer.received.count, notes)
  }

  /// Discovery takes at most 11 round trips, including the MTU exchange.
  @Test(arguments: [
    (517, "short", 8), (247, "short", 9), (517, "long", 9), (247, "long", 10), (517, "bare", 7), (247, "bare", 7),
    // Declarations of different lengths cannot share an answer, so ten changes of the size cost ten round trips.
    (517, "mixed", 18),
  ]) func takesFewRoundTrips(_ mtu: Int, _ kind: String, _ limit: Int) async throws {
    let found = try await onLoop {
      try await Self.discover(
        Self.server(
          services: 5, characteristics: 4, isLong: { kind == "long" || (kind == "mixed" && $0 == 3) }, descriptors: kind != "bare"),
        mtu: mtu)
    }
    #expect(found.table.services.count == 5)
    #expect(found.table.characteristics.count == 20)
    #expect(found.table.characteristics.allSatisfy { $0.descriptors.map(\.uuid) == (kind == "bare" ? [] : [UUID(0x2902)]) })
    #expect(found.roundTrips <= limit, "\(kind), MTU \(mtu): \(found.roundTrips) round trips")
    if kind != "mixed" { #expect(found.roundTrips <= 11) }
    #expect(found.notes.isEmpty)
  }

  /// Discovery finds UUIDs of both sizes, a secondary service, an include and extended properties, even at the minimum MTU.
  @Test(arguments: [23, 65, 517]) func findsEverything(_ mtu: Int) async throws {
    let long = UUID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)
    let server = PlainServer([
      .init(handle: 0x0001, type: UUID(0x2800), value: [0x00, 0x18]),
      .init(handle: 0x0002, type: UUID(0x2803), value: [0x02, 0x03, 0x00, 0x00, 0x2A]),
      .init(handle: 0x0003, type: UUID(0x2A00), value: Array("Lock".utf8)),
      .init(handle: 0x0010, type: UUID(0x2801), value: long.attBytes),
      .init(handle: 0x0011, type: UUID(0x2803), value: [0x88, 0x12, 0x00] + long.attBytes),
      .init(handle: 0x0012, type: long, value: [1]),
      .init(handle: 0x0013, type: long, value: [2]),
      .init(handle: 0x0014, type: UUID(0x2900), value: [0x01, 0x00]),
      .init(handle: 0x0020, type: UUID(0x2800), value: [0xE0, 0xFF]),
      .init(handle: 0x0021, type: UUID(0x2802), value: [0x10, 0x00, 0x14, 0x00]),
      .init(handle: 0x0022, type: UUID(0x2802), value: [0x01, 0x00, 0x03, 0x00, 0x00, 0x18]),
      .init(handle: 0x0023, type: UUID(0x2803), value: [0x04, 0x24, 0x00, 0xE1, 0xFF]),
      .init(handle: 0x0024, type: UUID(0xFFE1), value: []),
      .init(handle: 0x0025, type: UUID(0x2803), value: [0x30, 0x26, 0x00, 0xE2, 0xFF]),
      .init(handle: 0x0026, type: UUID(0xFFE2), value: []),
      .init(handle: 0x0027, type: UUID(0x2901), value: []),
      .init(handle: 0x0028, type: UUID(0x2902), value: [0, 0]),
    ])
    let table = try await onLoop { try await Self.discover(server, mtu: mtu) }.table
    try #require(table.services.count == 3)
    let (gap, secondary, lock) = (table.services[0], table.services[1], table.services[2])
    #expect([gap.isPrimary, secondary.isPrimary, lock.isPrimary] == [true, false, true])
    #expect(
      gap.handle == 1 && gap.endHandle == 0x000F && secondary.uuid == long && secondary.endHandle == 0x001F && lock.endHandle == 0x0028)
    #expect(lock.includes.map(\.uuid) == [long, UUID(0x1800)] && lock.includes.map(\.startHandle) == [0x10, 1])
    let item = try #require(secondary.characteristics.first)
    #expect(item.extendedProperties == 1 && item.properties == [.write, .extendedProperties] && item.valueHandle == 0x12)
    #expect(item.descriptors.map(\.handle) == [0x13, 0x14])
    #expect(lock.characteristics.map(\.endHandle) == [0x24, 0x28])
    #expect(lock.characteristics[1].clientConfiguration?.handle == 0x28)
    #expect(lock.characteristics[0].descriptors.isEmpty)
    #expect(lock.characteristics[1].properties.names == ["notify", "indicate"])
  }

  /// An unreadable answer ends discovery with an error that shows the bytes. Earlier findings are kept, but not as a table.
  @Test(arguments: [
    ("10", "1100", "protocol", 0, 0), ("10", "11060100050000180400", "protocol", 0, 0), ("080100", "010801000e", "att", 2, 0),
    ("04", "050200", "protocol", 2, 4), ("080100ffff0328", "0103", "protocol", 2, 0),
  ]) func neverAPartialTable(_ prefix: String, _ answer: String, _ kind: String, _ services: Int, _ characteristics: Int) async throws {
    let error = await onLoopError {
      let (near, far) = MemoryChannel.pair()
      var server = Self.server(services: 2, characteristics: 2)
      server.ends[8] = 0xFFFF
      let rule = ScriptedPeer.Rule(Hex.decode(prefix) ?? [], [.pdu(Hex.decode(answer) ?? [])])
      let peer = ScriptedPeer(far, rules: [rule]) { server.answer($0) }
      let client = Client(near)
      defer { withExtendedLifetime(peer) {} }
      do { _ = try await client.discover() } catch {
        #expect(client.table == nil)
        #expect(client.incomplete?.services.count == services && client.incomplete?.characteristics.count == characteristics)
        client.close()
        throw error
      }
    }
    #expect(GATTTests.kind(error) == kind)
    if kind == "protocol" {
      guard case ATTError.violation(let violation)? = error else {
        Issue.record("no violation: \(error.map { "\($0)" } ?? "nothing")")
        return
      }
      #expect(violation.bytes.first == Hex.decode(answer)?.first)
    }
  }

  /// Characteristics outside of all services join the one before them, with a note.
  @Test func saysWhatLiesInNoService() async throws {
    var server = Self.server(services: 2, characteristics: 1)
    server.ends[1] = 0x0002
    let found = try await onLoop { [server] in try await Self.discover(server, mtu: 247) }
    #expect(found.table.services.map(\.characteristics.count) == [1, 1])
    #expect(found.table.services[0].characteristics[0].descriptors.map(\.handle) == [4])
    let value = IrregularEntry(.characteristic, 2, UUID(0xA000), .value(3, .outsideService, found: nil))
    let descriptor = IrregularEntry(.attribute, 4, UUID(0x2902), .outsideServices(UUID(0xFF00), 1))
    #expect(found.notes == [.irregular(value), .irregular(descriptor)])
  }
}

/// Returns the error that `body` throws.
func onLoopError(_ body: @escaping @LoopActor @Sendable () async throws -> Void) async -> (any Error)? {
  do { try await onLoop(body) } catch { return error }
  return nil
}
