import TestSupport

/// Tests interval, PHY and data length, requested by either side, and the other channels of a link.
@Suite(.timeLimit(.minutes(15))) struct LinkProcedureTests {
  @Test(.onLoop) @LoopActor func tuning() async throws {
    let controller = ScriptedController()
    controller.supported = ScriptedController.extended
    controller.features = [.dataLengthExtension, .phy2M]
    let (_, _, link) = try await linked(controller)
    #expect(try await link.requestInterval(.microseconds(7500)).interval == .microseconds(7500))
    #expect(
      controller.commands.last
        == LEConnectionUpdate(
          handle: 0x40, ConnectionParameters(intervalMin: 6, intervalMax: 6, latency: 0, supervisionTimeout: 400)))
    #expect(try await link.requestInterval(.seconds(4)).supervisionTimeout == .seconds(24))
    #expect(try await link.requestPHY(.le2M).phy == .le2M)
    #expect(try await link.requestDataLength(100).maxTxOctets == 100)
    #expect(controller.commands.last == LESetDataLength(handle: 0x40, txOctets: 100, txTime: 912))
    await #expect(throws: GAPError.intervalOutOfRange(.seconds(5))) { _ = try await link.requestInterval(.seconds(5)) }
    await #expect(throws: GAPError.dataLengthOutOfRange(26)) { _ = try await link.requestDataLength(26) }
    // A peer that allows no more causes neither an event nor an error. Agreed values are not requested again.
    controller.rules[LESetDataLength.opcode] = { controller.complete($0, HandleReturned(0x40)) }
    #expect(try await link.requestDataLength(251).maxTxOctets == 100)
    let asked = controller.count(LESetDataLength.opcode)
    #expect(try await duration { _ = try await link.requestDataLength(100) } == .zero)
    #expect(controller.count(LESetDataLength.opcode) == asked)
  }

  @Test(.onLoop, arguments: LinkRequestCase.all) @LoopActor func theTableOfRequests(_ row: LinkRequestCase) async throws {
    let controller = ScriptedController()
    controller.supported = ScriptedController.legacy.filter { $0 != LEReadPHY.opcode } + row.supported
    controller.features = .dataLengthExtension
    // The link keeps its initial parameters until a request.
    controller.rules[LESetDataLength.opcode] = { controller.complete($0, HandleReturned(0x40)) }
    let central = HostCentral(controller, name: LinkRequestCase.adapter)
    try await central.start()
    let link = try await central.connect(LinkRequestCase.peer, timeout: .seconds(5))
    try await settle()
    for opcode in row.supported { controller.rules[opcode] = { row.answer(to: $0) } }
    await row.check(on: link) { controller.commands }
  }

  @Test(.onLoop) @LoopActor func refusedTuningIsAClearError() async throws {
    let controller = ScriptedController()
    let (_, _, old) = try await linked(controller)
    await #expect(throws: GAPError.unsupported(adapter: "tcp:test", .phy(.le2M))) { _ = try await old.requestPHY(.le2M) }
    await #expect(throws: GAPError.unsupported(adapter: "tcp:test", .dataLength(251))) { _ = try await old.requestDataLength(251) }
    controller.rules[LEConnectionUpdate.opcode] = { controller.status($0, .unsupportedRemoteFeature) }
    let refused = await failure { _ = try await old.requestInterval(.milliseconds(30)) }
    #expect(refused as? ControllerError == ControllerError("tcp:test", .refused(LEConnectionUpdate.opcode, .unsupportedRemoteFeature)))
    controller.rules[LEConnectionUpdate.opcode] = {
      controller.status($0) + [
        .leConnectionUpdateComplete(
          status: .unacceptableParameters, handle: 0x40, interval: 0, latency: 0, supervisionTimeout: 0)
      ]
    }
    let wish = LinkProcedure.connectionInterval(.milliseconds(30))
    await #expect(throws: GAPError.notAgreed(lock, wish, .unacceptableParameters)) {
      _ = try await old.requestInterval(.milliseconds(30))
    }
    controller.rules[LEConnectionUpdate.opcode] = { controller.status($0) }
    await #expect(throws: GAPError.noAnswer(lock, wish)) { _ = try await old.requestInterval(.milliseconds(30)) }
    // Bumble answers unknown commands with one byte only.
    controller.rules[ReadRSSI.opcode] = { controller.complete($0, failed: .unknownCommand) }
    #expect(try await old.parameters().rssi == nil)
  }

  @Test func signallingAndPairingAreAnswered() async throws {
    let unknown = try BadInputs.packets("T26")
    let pairing = try BadInputs.packets("T28")
    try await onLoop(with: try await linked()) { _, controller, _ in
      for bytes in unknown + pairing { controller.emit(bytes) }
      try await settle()
      #expect(
        controller.frames == [
          L2CAPFrame(channel: 5, payload: [1, 1, 2, 0, 0, 0]),
          // The Security Request waits for a handler. A peripheral may not send a Pairing Request: Command Not Supported.
          L2CAPFrame(channel: 6, payload: [5, 7]),
        ])
      // Neither side answers an answer.
      controller.frame(6, [5, 5])
      controller.frame(5, [1, 1, 2, 0, 0, 0])
      controller.frame(6, [])
      try await settle()
      #expect(controller.frames.count == 2)
      controller.frame(5, [0x12, 7, 8, 0, 6, 0, 24, 0, 0, 0, 0x90, 1])
      try await settle()
      #expect(controller.frames.last == L2CAPFrame(channel: 5, payload: [0x13, 7, 2, 0, 0, 0]))
      #expect(
        controller.commands.last
          == LEConnectionUpdate(
            handle: 0x40, ConnectionParameters(intervalMin: 6, intervalMax: 24, latency: 0, supervisionTimeout: 400)))
    }
  }

  @Test(.onLoop) @LoopActor func aFloodOfQuestionsIsBounded() async throws {
    let (_, controller, _) = try await linked()
    controller.completesPackets = false
    controller.rules[LEConnectionUpdate.opcode] = { _ in nil }
    for _ in 0..<1000 {
      controller.frame(5, [0x12, 7, 8, 0, 6, 0, 24, 0, 0, 0, 0x90, 1])
      controller.frame(6, [1])
      controller.emit(
        .leRemoteConnectionParameterRequest(handle: 0x40, intervalMin: 6, intervalMax: 6, latency: 0, supervisionTimeout: 400))
    }
    try await settle()
    controller.completesPackets = true
    controller.complete(0x40, 4)
    try await EventLoop.shared.sleep(for: .seconds(30))
    #expect(controller.data.count <= 70)
    #expect(controller.count(LERemoteConnectionParameterRequestReply.opcode) <= 40)
  }

  @Test(.onLoop) @LoopActor func parameterRequestsOfTheLinkLayer() async throws {
    let (_, controller, _) = try await linked()
    controller.emit(
      .leRemoteConnectionParameterRequest(handle: 0x40, intervalMin: 6, intervalMax: 9, latency: 1, supervisionTimeout: 100))
    controller.emit(
      .leRemoteConnectionParameterRequest(handle: 0x40, intervalMin: 1, intervalMax: 9, latency: 1, supervisionTimeout: 100))
    controller.emit(
      .leRemoteConnectionParameterRequest(handle: 0x77, intervalMin: 6, intervalMax: 9, latency: 1, supervisionTimeout: 100))
    try await settle()
    #expect(
      Array(controller.commands.suffix(2)) == [
        LERemoteConnectionParameterRequestReply(
          handle: 0x40, ConnectionParameters(intervalMin: 6, intervalMax: 9, latency: 1, supervisionTimeout: 100)),
        LERemoteConnectionParameterRequestNegativeReply(handle: 0x40, reason: .unacceptableParameters),
      ])
  }

  @Test(.onLoop) @LoopActor func aPeerDoesNotUndoTheIntervalThatWasAskedFor() async throws {
    let (_, controller, link) = try await linked()
    _ = try await link.requestInterval(.microseconds(7500))
    let before = controller.count(LEConnectionUpdate.opcode)
    // 30–50 ms: no. 7.5–30 ms with latency 4: yes, but at 7.5 ms.
    controller.frame(5, [0x12, 7, 8, 0, 24, 0, 40, 0, 0, 0, 0x90, 1])
    try await settle()
    #expect(controller.frames.last == L2CAPFrame(channel: 5, payload: [0x13, 7, 2, 0, 1, 0]))
    #expect(controller.count(LEConnectionUpdate.opcode) == before)
    controller.frame(5, [0x12, 8, 8, 0, 6, 0, 24, 0, 4, 0, 0x90, 1])
    try await settle()
    #expect(controller.frames.last == L2CAPFrame(channel: 5, payload: [0x13, 8, 2, 0, 0, 0]))
    #expect(
      controller.commands.last
        == LEConnectionUpdate(
          handle: 0x40, ConnectionParameters(intervalMin: 6, intervalMax: 6, latency: 4, supervisionTimeout: 400)))
    controller.emit(
      .leRemoteConnectionParameterRequest(handle: 0x40, intervalMin: 24, intervalMax: 40, latency: 0, supervisionTimeout: 400))
    try await settle()
    #expect(
      controller.commands.last
        == LERemoteConnectionParameterRequestNegativeReply(handle: 0x40, reason: .unacceptableParameters))
  }
}
