import TestSupport

/// Reading on a new connection takes few requests and gives the same result as after full discovery.
@Suite(.timeLimit(.minutes(15))) struct ClientReadSelectedTests {
  static let wide = DiscoveryCostTests.long(2)

  static func value(_ count: Int) -> [UInt8] { (0..<count).map { UInt8($0 & 255) } }

  /// Returns Bumble's tree with values of many lengths. ffe1 is write-only; ffe7 and its 2901 exist twice.
  static func server(mtu: Int = 517) -> PlainServer {
    var made = DiscoveryCostTests.lock
    made.append(.init(uuid: UUID(0xFFD0), characteristics: [(UUID(0xFFE7), 2, [0x2901]), (UUID(0xFFD1), 2, [0x2905])]))
    var server = DiscoveryCostTests.server(made)
    let lengths: [UInt32: Int] = [
      0x2A00: 7, 0xFFE2: 18, 0xFFE3: 512, 0xFFE4: 19, 0xFFE5: 0, 0xFFE6: 20, 0xFFE8: 253, 0xFFE9: 41, 0xFFEA: 300, 0xFFD1: 513,
    ]
    for index in server.items.indices {
      let type = server.items[index].type
      if let count = lengths.first(where: { UUID($0.key) == type })?.value { server.items[index].value = value(count) }
      if type == UUID(0xFFE1) { server.items[index].isReadable = false }
      if type == wide { server.items[index].value = Array("custom".utf8) }
    }
    server.largestMTU = mtu
    return server
  }

  struct Outcome: Sendable {
    var values: [SelectedValue] = []
    var error: (any Error)?
    var notes: [ClientNote] = []
    var sent: [String] = []
  }

  /// - Parameter long: Whether to exchange the MTU and discover first.
  @LoopActor
  static func read(_ texts: [String], _ server: PlainServer, long: Bool = false, rules: [ScriptedPeer.Rule] = []) async -> Outcome {
    let (near, far) = MemoryChannel.pair()
    var server = server
    let peer = ScriptedPeer(far, rules: rules) { server.answer($0) }
    let client = Client(near)
    var outcome = Outcome()
    client.onNote = { outcome.notes.append($0) }
    do {
      let selectors = try texts.map { try Selector($0) }
      if long {
        try await client.exchangeMTU()
        // A handle that is read before discovery has no UUID.
        if selectors.first?.plainHandle == nil { _ = try await client.discover() }
      }
      try await client.read(selectors) {
        #expect($0 == outcome.values.count)
        outcome.values.append($1)
      }
    } catch { outcome.error = error }
    client.close()
    outcome.sent = peer.received.map { hex($0) }
    #expect(outcome.sent.count { $0.hasPrefix("02") } <= 1)
    return outcome
  }

  /// Reading takes this many round trips at an MTU of 517. Discovery alone takes 10, including the MTU exchange.
  @Test(arguments: [
    (["ffe2"], 2), (["2a00"], 2), (["device_name"], 2), (["ffe5"], 2), ([wide.description], 2), (["2904"], 2),
    // 19 bytes may be cut, and 512 are. So the MTU is exchanged, and the value is read again in one piece.
    (["ffe4"], 4), (["ffe6"], 4), (["ffe9"], 4), (["ffe8"], 4), (["ffe3"], 4), (["ffea"], 4),
    (["0x0003"], 1), (["0x0015"], 3), (["0x0003", "0x0012"], 2), (["0x0015", "0x0003"], 4), (["0x0003", "ffe2"], 3),
    (["2a00", "ffe2", "ffe5"], 6), (["ffe3", "ffea", "ffe2"], 4 + 3 + 2), (["2a00", "2a01", "2b29", "2b2a"], 8),
  ]) func takesFewRoundTrips(_ texts: [String], _ count: Int) async throws {
    let (cold, known) = try await onLoop { (await Self.read(texts, Self.server()), await Self.read(texts, Self.server(), long: true)) }
    #expect(cold.error == nil && cold.sent.count == count, "\(cold.sent) \(String(describing: cold.error))")
    #expect(cold.values == known.values && cold.values.count == texts.count)
    #expect(cold.notes.map(Self.asShown) == known.notes.map(Self.asShown))
  }

  /// Long values are read in parts if the peer accepts only a smaller MTU.
  @Test(arguments: [(23, "ffe6", 4), (23, "ffe3", 3 + 23), (100, "ffe3", 3 + 6), (247, "ffe3", 3 + 3)])
  func longValuesOfSmallPeers(_ mtu: Int, _ text: String, _ count: Int) async throws {
    let found = try await onLoop { await Self.read([text], Self.server(mtu: mtu)) }
    #expect(found.sent.count == count, "\(found.sent.count)")
    #expect(found.values.map(\.value) == [Self.value(text == "ffe3" ? 512 : 20)])
  }

  /// Returns the note with a cut value named by its type, wherever the type is known from.
  private static func asShown(_ note: ClientNote) -> ClientNote {
    if case .longValue(let handle, let attribute, let type) = note { return .longValue(handle, nil, type: attribute?.uuid ?? type) }
    return note
  }

  /// Any selection other than one readable attribute gives the same values and errors as after discovery.
  @Test(arguments: [
    ["ffe1"], ["ffe7"], ["2902"], ["2901"], ["ffff"], ["2800"], ["2802"], ["2803"], ["1800"], ["ffe0"], ["ffe7[2]"], ["ffe0/ffe2"],
    [wide.description + "@2901"], ["ffe7[2]@2901"], ["ffe2", "ffe1"], ["ffe2", "0x0003"], ["0x0003", "ffe7"], ["0x0010"], ["0x0999"],
    ["ffe2", "ffe7", "2a00"], ["2a00", "2a01", "2b29", "2b2a", "ffe2"], ["0x0003", "0x0012@2902"], ["ffd1"], ["ffe0/ffe2", "0x0003"],
  ]) func endsAsAfterDiscovery(_ texts: [String]) async throws {
    let (cold, known) = try await onLoop { (await Self.read(texts, Self.server()), await Self.read(texts, Self.server(), long: true)) }
    #expect(cold.values == known.values)
    #expect(kind(cold.error) == kind(known.error) && cold.error as? GATTError == known.error as? GATTError)
    #expect(cold.notes.map(Self.asShown) == known.notes.map(Self.asShown))
    if cold.error == nil { #expect(cold.values.count == texts.count) }
  }

  /// An unusable answer to either request of the short way leads to full discovery.
  @Test(arguments: [
    // The first is refused, malformed or for handle 0. The second gets an invalid answer or an inconclusive error.
    ("080100", "010801000f"), ("080100", "0900"), ("080100", "0904000001 02".filter { $0 != " " }), ("081300", "010813000e"),
    ("081300", "0906120001020304"), ("081300", "0903130000"),
  ]) func anythingElseGoesTheLongWay(_ prefix: String, _ answer: String) async throws {
    let rule = ScriptedPeer.Rule(Hex.decode(prefix) ?? [], [.pdu(Hex.decode(answer) ?? [])])
    let found = try await onLoop { await Self.read(["ffe2"], Self.server(), rules: [rule]) }
    #expect(found.values.map(\.handle) == [0x12] && found.values.map(\.uuid) == [UUID(0xFFE2)])
    #expect(found.values.map(\.value) == [Self.value(18)], "\(String(describing: found.error))")
    #expect(found.sent.count > 8)
  }

  /// A server may cut to 19 bytes at any MTU, or exchange the MTU itself at the same time.
  @Test func aCutThatDoesNotShow() async throws {
    let cut = ScriptedPeer.Rule([0x08, 0x01], [.pdu([0x09, 21, 0x12, 0x00] + Self.value(19))], times: nil)
    let found = try await onLoop {
      var server = Self.server()
      for index in server.items.indices where server.items[index].handle == 0x12 { server.items[index].value = Self.value(40) }
      return await Self.read(
        ["ffe3", "ffe2"], server,
        rules: [ScriptedPeer.Rule([0x08, 0x01, 0x00, 0xFF, 0xFF, 0xE3], [.pdu([0x09, 21, 0x15, 0] + Self.value(19))]), cut])
    }
    #expect(found.values.map(\.value) == [Self.value(512), Self.value(40)])
    let early = ScriptedPeer.Rule([0x08, 0x01], [.pdu([0x02, 0xF7, 0x00]), .pdu([0x09, 21, 0x15, 0x00] + Self.value(19))])
    let other = try await onLoop { await Self.read(["ffe3"], Self.server(), rules: [early]) }
    #expect(other.values.map(\.value) == [Self.value(512)])
  }

  /// A lost link ends the command without a second attempt.
  @Test func aLostLinkIsNotTriedAgain() async throws {
    for answer in [ScriptedPeer.Answer.close, .pdu([0x13])] {
      let found = try await onLoop { await Self.read(["ffe2"], Self.server(), rules: [ScriptedPeer.Rule([0x08], [answer])]) }
      #expect(found.sent.count == 1)
      #expect(kind(found.error) == (answer.isClose ? "link_lost" : "protocol"))
    }
  }
}

extension ScriptedPeer.Answer {
  fileprivate var isClose: Bool { if case .close = self { true } else { false } }
}
