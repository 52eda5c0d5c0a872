import TestSupport

@Suite(.timeLimit(.minutes(15))) struct LinkTests {
  @Test(.onLoop) @LoopActor func pdusAreFragmentedAndJoined() async throws {
    let (_, controller, link) = try await linked()
    var received: [[UInt8]] = []
    link.channel.handler = { if case .received(let pdu) = $0 { received.append(pdu) } }
    let long = (0..<517).map { UInt8(truncatingIfNeeded: $0) }
    link.channel.send(long)
    link.channel.send([0x0A, 3, 0])
    controller.frame(4, long)
    controller.frame(4, [])
    controller.frame(0x40, [1, 2, 3])
    try await settle()
    #expect(controller.data.allSatisfy { $0.payload.count <= 27 })
    #expect(controller.frames == [L2CAPFrame(channel: 4, payload: long), L2CAPFrame(channel: 4, payload: [0x0A, 3, 0])])
    #expect(received == [long, []])
  }

  @Test(.onLoop) @LoopActor func whoWaitsToWriteLearnsWhyTheLinkEnded() async throws {
    let (_, controller, link) = try await linked()
    controller.completesPackets = false
    // A bearer closes its channel as soon as the link ends.
    let bearer = Bearer(link.channel)
    bearer.start()
    let writer = EventLoop.shared.spawn {
      await failure {
        while true {
          try await bearer.waitUntilWritable()
          bearer.send(.write(3, value: [1]))
        }
      }
    }
    try await settle()
    controller.emit(.disconnectionComplete(status: .success, handle: 0x40, reason: .connectionTimeout))
    let error = await writer.value
    #expect(error as? Disconnection == Disconnection(lock, .lost(.connectionTimeout)))
  }

  @Test(.onLoop) @LoopActor func aPeerThatAsksAndNeverListensDoesNotFillTheMemory() async throws {
    let (_, controller, link) = try await linked()
    controller.completesPackets = false
    let bearer = Bearer(link.channel)
    bearer.start()
    for _ in 0..<1000 {
      controller.frame(4, [0x0A, 3, 0])
      controller.frame(4, [0x1D, 3, 0, 7])
    }
    try await settle()
    #expect(link.channel.unacknowledged == Bearer.answerLimit)
    #expect(bearer.faults.unanswered == 2000 - Bearer.answerLimit)
    bearer.close()
  }

  @Test(.onLoop) @LoopActor func acknowledgementsMayBeSlowButNotAbsent() async throws {
    let (_, controller, link) = try await linked()
    controller.completesPackets = false
    let bearer = Bearer(link.channel, timeout: .seconds(2))
    for _ in 0..<5 { bearer.send(.write(3, value: [1])) }
    for number in 1...4 { EventLoop.shared.schedule(after: .milliseconds(1500 * number)) { controller.complete(0x40, 1) } }
    try await bearer.waitUntilUnacknowledged(below: 2)
    #expect(bearer.unacknowledged == 1)
    await #expect(throws: ATTError.nothingGotThrough(for: .seconds(2))) {
      try await withDeadline(EventLoop.shared.now.advanced(by: .seconds(100))) {
        try await bearer.waitUntilUnacknowledged(below: 1)
      }
    }
    bearer.close()
  }

  /// A response ends the wait for the request's acknowledgement, even if a credit event is lost.
  @Test(.onLoop) @LoopActor func aLostCreditEventKeepsNobodyWaiting() async throws {
    let (_, controller, link) = try await linked()
    let bearer = Bearer(link.channel, timeout: .seconds(2))
    for isLost in [false, true] {
      controller.completesPackets = !isLost
      bearer.send(.write(3, value: [1]))
      let open = try bearer.begin(.read(3))
      bearer.timeAcknowledgement(of: open)
      let window = EventLoop.shared.spawn { await failure { try await bearer.waitUntilUnacknowledged(below: 1) } }
      try await settle()
      controller.frame(4, [0x0B, 7])
      #expect(try await bearer.answer(to: open) == .read([7]))
      #expect((bearer.acknowledgement(of: open) == nil) == isLost)
      #expect(await window.value == nil && bearer.unacknowledged == 0)
    }
    // This does not free the controller's buffers: two of four are free.
    #expect(controller.data.count == 4)
    for _ in 0..<4 { bearer.send(.write(3, value: [1])) }
    #expect(controller.data.count == 6)
    bearer.close()
  }

  /// After Data Buffer Overflow, later data would arrive without the lost part, so the link ends.
  @Test(.onLoop) @LoopActor func whatTheControllerDropsEndsTheLink() async throws {
    let (central, controller, link) = try await linked()
    let idle = try await central.connect(PeerAddress(Address(rawValue: 4), .public), timeout: .seconds(5))
    controller.completesPackets = false
    let bearer = Bearer(link.channel)
    for _ in 0..<6 { bearer.send(.write(3, value: [1])) }
    #expect(controller.data.count == 3)
    controller.emit(.other(code: 0x1A, [1]))
    controller.complete(0x40, 1)
    let error = await failure { while true { try await bearer.waitUntilUnacknowledged(below: 1) } }
    #expect(error as? ControllerError == ControllerError("tcp:test", .overflow))
    try await EventLoop.shared.sleep(for: .seconds(2))
    #expect(controller.data.count == 3, "what waited is not sent")
    #expect(controller.count(Disconnect.opcode) == 1 && central.openLinks.map(\.peer) == [idle.peer])
    await central.close()
  }

  @Test(.onLoop) @LoopActor func writersWaitForCredits() async throws {
    let (_, controller, link) = try await linked()
    controller.completesPackets = false
    var sent = 0
    let writer = EventLoop.shared.spawn {
      await failure {
        for _ in 0..<100 {
          try await link.channel.waitUntilWritable()
          link.channel.send([UInt8](repeating: 1, count: 20))
          sent += 1
        }
      }
    }
    try await settle()
    // Four packets are in the controller, eight here.
    #expect(controller.data.count == 4)
    #expect(sent == 12)
    controller.complete(0x40, 2)
    try await settle()
    #expect(controller.data.count == 6)
    #expect(sent == 14)
    // T13: invalid counts free nothing.
    for bytes in try BadInputs.packets("T13").prefix(2) { controller.emit(bytes) }
    try await settle()
    #expect(controller.data.count == 6)
    controller.completesPackets = true
    controller.complete(0x40, 0xFFFF)
    #expect(await writer.value == nil)
    try await settle()
    #expect(controller.frames.count == 100)
  }

  @Test(.onLoop) @LoopActor func aWindowCountsPDUsNotFragments() async throws {
    let (_, controller, link) = try await linked()
    controller.completesPackets = false
    let bearer = Bearer(link.channel)
    var sent = 0
    let writer = EventLoop.shared.spawn {
      await failure {
        while true {
          try await bearer.waitUntilUnacknowledged(below: 2)
          // 67 bytes of L2CAP make three fragments of 27.
          bearer.send(.write(3, value: [UInt8](repeating: 1, count: 60)))
          sent += 1
        }
      }
    }
    try await settle()
    #expect(sent == 2)
    #expect(link.channel.unacknowledged == 2)
    controller.complete(0x40, 2)
    try await settle()
    #expect(sent == 2, "two of the first one's three fragments are through")
    controller.complete(0x40, 1)
    try await settle()
    #expect(sent == 3)
    await link.disconnect()
    let end = await writer.value as? Disconnection
    #expect(end == Disconnection(lock, .endedHere(.terminatedByLocalHost)))
  }

  @Test(.onLoop) @LoopActor func aLostLinkEndsWritersAndReturnsCredits() async throws {
    let (central, controller, link) = try await linked()
    let other = try await central.connect(PeerAddress(Address(rawValue: 4), .public), timeout: .seconds(5))
    controller.completesPackets = false
    var closed: (any Error)?
    link.channel.handler = { if case .closed(let error) = $0 { closed = error } }
    let writer = EventLoop.shared.spawn {
      await failure {
        while true {
          try await link.channel.waitUntilWritable()
          link.channel.send([UInt8](repeating: 1, count: 20))
        }
      }
    }
    try await settle()
    #expect(controller.data.count == 3)
    controller.emit(.disconnectionComplete(status: .success, handle: 0x40, reason: .connectionTimeout))
    let lost = Disconnection(lock, .lost(.connectionTimeout))
    let error = await writer.value as? Disconnection
    #expect(error == lost)
    #expect(closed as? Disconnection == lost)
    // All four buffers now belong to the other link.
    for _ in 0..<6 { other.channel.send([7]) }
    try await settle()
    #expect(controller.data.suffix(4).allSatisfy { $0.handle == 0x41 })
    #expect(controller.data.count == 7)
    link.channel.send([1])
    let late = await failure { try await link.channel.waitUntilWritable() } as? Disconnection
    #expect(late == lost)
    await link.disconnect()
  }

  @Test(.onLoop) @LoopActor func disconnectLetsDataOutFirst() async throws {
    let (_, controller, link) = try await linked()
    link.channel.handler = { _ in }
    link.channel.send([UInt8](repeating: 1, count: 500))
    await link.disconnect()
    #expect(controller.frames.count == 1)
    #expect(controller.commands.last == Disconnect(handle: 0x40, reason: .remoteUserTerminated))
  }

  @Test(.onLoop) @LoopActor func disconnectEndsWhateverTheControllerDoes() async throws {
    // Stuck data, no confirmation, a refusal.
    for mode in 0..<3 {
      let (central, controller, link) = try await linked()
      var closed: (any Error)?
      link.channel.handler = { if case .closed(let error) = $0 { closed = error } }
      switch mode {
      case 0:
        controller.completesPackets = false
        link.channel.send([1])
      case 1: controller.rules[Disconnect.opcode] = { controller.status($0) }
      default: controller.rules[Disconnect.opcode] = { controller.status($0, .unknownConnectionIdentifier) }
      }
      let task = EventLoop.shared.spawn { await link.disconnect() }
      task.cancel()
      let time = await duration {
        await link.disconnect()
        await task.value
      }
      #expect(time < .seconds(4), "\(mode)")
      #expect(closed != nil, "\(mode)")
      #expect(central.openLinks.isEmpty)
    }
  }

  @Test(.onLoop) @LoopActor func closeIsLimited() async throws {
    let (central, controller, link) = try await linked()
    _ = try await central.connect(PeerAddress(Address(rawValue: 4), .public), timeout: .seconds(5))
    controller.rules[Disconnect.opcode] = { _ in nil }
    var closed: (any Error)?
    link.channel.handler = { if case .closed(let error) = $0 { closed = error } }
    let time = await duration { await central.close() }
    #expect(time < .milliseconds(2500))
    #expect(closed as? Disconnection == Disconnection(lock, .endedHere(nil)))
    #expect(controller.isClosed)
    await central.close()
    let (ready, second, _) = try await linked()
    let quick = await duration { await ready.close() }
    #expect(quick < .milliseconds(100))
    #expect(second.count(Disconnect.opcode) == 1)
  }

  @Test func badFragmentsDoNotStopTheLink() async throws {
    let bad = try ["T18", "T20", "T22", "T24"].flatMap { try BadInputs.packets($0) }
    try await onLoop(with: try await linked()) { _, controller, link in
      var received: [Int] = []
      link.channel.handler = { if case .received(let pdu) = $0 { received.append(pdu.count) } }
      for bytes in bad { controller.emit(bytes) }
      controller.frame(4, [0x13])
      try await settle()
      #expect(received == [512, 1])
    }
  }

  @Test(.onLoop) @LoopActor func aDeadControllerEndsAllLinks() async throws {
    let (central, controller, link) = try await linked()
    let other = try await central.connect(PeerAddress(Address(rawValue: 4), .public), timeout: .seconds(5))
    let dead = ControllerError("tcp:test", .hardware(0x42))
    var ends: [ControllerError] = []
    for one in [link, other] { one.channel.handler = { if case .closed(let error as ControllerError) = $0 { ends.append(error) } } }
    let waiting = EventLoop.shared.spawn { await failure { _ = try await central.connect(absent, timeout: .seconds(60)) } }
    try await settle()
    controller.emit(.hardwareError(0x42))
    try await settle()
    #expect(ends == [dead, dead])
    let failures = [
      await waiting.value, await failure { _ = try await link.parameters() },
      await failure { _ = try await link.requestInterval(.milliseconds(30)) },
    ]
    #expect(failures.map { $0 as? ControllerError } == [dead, dead, dead])
    await link.disconnect()
    await central.close()
  }

  @Test(.onLoop) @LoopActor func whatComesBeforeTheHandlerIsKeptWithinReason() async throws {
    let (_, controller, link) = try await linked()
    for number in 0..<400 { controller.frame(4, [0x1B, UInt8(truncatingIfNeeded: number)]) }
    try await settle()
    var received = 0
    var dropped = 0
    link.channel.handler = {
      switch $0 {
      case .received: received += 1
      case .dropped(let count): dropped += count
      case .exhausted, .closed: break
      }
    }
    #expect(received == 256)
    #expect(dropped == 144)
    link.channel.close()
    controller.frame(4, [0x1B])
    try await settle()
    #expect(received == 256)
    #expect(try await link.parameters().interval != nil)
  }
}
