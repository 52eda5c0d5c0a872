import TestSupport
import Traces

/// Tests whole traces, packet by packet.
@Suite(.timeLimit(.minutes(15))) struct TraceDecoderTests {
  private static let peer = PeerAddress(Address(rawValue: 0xC0FF_EE00_0007), .public)

  /// Builds a trace: sent packets are the host's, data are whole ATT frames on link 0x40, 1 ms apart.
  private static func trace(_ steps: [(bytes: [UInt8], isSent: Bool)]) -> [Snoop.Record] {
    steps.enumerated().map { index, step in
      var packet = step.bytes
      if packet[0] != 4 {
        let length = UInt8(packet.count)
        packet = [2, 0x40, step.isSent ? 0 : 0x20, length + 4, 0, length, 0, 4, 0] + packet
      }
      return Snoop.Record(
        packet: packet, direction: step.isSent ? .hostToController : .controllerToHost, wallClock: Int64(index) * 1_000_000)
    }
  }

  private static let connected = Event.leConnectionComplete(
    .init(status: .success, handle: 0x40, peer: peer, interval: 12, latency: 0, supervisionTimeout: 400)
  ).encoded
  static let session: [(bytes: [UInt8], isSent: Bool)] = [
    (connected, false), ([0x0A, 3, 0], true), ([0x0B, 0x64], false), ([0x02, 0xF7, 0], true), ([0x03, 0xB9, 0], false),
    ([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], true), ([0x11, 6, 1, 0, 5, 0, 0x0F, 0x18], false), ([0x08, 1, 0, 5, 0, 3, 0x28], true),
    ([0x09, 7, 2, 0, 0x12, 3, 0, 0x19, 0x2A], false), ([0x12, 3, 0, 1], true), ([0x01, 0x12, 3, 0, 3], false), ([0x1B, 3, 0, 0x63], false),
    ([0x0A, 3, 0], true), (Event.disconnectionComplete(status: .success, handle: 0x40, reason: .connectionTimeout).encoded, false),
  ]

  private static func decoded(_ records: [Snoop.Record]) -> (items: [TraceDecoder.Item], decoder: TraceDecoder) {
    var databases = LearnedDatabases()
    for record in records { databases.learn(record) }
    databases.finish()
    var decoder = TraceDecoder(databases)
    return (records.map { decoder.decode($0) }, decoder)
  }

  /// A request gets a name from a later discovery, and a response refers to its request.
  @Test func namesAndAnswers() throws {
    let (items, decoder) = Self.decoded(Self.trace(Self.session))
    #expect(items.map(\.number) == Array(1...items.count))
    let server = try #require(items[1].server)
    #expect(decoder.name(3, of: server) == LearnedAttribute(type: UUID(0x2A19)))
    #expect(items[2].packet["handle"] == .attribute(3) && items[2].answers?.number == 2 && items[2].answers?.after == 1_000_000)
    #expect(items[1].link?.peer == Self.peer && items[11].server == server && items[11].answers == nil)
  }

  @Test func theSummaryCountsConversations() throws {
    let (_, decoder) = Self.decoded(Self.trace(Self.session))
    let summary = decoder.summary
    #expect(summary.packets == 14 && summary.events == 2 && summary.data == 12 && summary.malformed == 0 && summary.mtus == [0: 185])
    let link = try #require(decoder.allLinks.first)
    #expect(link.reason == .connectionTimeout && link.isCentral == true && link.end - link.begin == 13_000_000)
    let conversations = summary.conversations(0)
    let read = try #require(conversations.first { $0.subject.opcode == .request(.read) }).entry
    #expect(read.count == 2 && read.answers == 1 && read.bytes == 1 && read.longest == 1_000_000)
    let write = try #require(conversations.first { $0.subject.opcode == .request(.write) })
    #expect(write.isFromHost && write.entry.errors == [.writeNotPermitted: 1] && write.subject.handle == 3)
    let notified = try #require(conversations.first { $0.subject.opcode == .unsolicited(.notification) })
    #expect(!notified.isFromHost && notified.entry.count == 1 && notified.entry.answers == 0)
  }

  /// A request and an indication of the same side wait independently.
  @Test func anIndicationDoesNotHideARequest() throws {
    let (items, decoder) = Self.decoded(
      Self.trace([
        (Self.connected, false), ([0x02, 0xF7, 0], false), ([0x1D, 3, 0, 1, 0, 0xFF, 0xFF], false), ([0x03, 0xB9, 0], true), ([0x1E], true),
      ]))
    #expect(items.map { $0.answers?.number } == [nil, nil, nil, 2, 3] && decoder.summary.mtus == [0: 185])
  }

  /// Disconnection Complete of a stream or an unknown link adds no link. Data before Connection Complete belong to the link.
  @Test func linksThatAreNone() throws {
    let gone = Event.disconnectionComplete(status: .success, handle: 0x101, reason: .remoteUserTerminated).encoded
    #expect(Self.decoded(Self.trace([(gone, false)])).decoder.allLinks.isEmpty)
    let (items, decoder) = Self.decoded(Self.trace([([0x1B, 3, 0, 0x63], false), (Self.connected, false), ([0x0A, 3, 0], true)]))
    #expect(decoder.allLinks.count == 1 && decoder.allLinks[0].peer == Self.peer && items[2].link?.firstPacket == 0)
    #expect(decoder.summary.mtu(0, decoder.allLinks[0]) == 23)
  }

  /// A Reset ends all links of its adapter, without events.
  @Test func aResetEndsLinks() throws {
    let reset: [UInt8] = [4, 0x0E, 4, 1, 3, 0x0C, 0]
    let (_, decoder) = Self.decoded(Self.trace([(Self.connected, false), (reset, false), ([0x1B, 3, 0, 0x63], false)]))
    #expect(decoder.allLinks.map(\.wasReset) == [true, false] && decoder.allLinks[1].peer == nil)
    // The MTU that was agreed before is unknown.
    #expect(decoder.summary.mtu(1, decoder.allLinks[1]) == nil)
    var records = Self.trace([(Self.connected, false), (reset, false)])
    records[1].adapter = 1
    #expect(Self.decoded(records).decoder.allLinks.map(\.wasReset) == [false])
  }

  /// A controller's diagnostics are ACL data without a link. After lost packets, or without the start, a handle may be a link's.
  @Test func dataOfVendorsIsNoLink() {
    let reset: [UInt8] = [1, 3, 0x0C, 0]
    func vendor(_ handle: UInt16) -> [UInt8] { [2, UInt8(handle & 0xFF), UInt8(handle >> 8) | 0x20, 5, 0, 0xFF, 0, 4, 0, 0x0A] }
    for (packets, drops, isVendors) in [
      ([reset, vendor(0xEDC)], 0, true), ([reset, vendor(0xFF1)], 0, true), ([vendor(0xFF1)], 0, true), ([vendor(0xF00)], 0, true),
      ([vendor(0xEFF)], 0, false), ([vendor(0xEDC)], 0, false), ([vendor(0xEDC), reset], 0, false), ([reset, vendor(0xEDC)], 1, false),
      ([reset, vendor(0xFF1)], 1, true), ([vendor(0xFF1), reset, vendor(0xEDC)], 0, true),
      // Over USB, data may overtake the event that opens their link.
      ([reset, vendor(0x40), Self.connected], 0, false), ([reset, Self.connected, vendor(0x40)], 0, false),
      ([reset, vendor(0x41), Self.connected], 0, true),
      // A BR/EDR link.
      ([reset, [4, 0x03, 11, 0, 0x0B, 0, 1, 2, 3, 4, 5, 6, 1, 0], vendor(0x0B)], 0, false),
    ] as [([[UInt8]], Int, Bool)] {
      let records = packets.map { Snoop.Record(packet: $0, direction: $0[0] == 1 ? .hostToController : .controllerToHost, wallClock: 0) }
      var databases = LearnedDatabases()
      for record in records { databases.learn(record) }
      databases.finish(drops: drops)
      var decoder = TraceDecoder(databases)
      let items = records.map { decoder.decode($0) }
      let data = items.filter { $0.record.packet[0] == 2 && $0.packet.name == "Vendor Data" && $0.link == nil && $0.packet.problem == nil }
      let links = packets.contains(Self.connected) || !isVendors ? 1 : 0
      #expect(data.count == (isVendors ? packets.count { $0[0] == 2 } : 0), "\(packets)")
      #expect(decoder.summary.vendorData == data.count && decoder.allLinks.count == links, "\(packets) \(decoder.allLinks)")
      if isVendors { #expect(decoder.summary.malformed == 0, "\(packets)") }
    }
  }

  /// A trace may start in the middle of a link, with a fragmented frame.
  @Test func aTraceMayBeginInTheMiddle() {
    let parts: [[UInt8]] = [[2, 0x40, 0x20, 5, 0, 4, 0, 4, 0, 0x1B], [2, 0x40, 0x10, 3, 0, 3, 0, 0x63]]
    let records = parts.map { Snoop.Record(packet: $0, direction: .controllerToHost, wallClock: 0) }
    let (items, decoder) = Self.decoded(records)
    #expect(items[0].layer == .hci && items[0].packet.name == "ACL Data")
    #expect(items[1].layer == .att && items[1].packet.name == "Handle Value Notification" && items[1].bytes == [0x1B, 3, 0, 0x63])
    #expect(decoder.allLinks.count == 1 && decoder.allLinks[0].peer == nil && decoder.allLinks[0].reason == nil)
  }

  /// Packets are mutated one by one, because mutations of a whole file rarely reach them.
  @Test func nothingTraps() {
    let records = Self.trace(Self.session)
    var random = SplitMix64(seed: 3)
    for _ in 0..<1000 {
      var mutated: [Snoop.Record] = []
      for var record in records {
        if random.next() % 8 == 0 {
          record.packet[Int(random.next() % UInt64(record.packet.count))] = UInt8(truncatingIfNeeded: random.next())
        }
        if random.next() % 16 == 0 { record.packet = Array(record.packet.prefix(Int(random.next() % 12))) }
        if random.next() % 32 == 0 { record.wallClock = Int64(bitPattern: random.next()) }
        if random.next() % 16 != 0 { mutated.append(record) }
      }
      let (_, decoder) = Self.decoded(mutated)
      for index in decoder.allLinks.indices { _ = decoder.summary.conversations(index) }
    }
  }
}
