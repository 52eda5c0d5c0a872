import TestSupport

/// Several consumers of one client's values.
@Suite(.timeLimit(.minutes(15))) struct SharedSubscriptionTests {
  @LoopActor
  private static func client(delay: Duration = .zero, _ answer: @escaping ([UInt8]) -> [UInt8]? = { $0.first == 0x12 ? [0x13] : nil }) -> (
    Client, ScriptedPeer
  ) {
    let (near, far) = MemoryChannel.pair()
    far.delay = delay
    let peer = ScriptedPeer(far, fallback: answer)
    return (Client(near), peer)
  }

  /// The first subscription writes once, the second writes nothing, and the last to end writes once.
  @Test(.onLoop) @LoopActor func twoSubscriptionsShareOneConfiguration() async throws {
    let (client, peer) = Self.client(delay: .milliseconds(20))
    let item = ClientProcedureTests.notifying
    // Both start together: the second waits for the first one's write.
    let tasks = (0..<2).map { _ in EventLoop.shared.spawn { try? await client.subscribe(item) } }
    let first = try #require(await tasks[0].value)
    let second = try #require(await tasks[1].value)
    #expect(peer.received == [[0x12, 0x13, 0, 1, 0]])
    peer.push([0x1B, 0x12, 0, 7])
    #expect(try await first.next().value == [7])
    #expect(try await second.next().value == [7])
    try await first.cancel()
    #expect(peer.received.count == 1)
    peer.push([0x1B, 0x12, 0, 8])
    #expect(try await second.next().value == [8])
    try await second.cancel()
    #expect(peer.received == [[0x12, 0x13, 0, 1, 0], [0x12, 0x13, 0, 0, 0]])
    client.close()
  }

  /// One subscription for notifications and one for indications both take effect.
  @Test(.onLoop) @LoopActor func kindsAreCombined() async throws {
    let (client, peer) = Self.client()
    let item = ClientProcedureTests.notifying
    let first = try await client.subscribe(item, kind: .notification)
    let second = try await client.subscribe(item, kind: .indication)
    try await first.cancel()
    try await second.cancel()
    #expect(peer.received.map { $0[3] } == [1, 3, 2, 0])
    client.close()
  }

  /// Without a chosen kind, indications follow a refused 0100. If they are refused too, the first refusal counts.
  @Test(.onLoop) @LoopActor func indicationsAfterARefusal() async throws {
    let (client, peer) = Self.client()
    let item = ClientProcedureTests.notifying
    var notes: [ClientNote] = []
    client.onNote = { notes.append($0) }
    let refusal = ScriptedPeer.Rule([0x12, 0x13, 0, 1], [.pdu([0x01, 0x12, 0x13, 0, 0xFD])], times: nil)
    peer.rules = [refusal]
    try await client.subscribe(item).cancel()
    #expect(peer.received.map { $0[3] } == [1, 2, 0] && notes == [.indicationsInstead(item, ErrorCode(rawValue: 0xFD))])
    peer.rules = [refusal, ScriptedPeer.Rule([0x12, 0x13, 0, 2], [.pdu([0x01, 0x12, 0x13, 0, 0x11])])]
    let error = await #expect(throws: GATTError.self) { _ = try await client.subscribe(item) }
    if case .errorResponse(let code, _, _)? = error {
      #expect(code.rawValue == 0xFD)
    } else {
      Issue.record("\(String(describing: error))")
    }
    await #expect(throws: GATTError.self) { _ = try await client.subscribe(item, kind: .notification) }
    #expect(peer.received.count == 6 && notes.count == 1)
    client.close()
  }

  /// The user chose indications: subscriptions without a choice do not need notifications as well.
  @Test(.onLoop) @LoopActor func aChosenKindSuffices() async throws {
    let (client, peer) = Self.client()
    let item = ClientProcedureTests.notifying
    let first = try await client.subscribe(item)
    let chosen = try await client.subscribe(item, kind: .indication)
    try await chosen.cancel()
    try await first.cancel()
    #expect(peer.received.map { $0[3] } == [1, 2, 1, 0])
    client.close()
  }

  /// No subscription clears a bit that the user wrote to the descriptor.
  @Test(.onLoop) @LoopActor func aConfigurationWrittenByHand() async throws {
    let (client, peer) = Self.client()
    let item = ClientProcedureTests.notifying
    func write(_ byte: UInt8) async throws {
      let plan = try WriteProcedure(value: 2, properties: nil, mtu: 23, mode: .request)
      try await client.write([byte, 0], to: 0x13, plan: plan)
    }
    let before = try await client.subscribe(item)
    try await write(2)
    try await client.subscribe(item).cancel()
    try await before.cancel()
    #expect(peer.received.map { $0[3] } == [1, 2])
    let chosen = try await client.subscribe(item, kind: .notification)
    try await chosen.cancel()
    #expect(peer.received.map { $0[3] } == [1, 2, 3, 2])
    try await write(0)
    try await client.subscribe(item).cancel()
    #expect(peer.received.map { $0[3] } == [1, 2, 3, 2, 0, 1, 0])
    client.close()
  }

  /// If the first subscription is refused, the second asks the peer itself and gets its own answer.
  @Test(.onLoop) @LoopActor func aRefusalIsNotShared() async throws {
    let (client, peer) = Self.client(delay: .milliseconds(20))
    peer.rules = [ScriptedPeer.Rule([0x12], [.pdu([0x01, 0x12, 0x13, 0, 0x05])])]
    let item = ClientProcedureTests.notifying
    let tasks = (0..<2).map { _ in EventLoop.shared.spawn { (try? await client.subscribe(item)) != nil } }
    #expect(await tasks[0].value == false)
    #expect(await tasks[1].value == true)
    #expect(peer.received.count == 2)
    client.close()
  }

  @Test(.onLoop) @LoopActor func aCancelledSubscriptionEndsAsCancelled() async throws {
    let (client, peer) = Self.client()
    let subscription = try await client.subscribe(ClientProcedureTests.notifying)
    peer.push([0x1B, 0x12, 0, 7])
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    let waiting = EventLoop.shared.spawn { () -> Bool in
      _ = try? await subscription.next()
      do { _ = try await subscription.next() } catch { return error is CancellationError }
      return false
    }
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    try await subscription.cancel()
    #expect(await waiting.value)
    #expect(client.closed == nil)
    client.close()
  }

  /// A cancelled subscription is switched off again, as the peer may have the write, unless another one needs it.
  @Test(.onLoop, arguments: [false, true]) @LoopActor func aSubscriptionThatIsGivenUpIsSwitchedOffAgain(_ isShared: Bool) async throws {
    let (client, peer) = Self.client(delay: .milliseconds(20))
    let item = ClientProcedureTests.notifying
    let task = EventLoop.shared.spawn { (try? await client.subscribe(item)) != nil }
    let other = isShared ? EventLoop.shared.spawn { (try? await client.subscribe(item)) != nil } : nil
    try await EventLoop.shared.sleep(for: .milliseconds(5))
    #expect(peer.received == [[0x12, 0x13, 0, 1, 0]])
    task.cancel()
    #expect(await task.value == false)
    #expect(await other?.value != false)
    #expect(peer.received.dropFirst() == [[0x12, 0x13, 0, isShared ? 1 : 0, 0]])
    #expect(client.isSubscribed(to: item) == isShared)
    client.close()
  }

  /// A silent peer delays the end of a subscription by at most a second.
  @Test(.onLoop) @LoopActor func givingUpHasALimit() async throws {
    let (client, peer) = Self.client { _ in nil }
    let task = EventLoop.shared.spawn { (try? await client.subscribe(ClientProcedureTests.notifying)) != nil }
    try await EventLoop.shared.sleep(for: .milliseconds(5))
    let begin = EventLoop.shared.now
    task.cancel()
    #expect(await task.value == false)
    #expect(begin.duration(to: EventLoop.shared.now) <= .seconds(1) && peer.received.count == 1)
    client.close()
  }

  /// A refused write changes nothing: a failed subscription is not undone, and a failed end is repeated later.
  @Test(.onLoop) @LoopActor func aRefusalChangesNothing() async throws {
    let (client, peer) = Self.client()
    let item = ClientProcedureTests.notifying
    let refusal = [ScriptedPeer.Rule([0x12], [.pdu([0x01, 0x12, 0x13, 0, 0x11])])]
    peer.rules = refusal
    await #expect(throws: GATTError.self) { _ = try await client.subscribe(item, kind: .notification) }
    #expect(peer.received.count == 1)
    let subscription = try await client.subscribe(item)
    peer.rules = refusal
    await #expect(throws: GATTError.self) { try await subscription.cancel() }
    try await subscription.cancel()
    try await subscription.cancel()
    #expect(peer.received.map { $0[3] } == [1, 1, 0, 0])
    client.close()
  }

  @Test(.onLoop) @LoopActor func observersComeAndGo() async throws {
    let (client, peer) = Self.client()
    var first: [UInt8] = []
    var second: [UInt8] = []
    let one = client.observeValues { first += $0.value }
    let other = client.observeValues { second += $0.value }
    peer.push([0x1B, 0x12, 0, 1])
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    one.cancel()
    one.cancel()
    peer.push([0x1D, 0x99, 0, 2])
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    #expect(first == [1] && second == [1, 2])
    other.cancel()
    client.close()
  }
}
