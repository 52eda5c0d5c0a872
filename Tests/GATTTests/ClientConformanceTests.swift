import Foundation
import TestSupport

/// Runs the client cases of the GATT conformance suite. Our own cases are in ClientProcedureTests.
@Suite(.timeLimit(.minutes(15))) struct ClientConformanceTests {
  struct Table: Decodable {
    let databases: [String: ClientHostilePeerTests.Database]
    let cases: [Case]
  }

  struct Case: Decodable, Sendable, CustomTestStringConvertible {
    struct Step: Decodable, Sendable {
      let dir, hex: String
    }
    struct Expected: Decodable, Sendable {
      let result: String
      let value, code, database_equals: String?
    }
    let id, asked: String
    let database: String?
    let preamble_pdus: Int
    let pdus: [Step]
    let expected: Expected
    var testDescription: String { id }
  }

  /// How a case got its result.
  enum Way: String, Sendable {
    /// Every PDU after the preamble was equal to the recording.
    case replayed
    /// The case's database was served in our client's order.
    case served
  }

  @Test(.enabled(if: Vectors.folder != nil, "BLECTL_VECTORS names no folder: the 99 conversations with GATT clients were not held"))
  func allCasesPass() async throws {
    let table = try JSONDecoder().decode(Table.self, from: try Vectors.data("gatt_ts_client.json"))
    #expect(table.cases.count == 99)
    var ways: [Way: Int] = [:]
    for test in table.cases {
      let way = try await onLoop { try await Self.run(test, table.databases[test.database ?? ""].map { PlainServer($0) }) }
      ways[way, default: 0] += 1
    }
    print("conformance: \(ways[.replayed] ?? 0) cases replayed octet for octet, \(ways[.served] ?? 0) served from their databases")
    #expect(ways[.replayed] == 96 && ways[.served] == 3)
  }

  @LoopActor
  private static func run(_ test: Case, _ database: PlainServer?) async throws -> Way {
    let all = test.pdus.map { Replay.Step(isFromClient: $0.dir == "c2s", bytes: Hex.decode($0.hex) ?? []) }
    let (near, far) = MemoryChannel.pair()
    let peer = Replay(far)
    let client = Client(near)
    // Cases with this suffix expect a client that raises the security itself. Ours calls `onSecurityNeeded`.
    if test.id.hasSuffix("/auto") { client.onSecurityNeeded = { _ in true } }
    // Every case starts with the same MTU exchange, even if it has nothing else.
    peer.play([all[0], Replay.Step(isFromClient: false, bytes: [0x03, 0x00, 0x02])])
    #expect(try await client.exchangeMTU(512) == 512, "\(test.id)")
    #expect(peer.missing.isEmpty, "\(test.id)")
    peer.server = database
    peer.server?.mtu = 512
    if database != nil {
      let table = try await client.discover()
      if let expected = test.expected.database_equals { #expect(expected == test.database) }
      check(table, peer.server, test.id)
    }
    let served = peer.served
    let steps = Array(all.dropFirst(max(2, test.preamble_pdus)))
    peer.server = nil
    peer.play(steps)
    let operation = try Operation(test, steps)
    var result = "success"
    var value: [UInt8]?
    do { value = try await perform(operation, client) } catch let error as GATTError {
      result = "att_error"
      #expect(code(error).map { "0x\(Hex.encode([$0]))" } == test.expected.code, "\(test.id): \(error)")
    }
    try await EventLoop.shared.sleep(for: .milliseconds(10))
    #expect(result == test.expected.result, "\(test.id)")
    if let expected = test.expected.value { #expect(value.map { hex($0) } == expected, "\(test.id)") }
    #expect(peer.missing.isEmpty, "\(test.id): our client did not send \(peer.missing.map { hex($0.bytes) })")
    #expect(peer.unexpected.isEmpty, "\(test.id): our client sent \(peer.unexpected.map { hex($0) })")
    #expect(client.bearer.isIdle && client.closed == nil, "\(test.id)")
    client.close()
    return steps.isEmpty && served > 0 ? .served : .replayed
  }

  enum Operation {
    case nothing
    case primary, include, primaryBy(AttributeUUID, inFull: Bool)
    case characteristics(HandleRange), descriptors(HandleRange)
    case read(AttributeHandle), readBy(AttributeUUID), readMultiple([AttributeHandle])
    case write(AttributeHandle, [UInt8], WriteMode), signed(AttributeHandle, [UInt8], signature: [UInt8])
    case subscribe(AttributeHandle, Subscription.Kind)

    init(_ test: Case, _ steps: [Replay.Step]) throws {
      let words = test.asked.split(whereSeparator: { " ,-(".contains($0) }).map(String.init)
      let handles = words.filter { $0.hasPrefix("0x") }.map { AttributeHandle(rawValue: UInt16($0.dropFirst(2), radix: 16) ?? 0) }
      let first = try #require(steps.isEmpty ? [0] : steps.first?.bytes)
      let asked = test.asked
      if asked.hasPrefix("connect") {
        self = .nothing
      } else if asked == "discover primary services" {
        self = .primary
      } else if asked.hasPrefix("discover primary services with") {
        self = .primaryBy(try #require(AttributeUUID(littleEndian: first.dropFirst(7))), inFull: first.count > 9)
      } else if asked.hasPrefix("find included") {
        self = .include
      } else if asked.hasPrefix("discover characteristics") {
        self = .characteristics(HandleRange(handles[0], handles[1]))
      } else if asked.hasPrefix("discover descriptors") {
        self = .descriptors(HandleRange(handles[0], handles[1]))
      } else if asked.hasPrefix("read by UUID") {
        self = .readBy(try #require(AttributeUUID(littleEndian: first.dropFirst(5))))
      } else if asked.hasPrefix("read multiple") {
        self = .readMultiple(handles)
      } else if asked.hasPrefix("read") {
        self = .read(handles[0])
      } else if asked.hasPrefix("subscribe for notifications") {
        self = .subscribe(handles[0], .notification)
      } else if asked.hasPrefix("subscribe for indications") {
        self = .subscribe(handles[0], .indication)
      } else if asked.hasPrefix("signed write") {
        let value: [UInt8] = [1, 2, 3]
        // Our client has no keys: the suite signs our PDU. On an encrypted link it is a plain Write Command.
        let isSigned = words.contains { $0.count == 32 }
        self =
          isSigned
          ? .signed(handles[0], value, signature: Array(try #require(steps.last).bytes.suffix(12))) : .write(handles[0], value, .command)
      } else {
        let value = asked.contains("512 octets") ? [UInt8](repeating: 0xFF, count: 512) : [1, 2, 3]
        let mode: WriteMode =
          asked.hasPrefix("write without")
          ? .command : asked.hasPrefix("write long") ? .long : asked.hasPrefix("reliable") ? .reliable : .request
        try #require(asked.contains("write"))
        self = .write(handles[0], value, mode)
      }
    }
  }

  @LoopActor
  private static func perform(_ operation: Operation, _ client: Client) async throws -> [UInt8]? {
    switch operation {
    case .nothing: break
    case .primary: #expect(try await !client.discoverPrimaryServices().isEmpty)
    case .primaryBy(let uuid, let inFull): #expect(try await !client.discoverPrimaryServices(uuid, inFull: inFull).isEmpty)
    case .include: #expect(try await client.discoverIncludedServices().count == 4)
    case .characteristics(let range): #expect(try await client.discoverCharacteristics(range).count == 2)
    case .descriptors(let range): #expect(try await client.discoverDescriptors(range).count == 4)
    case .read(let handle): return try await client.read(handle)
    case .readBy(let uuid): return try await client.read(uuid: uuid).first?.value
    case .readMultiple(let handles): return try await client.readMultiple(handles)
    case .write(let handle, let value, let mode):
      try await client.write(value, to: handle, plan: WriteProcedure(value: value.count, properties: nil, mtu: client.mtu, mode: mode))
    case .signed(let handle, let value, let signature):
      client.bearer.send(.signedWrite(handle, value: value, signature: signature))
    case .subscribe(let handle, let kind):
      let attribute = try #require(client.table?.attribute(at: handle).characteristic)
      // The suite indicates another handle than the subscribed one. It must be confirmed too.
      let heard = Wait<ValueEvent>()
      let observer = client.observeValues { heard.resume(returning: $0) }
      defer { observer.cancel() }
      _ = try await client.subscribe(attribute, kind: kind)
      let event = try await heard.value()
      #expect(event.handle == 3 && event.value == [1, 2, 3] && event.isIndication == (kind == .indication))
      return event.value
    }
    return nil
  }

  /// Checks that the discovered table equals the server's: every declaration, value and descriptor.
  private static func check(_ table: AttributeTable, _ server: PlainServer?, _ id: String) {
    guard let server else { return }
    for item in server.items {
      switch item.type.short {
      case 0x2800, 0x2801:
        let service = table.services.first { $0.handle == item.handle }
        #expect(service?.uuid.attBytes == item.value && service?.isPrimary == (item.type.short == 0x2800), "\(id) \(item.handle)")
      case 0x2802: #expect(table.services.contains { $0.includes.contains { $0.handle == item.handle } }, "\(id) \(item.handle)")
      case 0x2803:
        let found = table.characteristics.first { $0.handle == item.handle }
        #expect(
          found.map { [$0.properties.rawValue] + little($0.valueHandle) + $0.uuid.attBytes }
            == item.value, "\(id)")
      default:
        let found = table.attribute(at: item.handle)
        #expect(found.uuid == item.type, "\(id): handle \(item.handle) is \(item.type)")
      }
    }
  }
}
