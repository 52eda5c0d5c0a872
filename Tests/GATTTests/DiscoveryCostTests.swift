import TestSupport

@testable import BluetoothLE

/// Counts the requests of a full discovery, including the MTU exchange. Each costs a connection interval or two.
@Suite(.timeLimit(.minutes(15))) struct DiscoveryCostTests {
  /// A test service: `includes` handles before the first characteristic, then characteristics with their descriptors.
  struct Made: Sendable {
    var uuid: UUID
    var isPrimary = true
    var includes: [(start: AttributeHandle, end: AttributeHandle, uuid: UInt16?)] = []
    var characteristics: [(uuid: UUID, properties: UInt8, descriptors: [UInt32])]
    /// The number of unused handles after the service.
    var free: UInt16 = 0
  }

  static func long(_ number: Int) -> UUID { UUID(high: UInt64(number), low: 0x9C1D_2E7F_90A1_B3C4) }

  static func server(_ services: [Made], last: AttributeHandle? = nil) -> PlainServer {
    var items: [PlainServer.Item] = []
    var ends: [AttributeHandle: AttributeHandle] = [:]
    var handle: AttributeHandle = 1
    func add(_ type: UUID, _ value: [UInt8]) {
      items.append(PlainServer.Item(handle: handle, type: type, value: value))
      handle = handle.next
    }
    for service in services {
      let start = handle
      add(UUID(service.isPrimary ? 0x2800 : 0x2801), service.uuid.attBytes)
      for include in service.includes {
        let range = [include.start, include.end].flatMap { little($0) }
        add(UUID(0x2802), range + (include.uuid.map { [UInt8($0 & 255), UInt8($0 >> 8)] } ?? []))
      }
      for item in service.characteristics {
        let value = handle.next
        add(UUID(0x2803), [item.properties] + little(value) + item.uuid.attBytes)
        add(item.uuid, [1])
        for descriptor in item.descriptors { add(UUID(descriptor), [0, 0]) }
      }
      ends[start] = handle.previous
      handle = AttributeHandle(clamping: handle.number + Int(service.free))
    }
    var server = PlainServer(items)
    server.ends = ends
    if let last, let start = ends.keys.max() { server.ends[start] = last }
    return server
  }

  /// Returns 5 services of 4 characteristics that are readable and notify.
  static func even(long isLong: Bool, services isLongService: Bool = false, free: UInt16 = 0) -> [Made] {
    (0..<5).map { service in
      Made(
        uuid: isLongService ? long(service) : UUID(UInt32(0xFF00 + service)),
        characteristics: (0..<4).map {
          let number = 0xA000 + service * 4 + $0
          return (isLong ? long(number) : UUID(UInt32(number)), 0x12, [0x2902])
        }, free: free)
    }
  }

  /// The services of Tests/InteropTests/bumble_air.py: GAP and GATT, one with 16-bit UUIDs, and one with 128-bit UUIDs.
  static let lock: [Made] = [
    Made(uuid: UUID(0x1800), characteristics: [(UUID(0x2A00), 2, []), (UUID(0x2A01), 2, [])]),
    Made(uuid: UUID(0x1801), characteristics: [(UUID(0x2A05), 0x20, [0x2902]), (UUID(0x2B29), 0x0A, []), (UUID(0x2B2A), 2, [])]),
    Made(
      uuid: UUID(0xFFE0),
      characteristics: [
        (UUID(0xFFE1), 0x0C, []), (UUID(0xFFE2), 0x12, [0x2902]), (UUID(0xFFE3), 2, []), (UUID(0xFFE4), 0x0A, []),
        (UUID(0xFFE5), 0x10, [0x2902]), (UUID(0xFFE6), 0x20, [0x2902]), (UUID(0xFFE7), 2, []), (UUID(0xFFE8), 8, []),
        (UUID(0xFFE9), 4, []), (UUID(0xFFEA), 2, []),
      ]),
    Made(uuid: long(1), characteristics: [(long(2), 0x0A, [0x2901, 0x2904])]),
  ]

  static let databases: [String: PlainServer] = [
    "all 16-bit, 5x4": server(even(long: false)),
    "all 128-bit, 5x4": server(even(long: true, services: true)),
    "128-bit characteristics, 5x4": server(even(long: true)),
    "16-bit, no descriptors": ClientDiscoveryTests.server(services: 5, characteristics: 4, descriptors: false),
    "every fourth 128-bit, 5x4": ClientDiscoveryTests.server(services: 5, characteristics: 4, isLong: { $0 == 3 }),
    "16-bit, spread out": server(even(long: false, free: 16)),
    "128-bit, spread out": server(even(long: true, services: true, free: 16)),
    "mixed, as Bumble's": server(lock),
    "mixed, the last to ffff": server(lock, last: 0xFFFF),
    "a secondary service, included": server(
      lock + [
        Made(
          uuid: UUID(0xFFD0), includes: [(0x40, 0x44, nil), (0x01, 0x05, 0x1800)],
          characteristics: [(UUID(0xFFD1), 2, [])], free: 9),
        Made(uuid: long(3), isPrimary: false, characteristics: [(long(4), 0x12, [0x2902])]),
      ]),
    "nothing": server([]),
  ]

  /// Discovery keeps to its limits at ATT_MTU 23, 247 and 517.
  @Test(arguments: [
    ("all 16-bit, 5x4", [15, 5, 5]), ("all 128-bit, 5x4", [32, 6, 5]), ("128-bit characteristics, 5x4", [28, 6, 5]),
    ("16-bit, no descriptors", [11, 4, 4]), ("16-bit, spread out", [16, 6, 5]), ("128-bit, spread out", [33, 7, 6]),
    // Declarations of different lengths cannot share an answer, so ten changes of the size cost ten round trips.
    ("every fourth 128-bit, 5x4", [18, 14, 14]),
    ("mixed, as Bumble's", [14, 8, 8]), ("mixed, the last to ffff", [13, 8, 8]), ("a secondary service, included", [21, 16, 16]),
    ("nothing", [2, 2, 2]),
  ]) func takesFewRoundTrips(_ name: String, _ limits: [Int]) async throws {
    let server = try #require(Self.databases[name])
    for (mtu, limit) in zip([23, 247, 517], limits) {
      let found = try await onLoop { try await ClientDiscoveryTests.discover(server, mtu: mtu) }
      #expect(found.roundTrips <= limit, "\(name), MTU \(mtu): \(found.roundTrips) round trips")
      #expect(found.notes.isEmpty, "\(found.notes)")
      check(found.table, server, name)
    }
  }

  /// For random databases, discovery misses nothing, invents nothing and never requests the same handles twice.
  @Test(arguments: 0..<20) func findsAllOfAnyPeer(_ hundred: Int) async throws {
    for seed in hundred * 100..<(hundred + 1) * 100 {
      var random = SplitMix64(seed: UInt64(seed))
      func chance(_ percent: UInt64) -> Bool { random.next() % 100 < percent }
      func below(_ count: UInt64) -> Int { Int(random.next() % count) }
      let mixing = [0, 10, 50, 100][below(4)] as UInt64
      func uuid(_ number: Int) -> UUID { chance(mixing) ? Self.long(number) : UUID(UInt32(0xA000 + number)) }
      var made: [Made] = []
      for number in 0..<below(7) {
        made.append(
          Made(
            uuid: uuid(number), isPrimary: number == 0 || chance(80),
            includes: (0..<(chance(20) ? 1 + below(3) : 0)).map { _ in
              chance(50) ? (start: 1, end: 9, uuid: nil) : (start: 0x7000, end: 0x7001, uuid: 0x180F)
            },
            characteristics: (0..<below(6)).map { index in
              (
                uuid(100 + number * 10 + index), [0x02, 0x08, 0x12, 0x20][below(4)],
                (0..<below(3)).map { _ in [0x2901, 0x2902, 0x2904][below(3)] }
              )
            }, free: chance(30) ? UInt16(below(20)) : 0))
      }
      let server = Self.server(made, last: chance(20) && !made.isEmpty ? 0xFFFF : nil)
      let mtu = [23, 40, 64, 247, 517][below(5)]
      let found = try await onLoop { try await ClientDiscoveryTests.discover(server, mtu: mtu) }
      check(found.table, server, "seed \(seed), MTU \(mtu)")
      #expect(found.roundTrips <= 8 + server.items.count, "seed \(seed), MTU \(mtu): \(found.roundTrips) for \(server.items.count)")
    }
  }

  private func check(_ table: AttributeTable, _ server: PlainServer, _ name: String) {
    func words(_ bytes: ArraySlice<UInt8>) -> AttributeHandle {
      AttributeHandle(rawValue: bytes.reversed().reduce(0) { $0 << 8 | UInt16($1) })
    }
    var expected: [Service] = []
    for item in server.items {
      let service = expected.indices.last
      switch item.type.short {
      case 0x2800, 0x2801:
        guard let uuid = UUID(littleEndian: item.value), let end = server.ends[item.handle] ?? server.items.last?.handle else { continue }
        let next = server.items.first { $0.handle > item.handle && [0x2800, 0x2801].contains($0.type.short) }
        expected.append(
          Service(
            uuid: uuid, handle: item.handle, endHandle: server.ends[item.handle] ?? next.map { $0.handle.previous } ?? end,
            isPrimary: item.type.short == 0x2800))
      case 0x2802:
        guard let service else { continue }
        let start = words(item.value[0..<2])
        let uuid = server.items.first { $0.handle == start }.flatMap { UUID(littleEndian: $0.value) }
        expected[service].includes.append(
          Include(
            handle: item.handle, startHandle: start, endHandle: words(item.value[2..<4]),
            uuid: item.value.count == 6 ? UUID(littleEndian: item.value[4...]) : uuid))
      case 0x2803:
        guard let service, let uuid = UUID(littleEndian: item.value.dropFirst(3)) else { continue }
        if let last = expected[service].characteristics.indices.last {
          expected[service].characteristics[last].endHandle = item.handle.previous
        }
        expected[service].characteristics.append(
          Characteristic(
            uuid: uuid, handle: item.handle, valueHandle: words(item.value[1..<3]), endHandle: expected[service].endHandle,
            properties: Properties(rawValue: item.value[0])))
      default:
        guard let service, let last = expected[service].characteristics.indices.last,
          expected[service].characteristics[last].valueHandle != item.handle
        else { continue }
        expected[service].characteristics[last].descriptors.append(Descriptor(uuid: item.type, handle: item.handle))
      }
    }
    #expect(table.services == expected, "\(name)")
  }

  /// A peer without descriptors may refuse Find Information, although it is mandatory. Discovery succeeds all the same.
  @Test(arguments: ["0104010006", "010401000e", "0104010001"]) func doesWithoutFindInformation(_ refusal: String) async throws {
    let server = Self.server([
      Made(uuid: UUID(0x1800), characteristics: [(UUID(0x2A00), 2, [])]),
      Made(uuid: UUID(0xFFD0), includes: [(0x0C, 0x0E, nil), (0x01, 0x03, 0x1800)], characteristics: [(UUID(0xFFD1), 2, [])], free: 3),
      Made(uuid: Self.long(3), isPrimary: false, characteristics: [(Self.long(4), 2, [])]),
      Made(uuid: Self.long(5), characteristics: [(UUID(0xFFD2), 2, []), (Self.long(6), 2, [])], free: 2),
      Made(uuid: UUID(0xFFD4), characteristics: []),
    ])
    let table = try await onLoop {
      let (near, far) = MemoryChannel.pair()
      var server = server
      let peer = ScriptedPeer(far, rules: [ScriptedPeer.Rule([0x04], [.pdu(Hex.decode(refusal) ?? [])], times: nil)]) { server.answer($0) }
      let client = Client(near)
      defer { withExtendedLifetime(peer) { client.close() } }
      return try await client.discover()
    }
    check(table, server, "without Find Information")
    // Descriptors may exist here, so the refusal is the answer.
    let error = await onLoopError {
      let (near, far) = MemoryChannel.pair()
      var server = Self.server(Self.lock)
      let peer = ScriptedPeer(far, rules: [ScriptedPeer.Rule([0x04], [.pdu(Hex.decode(refusal) ?? [])], times: nil)]) { server.answer($0) }
      let client = Client(near)
      defer { withExtendedLifetime(peer) { client.close() } }
      _ = try await client.discover()
    }
    #expect(kind(error) == "att")
  }
}
