import TestSupport

@testable import BluetoothLE

/// Tests segmented writes and subscriptions, and how they end.
@Suite(.timeLimit(.minutes(15))) struct ClientTransferTests {
  @Test(.onLoop) @LoopActor func commandsWaitForTheChannel() async throws {
    let (near, far) = MemoryChannel.pair()
    let peer = ScriptedPeer(far)
    let client = Client(near)
    near.isWritable = false
    let plan = try WriteProcedure(value: 50, properties: nil, mtu: 23, mode: .command)
    var progress: [Int] = []
    let task = EventLoop.shared.spawn {
      do { try await client.write([UInt8](repeating: 1, count: 50), to: 0x10, plan: plan) { progress.append($0.sent) } } catch {
        Issue.record(error)
      }
    }
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(peer.received.isEmpty && progress.isEmpty && near.blockedWriters == 1, "nothing may pile up in this process")
    near.isWritable = true
    await task.value
    #expect(progress == [20, 40, 50])
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    #expect(peer.received.map(\.count) == [23, 23, 13])
    client.close()
  }

  /// Resuming a complete transfer writes nothing, not even an empty value.
  @Test(arguments: [(0, [[0x52, 0x10, 0]]), (3, [])] as [(Int, [[UInt8]])]) func nothingIsLeft(_ count: Int, _ sent: [[UInt8]]) async throws
  {
    try await onLoop(with: MemoryChannel.pair()) { near, far in
      let peer = ScriptedPeer(far)
      let client = Client(near)
      let bytes = ByteArray([UInt8](repeating: 1, count: count))
      let transfer = Transfer(client, to: 0x10, mode: .command, segment: 20, pacing: WritePacing(), bytes, from: count)
      try await transfer.run()
      try await EventLoop.shared.sleep(for: .milliseconds(1))
      #expect(peer.received == sent)
      client.close()
    }
  }

  /// Ctrl-C takes effect even while the channel accepts everything immediately.
  @Test(.onLoop) @LoopActor func aFastChannelLeavesTheLoopItsTurns() async throws {
    let (near, far) = MemoryChannel.pair()
    let peer = ScriptedPeer(far)
    let client = Client(near)
    let plan = try WriteProcedure(value: 100_000, properties: nil, mtu: 23, mode: .command)
    var done = 0
    let task = EventLoop.shared.spawn { () -> Bool in
      do { try await client.write([UInt8](repeating: 1, count: 100_000), to: 0x10, plan: plan) { done = $0.sent } } catch {
        return error is CancellationError
      }
      return false
    }
    EventLoop.shared.schedule(after: .zero) { task.cancel() }
    #expect(await task.value)
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    #expect(done > 0 && done <= 4096 * 20, "more commands than a turn has steps")
    #expect(peer.received.map(\.count).reduce(0) { $0 + $1 - 3 } == done, "what is told to be handed over was")
    client.close()
  }

  @Test(.onLoop) @LoopActor func gapsAreKept() async throws {
    let (near, far) = MemoryChannel.pair()
    let peer = ScriptedPeer(far) { _ in [0x13] }
    let client = Client(near)
    let start = EventLoop.shared.now
    try await client.write(
      [UInt8](repeating: 1, count: 6), to: 0x10, plan: WriteProcedure(value: 6, properties: nil, mtu: 23, mode: .request, chunk: 2),
      pacing: WritePacing(gap: .milliseconds(100)))
    #expect(start.duration(to: EventLoop.shared.now) >= .milliseconds(200))
    #expect(peer.received.count == 3)
    client.close()
  }

  @Test(.onLoop, arguments: [WriteMode.request, .command]) @LoopActor func linkLossLeavesTheProgressTold(_ mode: WriteMode) async throws {
    let (near, far) = MemoryChannel.pair()
    var count = 0
    let peer = ScriptedPeer(far) { pdu in
      count += 1
      if count == 3 { far.lose(LinkLost("connection timeout")) }
      return pdu.first == 0x12 ? [0x13] : nil
    }
    defer { withExtendedLifetime(peer) {} }
    let client = Client(near)
    var last = WriteProgress()
    let plan = try WriteProcedure(value: 100, properties: nil, mtu: 23, mode: mode, chunk: 20)
    await #expect(throws: LinkLost("connection timeout")) {
      try await client.write([UInt8](repeating: 1, count: 100), to: 0x10, plan: plan, pacing: WritePacing(gap: .milliseconds(5))) {
        last = $0
      }
    }
    #expect(last == (mode == .request ? WriteProgress(sent: 40, confirmed: 40) : WriteProgress(sent: 60)))
  }

  /// A request after the commands proves their arrival while others are sent.
  @Test(.onLoop, arguments: [(nil, 1), (2, 2), (1, 4)] as [(Int?, Int)])
  @LoopActor func arrivalIsProven(_ row: (every: Int?, requests: Int)) async throws {
    let (near, far) = MemoryChannel.pair()
    let peer = ScriptedPeer(far) { $0.first == 0x04 ? [0x01, 0x04, 0x10, 0x00, 0x0A] : nil }
    let client = Client(near)
    var pacing = WritePacing(gap: .milliseconds(5))
    pacing.provesArrival = true
    pacing.provesEvery = row.every
    var steps: [WriteProgress] = []
    try await client.write(
      [UInt8](repeating: 1, count: 80), to: 0x10, plan: WriteProcedure(value: 80, properties: nil, mtu: 23, mode: .command), pacing: pacing
    ) { steps.append($0) }
    #expect(steps.map(\.sent) == [20, 40, 60, 80, 80])
    #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.confirmed <= $1.confirmed && $1.confirmed <= $1.sent })
    #expect(steps.last == WriteProgress(sent: 80, confirmed: 80))
    #expect(peer.received.filter { $0.first == 0x04 }.count == row.requests)
    client.close()
  }

  /// Ctrl-C during a long write cancels the prepared parts on the peer, although the task is cancelled.
  @Test(.onLoop) @LoopActor func aCancelledLongWriteIsCancelledOnThePeer() async throws {
    let (near, far) = MemoryChannel.pair()
    far.delay = .milliseconds(50)
    let peer = ScriptedPeer(far) { pdu in [pdu[0] + 1] + (pdu[0] == 0x16 ? pdu.dropFirst() : []) }
    let client = Client(near)
    let plan = try WriteProcedure(value: 200, properties: nil, mtu: 23, mode: .long)
    let task = EventLoop.shared.spawn { () -> Bool in
      do { try await client.write([UInt8](repeating: 1, count: 200), to: 0x10, plan: plan) } catch { return error is CancellationError }
      return false
    }
    try await EventLoop.shared.sleep(for: .milliseconds(120))
    task.cancel()
    #expect(await task.value)
    #expect(peer.received.last == [0x18, 0x00])
    #expect(!peer.received.contains([0x18, 0x01]))
    #expect(client.bearer.isIdle)
    client.close()
  }

  @Test(.onLoop) @LoopActor func aDeadPeerDoesNotHoldTheCancellation() async throws {
    let (near, far) = MemoryChannel.pair()
    let peer = ScriptedPeer(far)
    let client = Client(near)
    let plan = try WriteProcedure(value: 20, properties: nil, mtu: 23, mode: .reliable)
    let task = EventLoop.shared.spawn {
      do { try await client.write([UInt8](repeating: 1, count: 20), to: 0x10, plan: plan) } catch {}
    }
    try await EventLoop.shared.sleep(for: .milliseconds(10))
    let start = EventLoop.shared.now
    task.cancel()
    await task.value
    #expect(start.duration(to: EventLoop.shared.now) <= .seconds(2))
    #expect(peer.received.count == 1)
    client.close()
  }

  @Test(.onLoop) @LoopActor func subscriptionsAreIndependentAndInOrder() async throws {
    let (near, far) = MemoryChannel.pair()
    let peer = ScriptedPeer(far) { pdu in pdu.first == 0x12 ? [0x13] : nil }
    let client = Client(near)
    var all: [AttributeHandle] = []
    let observer = client.observeValues { all.append($0.handle) }
    defer { observer.cancel() }
    var other = ClientProcedureTests.notifying
    (other.valueHandle, other.descriptors) = (0x22, [Descriptor(uuid: UUID(0x2902), handle: 0x23)])
    let first = try await client.subscribe(ClientProcedureTests.notifying)
    let twin = try await client.subscribe(ClientProcedureTests.notifying)
    let second = try await client.subscribe(other)
    for value in UInt8(0)..<10 {
      peer.push([0x1B, 0x12, 0, value])
      peer.push([0x1B, 0x22, 0, value + 100])
    }
    peer.push([0x1B, 0x99, 0, 1])
    for value in UInt8(0)..<10 {
      #expect(try await first.next().value == [value])
      #expect(try await second.next().value == [value + 100])
    }
    #expect(try await twin.next().value == [0])
    // Values of one consumer wait for the other consumer.
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    #expect(all.count == 21 && all.last == 0x99)
    // The peer continues while a consumer listens.
    let before = peer.received.count
    try await first.cancel()
    #expect(peer.received.count == before)
    try await first.cancel()
    try await twin.cancel()
    #expect(peer.received.last == [0x12, 0x13, 0, 0, 0])
    try await client.unsubscribeAll()
    #expect(peer.received.last == [0x12, 0x23, 0, 0, 0])
    client.close()
  }

  @Test(.onLoop) @LoopActor func whatCameBeforeTheEndIsGivenOut() async throws {
    let (near, far) = MemoryChannel.pair()
    let peer = ScriptedPeer(far) { pdu in pdu.first == 0x12 ? [0x13] : nil }
    let client = Client(near)
    let subscription = try await client.subscribe(ClientProcedureTests.notifying)
    let ended = EventLoop.shared.spawn { try? await client.untilClosed() as? LinkLost }
    peer.push([0x1B, 0x12, 0, 1])
    far.lose(LinkLost("gone"))
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    #expect(try await subscription.next().value == [1])
    await #expect(throws: LinkLost("gone")) { try await subscription.next() }
    #expect(await ended.value == LinkLost("gone"))
    #expect(try await client.untilClosed() as? LinkLost == LinkLost("gone"))
  }

  @Test(.onLoop) @LoopActor func aFloodIsBoundedAndCounted() async throws {
    let (near, far) = MemoryChannel.pair()
    let peer = ScriptedPeer(far) { pdu in pdu.first == 0x12 ? [0x13] : nil }
    let client = Client(near)
    let subscription = try await client.subscribe(ClientProcedureTests.notifying)
    for _ in 0..<20_000 { peer.push([0x1B, 0x12, 0, 1]) }
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    #expect(subscription.dropped == 20_000 - 16_384)
    client.close()
  }

  /// Errors contain the facts of their messages.
  @Test(arguments: [
    ("write", "0112160003"), ("read", "010a160002"), ("read", "010a16000f"), ("read", "010a160081"), ("read", "0bffffff"), ("read", "13ff"),
    ("read", ""),
  ]) func errorsCarryTheFacts(_ operation: String, _ answer: String) async throws {
    let bytes = Hex.decode(answer) ?? []
    let error = await onLoopError {
      let (near, far) = MemoryChannel.pair()
      var server = PlainServer([
        .init(handle: 0x14, type: UUID(0x2800), value: [0xE0, 0xFF]),
        .init(handle: 0x15, type: UUID(0x2803), value: [0x04, 0x16, 0x00, 0xE1, 0xFF]),
        .init(handle: 0x16, type: UUID(0xFFE1), value: []),
      ])
      let peer = ScriptedPeer(far) { server.answer($0) }
      let client = Client(near)
      _ = try await client.discover()
      peer.rules = [0x0A, 0x12].map { ScriptedPeer.Rule([$0], bytes.isEmpty ? [] : [.pdu(bytes)]) }
      if operation == "read" { _ = try await client.read(0x16) } else { try await client.writeRequest([1], to: 0x16) }
      client.close()
    }
    switch answer {
    case "": #expect(error as? ATTError == .noResponse(to: .read, handle: 0x16, within: .seconds(30)))
    case "0bffffff": #expect(error == nil)
    case "13ff":
      guard case ATTError.violation(let violation)? = error else {
        Issue.record("no violation")
        return
      }
      #expect(violation.opcode == .response(.write) && violation.bytes == bytes && violation.endsBearer)
    default:
      guard case GATTError.errorResponse(let code, to: let request, on: .characteristic(let item, let service)?)? = error else {
        Issue.record("no refusal")
        return
      }
      #expect(code.rawValue == bytes[4] && request == (operation == "read" ? .read(0x16) : .write(0x16, value: [1])))
      #expect(item.uuid == UUID(0xFFE1) && service.uuid == UUID(0xFFE0) && item.properties == .writeWithoutResponse)
    }
  }
}
