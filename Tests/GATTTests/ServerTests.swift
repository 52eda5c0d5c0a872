import TestSupport

/// Tests the server on its channel: notifications, indications, timeouts.
@Suite(.timeLimit(.minutes(15))) struct ServerTests {
  @LoopActor private struct Fixture {
    let channel = ServerTestChannel()
    let server: Server
    init(rxMTU: Int = 517) throws {
      server = Server(database: try ServerProcedureTests.database(), channel: channel, rxMTU: rxMTU)
      server.start()
    }
  }

  @Test(.onLoop) @LoopActor func notifiesOnlyWhatWasAskedForAndCutsAtTheMTU() async throws {
    let fixture = try Fixture()
    #expect(!fixture.server.notify(0x12, [1]))
    fixture.channel.deliver("1213000100")
    #expect(fixture.server.notify(0x12, [UInt8](repeating: 5, count: 100)))
    fixture.channel.deliver("022800")
    #expect(fixture.server.bearer.mtu == 40)
    fixture.server.notify(0x12, [UInt8](repeating: 6, count: 100))
    fixture.channel.deliver("1213000000")
    #expect(!fixture.server.notify(0x12, [1]))
    let five = String(repeating: "05", count: 20)
    let six = String(repeating: "06", count: 37)
    #expect(fixture.channel.take() == ["13", "1b1200" + five, "030502", "1b1200" + six, "13"])
    // Handle 3 is not a characteristic value, and FFFF is not an attribute.
    #expect(!fixture.server.notify(0x03, [1]) && !fixture.server.notify(0xFFFF, [1]))
  }

  @Test(.onLoop) @LoopActor func oneIndicationAtATime() async throws {
    let fixture = try Fixture()
    let refused = try await fixture.server.indicate(0x17, [0])
    #expect(!refused && fixture.channel.take().isEmpty)
    fixture.channel.deliver("1218000200")
    let tasks = (1...3).map { number in
      EventLoop.shared.spawn { try? await fixture.server.indicate(0x17, [UInt8(number)]) }
    }
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(fixture.channel.take() == ["13", "1d170001"])
    fixture.channel.deliver("0a0300")
    fixture.channel.deliver("1e")
    #expect(fixture.channel.take() == ["0b47617465", "1d170002"])
    fixture.channel.deliver("1e")
    fixture.channel.deliver("1e")
    fixture.channel.deliver("1e")
    #expect(fixture.channel.take() == ["1d170003"])
    for task in tasks { #expect(await task.value == true) }
    // The timer of a confirmed indication closes nothing.
    try await EventLoop.shared.sleep(for: .seconds(60))
    #expect(!fixture.channel.isClosed)
  }

  @Test(.onLoop) @LoopActor func indicationsThatAreNoLongerWantedAreDropped() async throws {
    let fixture = try Fixture()
    fixture.channel.deliver("1218000200")
    fixture.server.indicateWhenFree(0x17, [1])
    let second = EventLoop.shared.spawn { try? await fixture.server.indicate(0x17, [2]) }
    try await EventLoop.shared.sleep(for: .seconds(1))
    fixture.channel.deliver("1218000000")
    fixture.channel.deliver("1e")
    #expect(await second.value == false)
    #expect(fixture.channel.take() == ["13", "1d170001", "13"])
  }

  @Test(.onLoop) @LoopActor func silenceForThirtySecondsClosesTheBearer() async throws {
    let fixture = try Fixture()
    let reasons = Reasons()
    fixture.server.onClosed = { reasons.list.append(kind($0) ?? "") }
    fixture.channel.deliver("1218000200")
    let begin = EventLoop.shared.now
    let results = [1, 2].map { number in
      EventLoop.shared.spawn { () -> (any Error)? in
        do { _ = try await fixture.server.indicate(0x17, [UInt8(number)]) } catch { return error }
        return nil
      }
    }
    for result in results { #expect(kind(await result.value) == "timeout") }
    #expect(begin.duration(to: EventLoop.shared.now) == .seconds(30))
    #expect(fixture.channel.isClosed && reasons.list == ["timeout"])
    fixture.channel.deliver("0a0300")
    #expect(fixture.channel.take() == ["13", "1d170001"])
  }

  @Test(.onLoop) @LoopActor func aLostLinkEndsWhatWaits() async throws {
    let fixture = try Fixture()
    let reasons = Reasons()
    fixture.server.onClosed = { reasons.list.append(kind($0) ?? "") }
    fixture.channel.deliver("1218000200")
    let waiting = EventLoop.shared.spawn { () -> (any Error)? in
      do { _ = try await fixture.server.indicate(0x17, [1]) } catch { return error }
      return nil
    }
    try await EventLoop.shared.sleep(for: .seconds(1))
    fixture.channel.drop()
    #expect(kind(await waiting.value) == "link_lost")
    fixture.server.close()
    #expect(reasons.list == ["link_lost"])
    #expect(!fixture.server.notify(0x12, [1]))
    do {
      _ = try await fixture.server.indicate(0x17, [1])
      Issue.record("no error after the end")
    } catch { #expect(kind(error) == "link_lost") }
  }

  @Test(.onLoop) @LoopActor func theAnswerComesBeforeWhatTheWriteSetsOff() async throws {
    let fixture = try Fixture()
    fixture.server.onWrite = { [server = fixture.server] handle, value, kind in
      #expect(handle == 0x15 && kind == .request)
      server.notify(0x12, value)
    }
    let bits = Reasons()
    fixture.server.onSubscription = { handle, value in bits.numbers += [handle.rawValue, value] }
    fixture.channel.deliver("1213000100")
    fixture.channel.deliver("121500aabb")
    #expect(fixture.channel.take() == ["13", "13", "1b1200aabb"])
    #expect(bits.numbers == [0x12, 1])
  }

  @Test(.onLoop, arguments: [(0, 23), (22, 23), (23, 23), (247, 247), (517, 517), (9000, 517)])
  @LoopActor func ownMTUIsClamped(_ wanted: Int, _ own: Int) async throws {
    let fixture = try Fixture(rxMTU: wanted)
    fixture.channel.deliver("02ffff")
    #expect(fixture.server.bearer.mtu == own)
  }

  /// Hostile clients cause no trap. Each request gets one answer of at most ATT_MTU, other PDUs at most one.
  @Test func hostileClients() throws {
    let seeds = ServerProcedureTests.cases.flatMap { $0.1.map { bytes($0.0) } }
    var peer = ServerTestPeer(try ServerProcedureTests.database())
    var worst = 0
    var many = 0
    var unanswered = 0
    hostile(seeds) { pdu in
      let before = peer.state.mtu
      let outcome = peer.ask(pdu)
      worst = max(worst, (outcome.answers.first?.count ?? 0) - before)
      many = max(many, outcome.answers.count)
      let isRequest = pdu.first.map { $0 & 0x40 == 0 && ($0 % 2 == 0 || $0 > 0x23) && $0 != 0x1E } ?? false
      if isRequest, outcome.answers.isEmpty { unanswered += 1 }
      if peer.state.mtu > 23, pdu.count % 7 == 0 { peer = ServerTestPeer(peer.database) }
    }
    #expect(worst <= 0 && many <= 1 && unanswered == 0)
    #expect(peer.database.attributes.allSatisfy { $0.value.count <= $0.maximumLength })
  }

  @LoopActor private final class Reasons {
    var list: [String] = []
    var numbers: [UInt16] = []
  }
}
