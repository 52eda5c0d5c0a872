import TestSupport
import Traces

/// Tests recordings that are built from traces.
@Suite(.timeLimit(.minutes(15))) struct RecordingTests {
  @Test func timesNeverGoBackAndHaveNoEnd() throws {
    var trace = MadeTrace()
    trace.connect()
    trace.ask([0x0A, 3, 0], [0x0B, 1])
    trace.now = -1_000_000_000
    trace.ask([0x0A, 3, 0], [0x0B, 2])
    trace.now = .max / 2000
    trace.ask([0x0A, 3, 0], [0x0B, 3])
    let recording = try Recording(parsing: trace.file)
    #expect(recording.links.first?.requests.map { $0.response?.last } == [1, 2, 3])
  }

  @Test func aClockThatWasSetMakesNoGaps() throws {
    var trace = MadeTrace()
    for time in [1_700_000_000_000_000, -1_000_000_000, .max / 2000] as [Int64] {
      trace.now = time
      trace.connect()
    }
    let times = try Recording(parsing: trace.file).attempts.compactMap(\.complete?.time)
    let day: Int64 = 86_400_000_000_000
    #expect(times.count == 3 && times == times.sorted() && times.allSatisfy { (0...100 * day).contains($0) }, "\(times)")
  }

  @Test func joinsFragmentsAndForgivesWhatHasNoStart() throws {
    var trace = MadeTrace()
    trace.connect()
    trace.raw(Packet.acl(ACLData(handle: 0x40, boundary: .continuing, payload: [1, 2, 3])).encoded, .controllerToHost)
    trace.ask([0x0A, 3, 0], [0x0B] + [UInt8](repeating: 7, count: 100), length: 27)
    let recording = try Recording(parsing: trace.file)
    #expect(recording.links.first?.requests.first?.response?.count == 101)
  }

  @Test func aLinkFromBeforeTheRecordingIsOne() throws {
    var trace = MadeTrace()
    trace.ask([0x0A, 3, 0], [0x0B, 1])
    let recording = try Recording(parsing: trace.file)
    #expect(recording.links.count == 1)
    #expect(recording.attempts.first?.peer == nil)
    #expect(recording.attempts.first?.link == 0)
  }

  /// The connection determines the type of an address only if no advertisement does.
  @Test func devicesThatWereNotHeard() throws {
    let other = PeerAddress(Address(rawValue: 0xC0FF_EE00_0008), .random)
    let report = { (peer: PeerAddress) -> [UInt8] in
      Event.leAdvertisingReports(AdvertisingReports([LegacyAdvertisingReport(eventType: 0, peer: peer, data: [], rssi: -50)])).encoded
    }
    for (heard, isUnheard) in [([], true), ([other], true), ([MadeTrace.peer], false), ([other, MadeTrace.peer], false)]
      as [([PeerAddress], Bool)]
    {
      var trace = MadeTrace()
      for peer in heard { trace.raw(report(peer), .controllerToHost) }
      trace.connect()
      let recording = try Recording(parsing: trace.file)
      #expect(recording.unheardPeer(MadeTrace.peer.address) == (isUnheard ? MadeTrace.peer : nil), "\(heard)")
      #expect(recording.unheardPeer(other.address) == nil)
    }
  }

  @Test func dataOfVendorsIsNoLink() throws {
    for (handle, isFromStart, links) in [(0xFF1, false, 1), (0xEDC, true, 1), (0xEDC, false, 2)] as [(UInt16, Bool, Int)] {
      var trace = MadeTrace()
      if isFromStart { trace.raw([1, 3, 0x0C, 0], .hostToController) }
      trace.raw(
        Packet.acl(ACLData(handle: ConnectionHandle(handle), boundary: .firstFlushable, payload: [1, 2, 3])).encoded, .controllerToHost)
      trace.connect()
      let recording = try Recording(parsing: trace.file)
      #expect(recording.links.count == links && recording.attempts.count == links, "\(handle)")
    }
  }

  /// Kernel sockets may be read in any order.
  @Test func whatIsReadAfterTheEndOfTheLinkBelongsToIt() throws {
    var trace = MadeTrace()
    trace.connect()
    trace.att([0x0A, 3, 0], .hostToController)
    trace.raw(Event.disconnectionComplete(status: .success, handle: 0x40, reason: .connectionTimeout).encoded, .controllerToHost)
    trace.att([0x0B, 9], .controllerToHost)
    let recording = try Recording(parsing: trace.file)
    #expect(recording.links.count == 1)
    #expect(recording.links.first?.requests.first?.response == [0x0B, 9])
  }

  @Test func tellsWhereAFileIsCut() throws {
    var trace = MadeTrace()
    trace.connect()
    let file = trace.file
    for length in 0..<file.count {
      let isWhole = length == 16 || trace.ends.contains(length)
      #expect(((try? Recording(parsing: Array(file.prefix(length)))) != nil) == isWhole, "\(length)")
    }
    #expect(throws: MalformedPacket("btsnoop record: invalid length 65553", at: 20)) {
      try Recording(parsing: Snoop.header + [0, 1, 0, 17, 0, 1, 0, 17])
    }
    #expect(throws: MalformedPacket("btsnoop header: unsupported datalink 1003 (supported: 1001, 1002, 2001)", at: 12)) {
      try Recording(parsing: Snoop.header.dropLast(4) + [0, 0, 3, 0xEB])
    }
  }

  @Test func aLongFileIsReadInProportion() throws {
    var trace = MadeTrace()
    trace.connect()
    for _ in 0..<50_000 { trace.ask([0x0A, 3, 0], [0x0B, 1]) }
    let recording = try Recording(parsing: trace.file)
    #expect(recording.links.first?.requests.count == 50_000)
    var answerer = Answerer(try #require(recording.links.first))
    for index in 0..<50_000 { #expect(answerer.answer([0x0A, 3, 0]) == .play(index, response: nil)) }
    #expect(answerer.answer([0x0A, 3, 0]) == .unknown(next: nil))
  }
}

/// Tests what a recording lacks, and the time to read it.
@Suite(.timeLimit(.minutes(15))) struct RecordingFileTests {
  @Test func holesAreCounted() throws {
    var trace = MadeTrace()
    trace.connect()
    trace.ask([0x0A, 3, 0], [0x0B, 1])
    #expect(try Recording(parsing: trace.file).drops == 0)
    // The cumulative drops of the last record.
    let start = try #require(trace.ends.sorted().dropLast().last)
    trace.file.replaceSubrange(start + 12..<start + 16, with: [0, 0, 1, 2])
    var record = Snoop.Record(
      packet: [0x02, 0x40, 0x20, 0x07, 0], direction: .controllerToHost, wallClock: trace.now * 1000)
    record.missing = 7
    trace.file += record.encoded
    let recording = try Recording(parsing: trace.file)
    #expect(recording.drops == 0x102 && recording.cut == 1)
    #expect(recording.links.first?.requests.count == 1)
    #expect(try Snoop.parse(trace.file).last == record)
  }

  /// Reading a long file can be cancelled before its end.
  @Test func aLongFileIsReadInTurns() async throws {
    var trace = MadeTrace()
    trace.connect()
    for _ in 0..<20_000 { trace.ask([0x0A, 3, 0], [0x0B, 1]) }
    let file = trace.file
    try await onLoop {
      let reading = EventLoop.shared.spawn { () -> Bool in
        do { _ = try await Recording.read(file) } catch { return error is CancellationError }
        return false
      }
      try await EventLoop.shared.sleep(for: .zero)
      reading.cancel()
      #expect(await reading.value)
      #expect(try await Recording.read(file).links.first?.requests.count == 20_000)
    }
  }
}

/// A capture of another project with the controller's packets only.
@Suite(.timeLimit(.minutes(15))) struct CapturedRecordingTests {
  @Test(.enabled(if: Vectors.folder != nil, "BLECTL_VECTORS names no folder: the H4 capture of another project was not replayed"))
  func aCaptureOfOneDirection() throws {
    var framer = H4Framer(.controllerToHost)
    var trace = MadeTrace()
    framer.append([UInt8](try Vectors.data("hci_h4_bumble_001.bin")))
    while let packet = try framer.next() { trace.raw(packet, .controllerToHost) }
    #expect(trace.ends.count == 118)
    let recording = try Recording(parsing: trace.file)
    #expect(recording.links.count == 1 && recording.attempts.count == 1)
  }
}

/// A trace built packet by packet, 1 ms apart.
struct MadeTrace {
  var file = Snoop.header
  /// The time in µs since 1970.
  var now: Int64 = 1_700_000_000_000_000
  private(set) var ends: Set<Int> = []

  static let peer = PeerAddress(Address(rawValue: 0xC0FF_EE00_0007), .public)

  mutating func raw(_ packet: [UInt8], _ direction: Direction) {
    now += 1000
    file += Snoop.Record(packet: packet, direction: direction, wallClock: now * 1000).encoded
    ends.insert(file.count)
  }

  mutating func connect(handle: ConnectionHandle = 0x40) {
    raw(
      LECreateConnection(
        scanInterval: 96, scanWindow: 96, peer: Self.peer, ownAddressType: 0,
        parameters: ConnectionParameters(intervalMin: 12, intervalMax: 24, latency: 0, supervisionTimeout: 400)
      ).encoded, .hostToController)
    raw(Event.commandStatus(.init(status: .success, opcode: LECreateConnection.opcode)).encoded, .controllerToHost)
    raw(
      Event.leConnectionComplete(
        .init(status: .success, handle: handle, peer: Self.peer, interval: 12, latency: 0, supervisionTimeout: 400)
      ).encoded, .controllerToHost)
  }

  mutating func att(_ pdu: [UInt8], _ direction: Direction, handle: ConnectionHandle = 0x40, length: Int = 251) {
    let first: ACLData.Boundary = direction == .hostToController ? .firstNonFlushable : .firstFlushable
    for data in L2CAPFrame(channel: .att, payload: pdu).fragments(handle: handle, length: length, first: first) {
      raw(data.encoded, direction)
    }
  }

  mutating func ask(_ request: [UInt8], _ response: [UInt8], length: Int = 251) {
    att(request, .hostToController)
    att(response, .controllerToHost, length: length)
  }
}
