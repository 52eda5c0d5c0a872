import TestSupport

@testable import BluetoothLE

/// One irregular entry does not hide the rest, for every entry, fault and place in an answer.
@Suite(.timeLimit(.minutes(15))) struct IrregularDatabaseTests {
  private static let count = 4

  /// Two included services, and three characteristics with two descriptors each.
  private static let server: PlainServer = {
    var items: [PlainServer.Item] = []
    var ends: [AttributeHandle: AttributeHandle] = [:]
    func add(_ type: UInt32, _ value: [UInt8]) {
      items.append(PlainServer.Item(handle: AttributeHandle(clamping: items.count + 1), type: UUID(type), value: value))
    }
    for service in 0..<UInt32(count) {
      let start = AttributeHandle(clamping: items.count + 1)
      add(0x2800, UUID(0xFF00 + service).attBytes)
      add(0x2802, [1, 0, 14, 0, 0, 0xFF])
      for number in 0..<UInt32(3) {
        let uuid = 0xA000 + service * 16 + number
        add(0x2803, [0x12] + little(AttributeHandle(clamping: items.count + 2)) + UUID(uuid).attBytes)
        add(uuid, [UInt8(service), UInt8(number)])
        add(0x2902, [0, 0])
        add(0x2901, [0x61])
      }
      ends[start] = AttributeHandle(clamping: items.count)
    }
    var server = PlainServer(items)
    server.ends = ends
    return server
  }()

  private static func faults(_ list: IrregularPeer.List, _ handle: AttributeHandle) -> [IrregularPeer.Fault] {
    let everywhere: [IrregularPeer.Fault] = [.handle(0), .handle(1), .swapped, .repeated, .twice]
    switch list {
    case .service:
      return everywhere + [
        .end(-1), .end(-0xFFFF), .end(16), .end(0xFFFF), .value([]), .value([1]), .value([1, 2, 3, 4]), .value([1, 2, 3]),
      ]
    case .include:
      return everywhere + [
        .end(-1), .end(0xFFFF), .value([]), .value([1, 0, 2]), .value([1, 0, 2, 0, 9]), .value([0, 0, 0, 0, 0x0F, 0x18]),
        .value([1, 0, 14, 0] + [UInt8](repeating: 7, count: 16)),
      ]
    case .characteristic:
      return everywhere + [
        .valueHandle(0), .valueHandle(handle), .valueHandle(handle.previous), .valueHandle(1), .valueHandle(0xFFFF),
        .valueHandle(AttributeHandle(clamping: handle.number + 6)), .value([]), .value([2, 3]), .value([2, 3, 0]), .value([2, 3, 0, 1]),
        .value([2, 3, 0, 1, 2, 3, 4]), .value([2, 3, 0, 1, 2, 3]),
      ]
    case .attribute: return everywhere
    }
  }

  private static func handles(_ list: IrregularPeer.List) -> [AttributeHandle] {
    server.items.filter { item in
      switch list {
      case .service: item.type == UUID(0x2800)
      case .include: item.type == UUID(0x2802)
      case .characteristic: item.type == UUID(0x2803)
      case .attribute: [UUID(0x2901), UUID(0x2902)].contains(item.type)
      }
    }.map(\.handle)
  }

  @Test(arguments: IrregularPeer.List.allCases, [23, 64, 517]) func theRestIsFound(_ list: IrregularPeer.List, _ mtu: Int) async throws {
    for handle in Self.handles(list) {
      for fault in Self.faults(list, handle) where fault != .handle(handle) {
        let peer = IrregularPeer(server: Self.server, list: list, handle: handle, fault: fault)
        let name = "\(list) \(handle), \(fault), MTU \(mtu)"
        let uuids = Self.server.items.filter { $0.type == UUID(0x2803) && !(list == .characteristic && $0.handle == handle) }
          .compactMap { UUID(littleEndian: $0.value.dropFirst(3)) }
        let found = try await onLoop { try await peer.discover(mtu: mtu, reading: uuids) }
        check(found, list, handle, name)
        // A single entry does not reveal a swap, and the last service may have any end.
        let isSeen =
          switch (list, fault) {
          case (_, .swapped): false
          case (.service, .end(let distance)): distance < 0 || handle < 43
          case (.include, .end(let distance)): distance < 0
          default: true
          }
        if isSeen { #expect(!found.entries.isEmpty, "nothing is said of \(name)") }
        #expect(found.requests < 4 * Self.server.items.count, "\(name): \(found.requests) requests")
        for uuid in uuids {
          let item = Self.server.items.first { $0.type == uuid }
          // A second characteristic with the same UUID is ambiguous, and reported as such.
          let isAmbiguous = found.table.characteristics.count { $0.uuid == uuid } > 1
          if !isAmbiguous { #expect(found.values[uuid] == item?.value, "\(name): \(uuid)") }
        }
      }
    }
  }

  private func check(_ found: IrregularPeer.Outcome, _ list: IrregularPeer.List, _ changed: AttributeHandle, _ name: String) {
    let services = found.table.services
    for item in Self.server.items {
      if item.handle == changed { continue }
      switch item.type.short {
      case 0x2800:
        let uuid = UUID(littleEndian: item.value)
        #expect(services.contains { $0.handle == item.handle && $0.uuid == uuid }, "\(name): service \(item.handle)")
      case 0x2802: #expect(services.contains { $0.includes.contains { $0.handle == item.handle } }, "\(name): include \(item.handle)")
      case 0x2803:
        let uuid = UUID(littleEndian: item.value.dropFirst(3))
        let isThere = found.table.characteristics.contains {
          $0.handle == item.handle && $0.uuid == uuid && $0.valueHandle == item.handle.next
        }
        #expect(isThere, "\(name): characteristic \(item.handle)")
      case 0x2901, 0x2902:
        // Without its characteristic it may belong to none, which is noted.
        let isThere = found.table.characteristics.contains { $0.descriptors.contains(Descriptor(uuid: item.type, handle: item.handle)) }
        let isNoted = found.entries.contains { $0.handle == item.handle && $0.fault == .noCharacteristic }
        if !isThere { #expect(isNoted, "\(name): descriptor \(item.handle)") }
      default: break
      }
    }
  }

  /// The peer of `field/foreign.btsnoop`: values come after the next declaration and in the next service.
  private static let foreign: PlainServer = {
    func characteristic(_ handle: AttributeHandle, _ value: AttributeHandle, _ uuid: UInt32) -> PlainServer.Item {
      PlainServer.Item(handle: handle, type: UUID(0x2803), value: [0x12] + little(value) + UUID(uuid).attBytes)
    }
    func value(_ handle: AttributeHandle, _ uuid: UInt32) -> PlainServer.Item {
      PlainServer.Item(handle: handle, type: UUID(uuid), value: Array("\(UUID(uuid))".utf8))
    }
    var server = PlainServer([
      .init(handle: 0x10, type: UUID(0x2800), value: [0x00, 0x18]), characteristic(0x11, 0x16, 0x2A00), characteristic(0x13, 0x18, 0x2A01),
      .init(handle: 0x14, type: UUID(0x2902), value: [0, 0]), .init(handle: 0x15, type: UUID(0x2800), value: [0x0A, 0x18]),
      value(0x16, 0x2A00), characteristic(0x17, 0x1A, 0x2A29), value(0x18, 0x2A01), characteristic(0x19, 0x1C, 0x2A24), value(0x1A, 0x2A29),
      characteristic(0x1B, 0x1D, 0x2A25), value(0x1C, 0x2A24), value(0x1D, 0x2A25),
      .init(handle: 0x1E, type: UUID(0x2902), value: [0, 0]),
    ])
    server.ends = [0x10: 0x14, 0x15: 0x1D]
    return server
  }()

  @Test(arguments: [23, 517]) func valuesElsewhere(_ mtu: Int) async throws {
    let uuids = [0x2A00, 0x2A01, 0x2A29, 0x2A24, 0x2A25].map { UUID($0) }
    let found = try await onLoop {
      let (near, far) = MemoryChannel.pair()
      var server = Self.foreign
      return try await IrregularPeer.discover(near, ScriptedPeer(far) { server.answer($0) }, mtu: mtu, reading: uuids)
    }
    #expect(found.table.services.map { $0.characteristics.map(\.valueHandle) } == [[0x16, 0x18], [0x1A, 0x1C, 0x1D]])
    for uuid in uuids { #expect(found.values[uuid] == Array(uuid.description.utf8)) }
    func value(_ handle: AttributeHandle, _ uuid: UInt32, _ value: AttributeHandle, _ place: IrregularEntry.ValuePlace) -> IrregularEntry {
      IrregularEntry(.characteristic, handle, UUID(uuid), .value(value, place, found: nil))
    }
    #expect(
      found.entries == [
        value(0x11, 0x2A00, 0x16, .outsideService), value(0x13, 0x2A01, 0x18, .outsideService),
        value(0x17, 0x2A29, 0x1A, .behindNextDeclaration), value(0x19, 0x2A24, 0x1C, .behindNextDeclaration),
        IrregularEntry(.attribute, 0x1E, UUID(0x2902), .outsideServices(UUID(0x180A), 0x15)),
      ])
    // Subscribing uses the descriptor after the value, else the one after the declaration.
    #expect(found.table.characteristics.map { $0.clientConfiguration?.handle } == [nil, 0x14, nil, nil, 0x1E])
    #expect(found.table.name(at: 0x16) == "device_name" && found.table.characteristic(owning: 0x18)?.1.uuid == UUID(0x1800))
  }

  /// Services may overlap, have no end and come in any order.
  @Test(arguments: [23, 517]) func servicesInEachOther(_ mtu: Int) async throws {
    var server = Self.server
    server.ends = [1: 0xFFFF, 15: 0x002A, 29: 42, 43: 0x0005]
    server.items.swapAt(14, 28)
    let found = try await onLoop { [server] in
      let (near, far) = MemoryChannel.pair()
      var server = server
      return try await IrregularPeer.discover(near, ScriptedPeer(far) { server.answer($0) }, mtu: mtu)
    }
    #expect(found.table.services.map(\.handle) == [1, 15, 29, 43])
    #expect(found.table.services.map(\.endHandle) == [0xFFFF, 0x2A, 42, 0xFFFF])
    #expect(found.table.services.map(\.characteristics.count) == [3, 3, 3, 3])
    #expect(found.table.services.allSatisfy { $0.characteristics.allSatisfy { $0.descriptors.count == 2 } && $0.includes.count == 1 })
    #expect(found.entries.contains(IrregularEntry(.service, 43, UUID(0xFF03), .endsBefore(5))))
    #expect(found.entries.contains(IrregularEntry(.service, 15, UUID(0xFF01), .overlaps(UUID(0xFF00), HandleRange(1, 0xFFFF)))))
  }

  /// The value is found by its type.
  @Test func valueIsFoundByItsType() async throws {
    let peer = IrregularPeer(server: Self.server, list: .characteristic, handle: 3, fault: .valueHandle(0))
    let found = try await onLoop { try await peer.discover(mtu: 64, reading: [UUID(0xA000)]) }
    #expect(found.entries == [IrregularEntry(.characteristic, 3, UUID(0xA000), .value(0, .atNoHandle, found: 4))])
    #expect(found.values[UUID(0xA000)] == [0, 0])
  }

  /// Each request starts after the previous one, whatever the peer answers.
  @Test(arguments: ["1106010005000018", "110600000500001811060000", "1106ffff0100001811"]) func hostileAnswersEnd(_ answer: String)
    async throws
  {
    for bytes in [answer, String(answer.prefix(16))] {
      let count = await onLoopCount(bytes)
      #expect(count < 20, "\(bytes): \(count) requests")
    }
  }

  private func onLoopCount(_ answer: String) async -> Int {
    (try? await onLoop {
      let (near, far) = MemoryChannel.pair()
      let item = Hex.decode(answer) ?? []
      let peer = ScriptedPeer(far) { request in
        switch request.first {
        case 0x10: item
        case 0x08: [0x09, 0x07, 1, 0, 2, 0, 0, 0, 0x2A]
        case 0x04: [0x05, 0x01, 0, 0, 3, 0x28, 1, 0, 3, 0x28]
        default: nil
        }
      }
      let client = Client(near)
      _ = try? await client.discover()
      _ = try? await client.characteristics()
      _ = try? await client.attributeTypes()
      client.close()
      return peer.received.count
    }) ?? Int.max
  }

  /// The single procedures, which `gatttool` uses, give each entry as it arrives, before the next request.
  @Test func entriesArriveOneByOne() async throws {
    let lines = try await onLoop {
      let (near, far) = MemoryChannel.pair()
      var server = Self.foreign
      let peer = ScriptedPeer(far) { server.answer($0) }
      let client = Client(near)
      var lines: [String] = []
      defer { client.close() }
      @LoopActor func say(_ handle: AttributeHandle) { lines.append("\(peer.received.count) \(handle.number)") }
      try await client.primaryServices { say($0.handle) }
      try await client.characteristics { say($0.handle) }
      try await client.primaryServices(UUID(0x180A)) { say($0.start) }
      try await client.attributeTypes(HandleRange(0x1A, 0x1F)) { say($0.handle) }
      return lines
    }
    #expect(lines == ["1 16", "1 21", "3 17", "3 19", "3 23", "4 25", "4 27", "6 21", "8 26", "8 27", "8 28", "8 29", "8 30"])
  }

  /// If the link is lost during a list, the earlier entries are shown.
  @Test func whatCameBeforeALossIsShown() async throws {
    let found = try await onLoop {
      let (near, far) = MemoryChannel.pair()
      var server = Self.foreign
      let peer = ScriptedPeer(far, rules: [ScriptedPeer.Rule([0x08, 0x18], [.close])]) { server.answer($0) }
      let client = Client(near)
      var found: [AttributeHandle] = []
      defer { withExtendedLifetime(peer) { client.close() } }
      await #expect(throws: (any Error).self) { try await client.characteristics { found.append($0.handle) } }
      return found
    }
    #expect(found == [0x11, 0x13, 0x17])
  }
}
