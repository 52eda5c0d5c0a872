import Foundation
import TestSupport

/// Runs the `att-client` cases of Tests/Vectors/bad_inputs.json: invalid PDUs of a peer, and the allowed results.
@Suite(.timeLimit(.minutes(15))) struct ClientHostilePeerTests {
  struct Table: Decodable {
    let client_database: Database
    let cases: [Case]
  }

  struct Database: Decodable {
    struct Attribute: Decodable { let handle, type, value, perm: String }
    struct Service: Decodable { let start, end: String }
    let services: [Service]
    let attributes: [Attribute]
  }

  struct Case: Decodable, Sendable, CustomTestStringConvertible {
    struct Rule: Decodable, Sendable {
      enum Times: Decodable, Sendable {
        case count(Int)
        case always
        init(from decoder: any Decoder) throws {
          let value = try decoder.singleValueContainer()
          self = (try? value.decode(Int.self)).map { .count($0) } ?? .always
        }
      }
      let on_request_prefix: String
      let send: [String]
      let times: Times
    }
    let id, layer, title: String
    let operation: String?
    let args: [String]?
    let peer: [Rule]?
    let peer_pushes: [String]?
    let generator: String?
    let att_mtu: Int?
    let accept: [String]?
    var testDescription: String { "\(id) \(title)" }
  }

  static let table: Table? = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../Vectors/bad_inputs.json")
    return (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode(Table.self, from: $0) }
  }()
  static let cases = table?.cases.filter { $0.layer == "att-client" } ?? []

  @Test func allCasesAreHere() { #expect(Self.cases.count == 74) }

  @Test(arguments: cases) func endsAsItMay(_ test: Case) async throws {
    let database = try #require(Self.table?.client_database)
    let outcome = try await onLoop { try await Self.run(test, PlainServer(database)) }
    let accept = test.accept ?? []
    #expect(accept.contains { outcome.matches($0) }, "\(outcome.results) is none of \(accept)")
  }

  /// If every fifth answer is damaged, discovery, reading and writing still end, with success or a clear error.
  @Test func survivesDamagedAnswers() async throws {
    let outcomes = try await onLoop { () -> [String: Int] in
      var random = SplitMix64(seed: 3)
      var outcomes: [String: Int] = [:]
      for _ in 0..<3000 {
        let (near, far) = MemoryChannel.pair()
        var server = ClientDiscoveryTests.server(services: 3, characteristics: 2, isLong: { $0 == 1 })
        let peer = ScriptedPeer(far) { pdu in
          guard var answer = server.answer(pdu) else { return nil }
          guard random.next() % 5 == 0, !answer.isEmpty else { return answer }
          let position = Int(random.next() % UInt64(answer.count))
          switch random.next() % 4 {
          case 0: answer[position] = UInt8(truncatingIfNeeded: random.next())
          case 1: answer.removeSubrange(position...)
          case 2: answer.insert(UInt8(truncatingIfNeeded: random.next()), at: position)
          default: answer += answer.suffix(7)
          }
          return answer
        }
        let client = Client(near)
        do {
          try await client.exchangeMTU([23, 65, 517][Int(random.next() % 3)])
          let table = try await client.discover()
          for item in table.characteristics { _ = try await client.read(item.valueHandle) }
          _ = try await client.read(uuid: AttributeUUID(0xA000))
          let plan = try WriteProcedure(value: 40, properties: nil, mtu: client.mtu, mode: .reliable)
          try await client.write([UInt8](repeating: 1, count: 40), to: 3, plan: plan)
          outcomes["success", default: 0] += 1
        } catch { outcomes[kind(error) ?? "", default: 0] += 1 }
        #expect(peer.received.count < 1000)
        client.close()
      }
      return outcomes
    }
    #expect(Set(outcomes.keys).isSubset(of: ["success", "protocol", "att", "timeout"]), "\(outcomes)")
    #expect(outcomes["protocol", default: 0] > 1000, "\(outcomes)")
  }

  struct Outcome: Sendable {
    var results: Set<String>
    func matches(_ accepted: String) -> Bool {
      results.contains {
        $0 == accepted || (accepted == "success" && $0.hasPrefix("success")) || (accepted.hasPrefix("reply:") && $0.hasPrefix(accepted))
      }
    }
  }

  @LoopActor
  private static func run(_ test: Case, _ server: PlainServer) async throws -> Outcome {
    let (near, far) = MemoryChannel.pair()
    var server = server
    server.mtu = test.att_mtu ?? 23
    let rules = (test.peer ?? []).map { rule in
      let times: Int? = if case .count(let count) = rule.times { count } else { nil }
      return ScriptedPeer.Rule(Hex.decode(rule.on_request_prefix) ?? [], rule.send.map(answer), times: times)
    }
    let peer = ScriptedPeer(far, rules: rules) { pdu in
      if test.generator == "all_services", pdu.first == 0x10, pdu.count > 3 {
        return [0x11, 0x06, pdu[1], pdu[2], pdu[1], pdu[2], 0x0F, 0x18]
      }
      return server.answer(pdu)
    }
    let client = Client(near, timeout: .seconds(30))
    var notes: [ClientNote] = []
    client.onNote = { notes.append($0) }
    let started = EventLoop.shared.now
    var outcome = try await perform(test, client, peer)
    #expect(started.duration(to: EventLoop.shared.now) < .seconds(10), "waited for what had come already")
    if client.closed == nil { #expect(client.bearer.isIdle) }
    #expect(peer.received.count < 70_000)
    if test.id == "A03" {
      let later = try await client.read(0x0015)
      #expect(later == [0], "a stale answer was taken")
      #expect(client.bearer.faults.stray == 1)
    }
    if client.closed != nil { outcome.insert("bearer_closed") }
    if notes.contains(where: { if case .irregular(let entry) = $0 { entry.isLeftOut } else { false } }) { outcome.insert("dropped") }
    if !notes.isEmpty, outcome.contains(where: { $0.hasPrefix("success") }) { outcome.insert("success_flagged") }
    client.close()
    return Outcome(results: outcome)
  }

  @LoopActor
  private static func perform(_ test: Case, _ client: Client, _ peer: ScriptedPeer) async throws -> Set<String> {
    let numbers = (test.args ?? []).map { $0.hasPrefix("0x") ? UInt16($0.dropFirst(2), radix: 16) ?? 0 : UInt16($0) ?? 0 }
    let handles = numbers.map { AttributeHandle(rawValue: $0) }
    let handle = handles.first ?? 1
    let range = HandleRange(handle, handles.count > 1 ? handles[1] : 0xFFFF)
    func write(_ count: Int, _ mode: WriteMode) async throws {
      let plan = try WriteProcedure(value: count, properties: nil, mtu: client.mtu, mode: mode, chunk: nil)
      try await client.write([UInt8](repeating: 0xAB, count: count), to: handle, plan: plan)
    }
    do {
      switch test.operation ?? "" {
      case "mtu": return ["mtu:\(try await client.exchangeMTU())"]
      case "primary": return success(try await client.discoverPrimaryServices(range).count)
      case "primaryuuid": return success(try await client.discoverPrimaryServices(UUID(0x180D), range).count)
      case "incl": return success(try await client.discoverIncludedServices(range).count)
      case "chars": return success(try await client.discoverCharacteristics(range).count)
      case "descs": return success(try await client.discoverDescriptors(range).count)
      case "discover": return success(try await client.discover().services.count)
      case "read": return ["success:\(hex(try await client.read(handle)))"]
      case "readlong": return success(try await client.read(handle).count)
      case "rbt": return success(try await client.read(uuid: UUID(0x2A38), range).count)
      case "readmult": return ["success:\(hex(try await client.readMultiple(handles)))"]
      case "write":
        try await write(1, .request)
        return ["success"]
      case "writelong":
        try await write(Int(numbers[1]), .long)
        return ["success"]
      case "reliable":
        try await write(Int(numbers[1]), .reliable)
        return ["success"]
      case "listen": return try await listen(test, client, peer, handle)
      default: return ["unknown operation"]
      }
    } catch {
      if peer.received.contains([0x18, 0]), !peer.received.contains([0x18, 1]) { return ["cancelled"] }
      switch kind(error) {
      case "att": return ["att_error:0x\(Hex.encode([code(error) ?? 0]))"]
      case "protocol": return ["protocol_error"]
      case "link_lost": return ["disconnected"]
      default: return ["\(error)"]
      }
    }
  }

  @LoopActor
  private static func listen(_ test: Case, _ client: Client, _ peer: ScriptedPeer, _ handle: AttributeHandle) async throws -> Set<String> {
    guard case .characteristic(let characteristic, _) = try await client.discover().attribute(at: handle) else {
      return ["no characteristic"]
    }
    let subscription = try await client.subscribe(characteristic)
    let before = peer.received.count
    var pushes = (test.peer_pushes ?? []).map { Hex.decode($0) ?? [] }
    if test.generator == "flood_nfy" {
      pushes = (0..<10_000).map { [0x1B, little(handle)[0], little(handle)[1], UInt8($0 & 255), UInt8($0 >> 8)] }
    }
    if test.generator == "flood_ind" {
      pushes = (0..<1000).map { [0x1D, little(handle)[0], little(handle)[1], UInt8($0 & 255), UInt8($0 >> 8)] }
    }
    for push in pushes { peer.push(push) }
    try await EventLoop.shared.sleep(for: .seconds(1))
    let replies = peer.received.dropFirst(before)
    var events: [ValueEvent] = []
    client.close()
    while let event = try? await subscription.next() { events.append(event) }
    switch test.generator {
    case "flood_nfy":
      let values = events.map { Int($0.value[0]) | Int($0.value[1]) << 8 }
      return values == Array(0..<10_000) || values.count + subscription.dropped == 10_000
        ? ["notify_many"] : ["\(values.count) in some order"]
    case "flood_ind": return replies.count == 1000 && replies.allSatisfy { $0 == [0x1E] } ? ["reply_many:1e"] : ["\(replies.count) replies"]
    default: break
    }
    var results: Set<String> = []
    if let first = replies.first { results.insert("reply:\(hex(first))") }
    for event in events { results.formUnion(["notify", "notify:\(hex(event.value))"]) }
    let asked = pushes.filter { [0x1D, 0x02, 0x0A].contains($0.first) }.count
    if replies.count > asked { results = ["\(replies.count) replies to \(asked) requests and indications"] }
    return results.isEmpty ? ["ignored"] : results
  }

  private static func success(_ count: Int) -> Set<String> { count == 0 ? ["success:empty", "success:0"] : ["success:\(count)"] }

  private static func answer(_ text: String) -> ScriptedPeer.Answer {
    switch text {
    case "<echo>": .echo
    case "<close>": .close
    default: .pdu(Hex.decode(text) ?? [])
    }
  }
}

extension PlainServer {
  init(_ database: ClientHostilePeerTests.Database) {
    func number(_ text: String) -> AttributeHandle { AttributeHandle(rawValue: UInt16(text.dropFirst(2), radix: 16) ?? 0) }
    self.init(
      database.attributes.map {
        Item(
          handle: number($0.handle), type: UUID($0.type) ?? UUID(0), value: Hex.decode($0.value) ?? [], isReadable: $0.perm.contains("r"),
          isWritable: $0.perm.contains("w"))
      })
    for service in database.services { ends[number(service.start)] = number(service.end) }
  }
}
