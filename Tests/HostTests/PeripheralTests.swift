import TestSupport

@Suite(.timeLimit(.minutes(15))) struct PeripheralTests {
  /// The commands after the start of the host.
  @LoopActor private func commands(_ it: Centrals) -> [Opcode] { Array(it.controller.opcodes.drop { $0 != first(it) }) }

  @LoopActor private func first(_ it: Centrals) -> Opcode {
    it.isExtended ? LESetExtendedAdvertisingParameters.opcode : LESetAdvertisingParameters.opcode
  }

  private static let setUp = [
    true: [
      LESetExtendedAdvertisingParameters.opcode, LESetExtendedAdvertisingData.opcode, LESetExtendedScanResponseData.opcode,
      LESetExtendedAdvertisingEnable.opcode,
    ],
    false: [
      LESetAdvertisingParameters.opcode, LESetAdvertisingData.opcode, LESetScanResponseData.opcode, LESetAdvertisingEnable.opcode,
    ],
  ]
  private static let tearDown = [
    true: [LESetExtendedAdvertisingEnable.opcode, LERemoveAdvertisingSet.opcode], false: [LESetAdvertisingEnable.opcode],
  ]

  /// The controller stops at each connection, and advertises again for the next central.
  @Test(.onLoop, arguments: [false, true]) @LoopActor func severalCentrals(_ extended: Bool) async throws {
    let it = try await advertised(extended: extended)
    #expect(commands(it) == Self.setUp[extended])
    #expect(it.peripheral.advertisedAddress == PeerAddress(it.controller.address, .public))
    for number in 1...4 as ClosedRange<UInt64> {
      let link = try #require(try await it.connect(number))
      #expect(link.peer == Centrals.phone(number) && it.enabled == 1 + Int(number))
    }
    // The links are separate, and a request of one central arrives at its channel.
    var received: [Int: [[UInt8]]] = [:]
    for (index, link) in it.links.enumerated() {
      link.channel.handler = { if case .received(let pdu) = $0 { received[index, default: []].append(pdu) } }
    }
    it.controller.frame(4, [0x0A, 3, 0], handle: 0x43)
    try await settle()
    #expect(received == [2: [[0x0A, 3, 0]]])
    it.links[1].channel.send([0x0B, 7])
    #expect(it.controller.data.last?.handle == 0x42)
    // It goes on advertising, so the end of a link changes nothing.
    try await it.lose(2)
    #expect(it.enabled == 5 && it.central.openLinks.count == 3)
    try await it.peripheral.advertise(nil)
    #expect(commands(it).suffix(Self.tearDown[extended]?.count ?? 0) == (Self.tearDown[extended] ?? [])[...])
    // Without advertising, no central connects.
    #expect(try await it.connect(7) == nil && it.controller.commands.last == Disconnect(handle: 0x47, reason: .remoteUserTerminated))
    await it.central.close()
  }

  @Test(
    .onLoop,
    arguments: [false, true].flatMap { extended in
      [.memoryCapacityExceeded, .connectionLimitExceeded, .commandDisallowed, .rejectedForResources].map { (extended, $0) }
    } as [(Bool, ControllerErrorCode)])
  @LoopActor func aFullControllerIsWaitedFor(_ row: (extended: Bool, status: ControllerErrorCode)) async throws {
    let it = try await advertised(extended: row.extended)
    var places = 2
    it.controller.rules[it.enable.opcode] = { [weak controller = it.controller] command in
      guard let controller else { return nil }
      return command == it.enable && places == 0 ? controller.complete(command, failed: row.status) : controller.complete(command)
    }
    for number in 1...2 as ClosedRange<UInt64> {
      places -= 1
      _ = try #require(try await it.connect(number))
    }
    #expect(it.enabled == 3)
    // A place that is free without an event: found after a pause, and not more often.
    try await EventLoop.shared.sleep(for: .seconds(11))
    #expect(it.enabled == 8)
    places = 1
    try await EventLoop.shared.sleep(for: .seconds(11))
    #expect(it.enabled == 9)
    places = 0
    _ = try #require(try await it.connect(3))
    #expect(it.enabled == 10)
    // The end of a link is noticed immediately.
    places = 1
    try await it.lose(1)
    #expect(it.enabled == 11)
    try await EventLoop.shared.sleep(for: .seconds(11))
    #expect(it.enabled == 11)
    // New data while the controller is full: accepted, and sent when a place is free.
    places = 0
    try await it.peripheral.advertise(Advertising())
    #expect(it.enabled == 12)
    places = 1
    try await it.lose(2)
    #expect(it.enabled == 13)
    it.controller.rules = [:]
    await it.central.close()
  }

  @Test(.onLoop, arguments: [false, true]) @LoopActor func refusalsLeaveNothingBehind(_ extended: Bool) async throws {
    for (index, opcode) in (Self.setUp[extended] ?? []).enumerated() {
      for status in [.invalidParameters, .commandDisallowed, .memoryCapacityExceeded] as [ControllerErrorCode] {
        let controller = ScriptedController()
        controller.supported = extended ? ScriptedController.advertisingExtended : ScriptedController.advertising
        let (central, _) = try await started(controller)
        let it = Centrals(central, try #require(central.peripheral), controller)
        controller.rules[opcode] = { [weak controller] in
          $0.parameters.first == 0 && index == 3 ? controller?.complete($0) : controller?.complete($0, failed: status)
        }
        let error = await failure { try await it.peripheral.advertise(Advertising()) }
        if status == .commandDisallowed {
          #expect(error as? HostError == .cannotAdvertise(adapter: "tcp:test", isExtended: extended))
        } else {
          #expect((error as? ControllerError)?.fault == .refused(opcode, status))
        }
        #expect(commands(it) == (Self.setUp[extended] ?? [])[...index] + (Self.tearDown[extended] ?? []))
        controller.rules = [:]
        try await it.peripheral.advertise(Advertising())
        #expect(try await it.connect(1) != nil)
        await central.close()
      }
    }
  }

  /// What cannot be sent is an error before the first command, and the present advertising goes on.
  @Test(.onLoop) @LoopActor func lengthsAreCheckedFirst() async throws {
    let it = try await advertised(extended: true)
    let before = it.controller.commands.count
    var advertising = Advertising()
    advertising.data = [UInt8](repeating: 0, count: 32)
    let legacy = await failure { try await it.peripheral.advertise(advertising) }
    #expect(legacy as? GAPError == .advertisingTooLong(adapter: "tcp:test", .data, 32, limit: 31))
    #expect(it.controller.commands.count == before)
    advertising.isExtended = true
    try await it.peripheral.advertise(advertising)
    #expect(it.controller.commands.contains { LESetExtendedAdvertisingData($0)?.data == advertising.data })
    let then = it.controller.commands.count
    advertising.data = [UInt8](repeating: 0, count: 601)
    let extended = await failure { try await it.peripheral.advertise(advertising) }
    #expect(extended as? GAPError == .advertisingTooLong(adapter: "tcp:test", .data, 601, limit: 600))
    #expect(it.controller.opcodes[then...] == [LEReadMaximumAdvertisingDataLength.opcode])
    #expect(try await it.connect(1) != nil)
    await it.central.close()
  }

  /// A random address belongs to each advertising set.
  @Test(.onLoop, arguments: [false, true]) @LoopActor func aControllerWithoutAddress(_ extended: Bool) async throws {
    let controller = ScriptedController()
    controller.address = Address(rawValue: 0)
    let it = try await advertised(extended: extended, controller)
    let own = try #require(it.peripheral.advertisedAddress)
    #expect(own.randomKind == .static)
    #expect(controller.commands.contains(LESetRandomAddress(own.address)))
    #expect(controller.commands.contains(LESetAdvertisingSetRandomAddress(advertisingHandle: 0, own.address).packet) == extended)
    await it.central.close()
  }

  /// The controller may end a set on its own. A broken one that always does is asked every two seconds.
  @Test(.onLoop) @LoopActor func terminatedSets() async throws {
    let it = try await advertised(extended: true)
    func terminate(_ set: UInt8, _ status: ControllerErrorCode) {
      it.controller.emit(.leAdvertisingSetTerminated(status: status, advertisingHandle: set, handle: 0, events: 0))
    }
    terminate(1, ControllerErrorCode(rawValue: 0x3C))
    terminate(0, .success)
    try await EventLoop.shared.sleep(for: .seconds(5))
    #expect(it.enabled == 1)
    for _ in 0..<100 { terminate(0, ControllerErrorCode(rawValue: 0x43)) }
    try await settle()
    #expect(it.enabled == 1)
    try await EventLoop.shared.sleep(for: .seconds(5))
    #expect(it.enabled == 2)
    try await it.peripheral.advertise(nil)
    terminate(0, ControllerErrorCode(rawValue: 0x43))
    try await EventLoop.shared.sleep(for: .seconds(5))
    #expect(it.enabled == 2)
    await it.central.close()
  }

  /// The connection may arrive before the answer to the command that enabled advertising.
  @Test(.onLoop, arguments: [false, true]) @LoopActor func centralsAreFasterThanAnswers(_ extended: Bool) async throws {
    let it = try await advertised(extended: extended)
    var next: UInt64 = 1
    it.controller.rules[it.enable.opcode] = { [weak controller = it.controller] command in
      guard let controller else { return nil }
      guard command == it.enable, next <= 5 else { return controller.complete(command) }
      defer { next += 1 }
      return [controller.connected(Centrals.phone(next), role: 1, handle: ConnectionHandle(0x40 + UInt16(next)))]
        + controller.complete(command)
    }
    try await it.peripheral.advertise(Advertising())
    try await settle()
    #expect(it.links.map(\.peer) == (1...5).map { Centrals.phone($0) } && it.enabled == 7)
    it.controller.rules = [:]
    await it.central.close()
  }

  // MARK: The end

  @Test(.onLoop, arguments: [false, true]) @LoopActor func endLeavesNothing(_ isCanceled: Bool) async throws {
    let it = try await advertised(extended: true)
    for number in 1...3 as ClosedRange<UInt64> { _ = try #require(try await it.connect(number)) }
    // A link of the other role stays.
    let other = try await it.central.connect(lock, timeout: .seconds(5))
    // One central stopped listening.
    it.controller.completesPackets = false
    it.links[0].channel.send([0x1B, 3, 0, 1])
    let before = it.controller.commands.count
    let start = EventLoop.shared.now
    var told: [Duration] = []
    it.controller.rules[Disconnect.opcode] = { [weak controller = it.controller] command in
      told.append(start.duration(to: EventLoop.shared.now))
      guard let controller, let end = Disconnect(command) else { return nil }
      return controller.status(command) + [.disconnectionComplete(status: .success, handle: end.handle, reason: .terminatedByLocalHost)]
    }
    let task = EventLoop.shared.spawn { await it.peripheral.end() }
    if isCanceled { task.cancel() }
    // A central that connects in this moment is not taken.
    it.controller.emit(it.controller.connected(Centrals.phone(9), role: 1, handle: 0x49))
    await task.value
    #expect(told.count == 4 && told.allSatisfy { $0 < .milliseconds(500) })
    #expect(it.links.count == 3 && it.central.openLinks.map(\.peer) == [other.peer])
    let last = it.controller.commands[before...]
    #expect(last.contains(LESetExtendedAdvertisingEnable(false, sets: [.init(advertisingHandle: 0)]).packet))
    #expect(last.contains(LERemoveAdvertisingSet(advertisingHandle: 0).packet) && !last.contains(it.enable))
    let count = it.controller.commands.count
    await it.peripheral.end()
    #expect(it.controller.commands.count == count)
    // The host can advertise again.
    it.controller.completesPackets = true
    try await it.peripheral.advertise(Advertising())
    #expect(try await it.connect(4) != nil)
    await it.central.close()
  }

  /// A canceled or silent start undoes what was done, also if `end` overtakes it.
  @Test(.onLoop, arguments: [0, 1, 2]) @LoopActor func interruptedStarts(_ mode: Int) async throws {
    let controller = ScriptedController()
    controller.supported = ScriptedController.advertisingExtended
    let (central, _) = try await started(controller)
    let it = Centrals(central, try #require(central.peripheral), controller)
    controller.rules[LESetExtendedAdvertisingData.opcode] = { _ in nil }
    let task = EventLoop.shared.spawn { await failure { try await it.peripheral.advertise(Advertising()) } }
    try await settle()
    switch mode {
    case 0: task.cancel()
    case 1: await it.peripheral.end()
    default: break
    }
    let error = await task.value
    #expect(mode == 0 ? error is CancellationError : error != nil)
    try await EventLoop.shared.sleep(for: .seconds(20))
    // The last commands, which `end` and the failed start may both send.
    let last = controller.opcodes.drop { $0 != LESetExtendedAdvertisingData.opcode }.dropFirst()
    #expect(it.enabled == 0 && Set(last) == Set(Self.tearDown[true] ?? []) && last.last == LERemoveAdvertisingSet.opcode)
    controller.rules = [:]
    try await it.peripheral.advertise(Advertising())
    #expect(try await it.connect(1) != nil)
    await central.close()
  }

  @Test(.onLoop, arguments: [false, true]) @LoopActor func closeStopsToAdvertise(_ extended: Bool) async throws {
    let it = try await advertised(extended: extended)
    _ = try #require(try await it.connect(1))
    var end: (any Error)?
    it.links[0].channel.handler = { if case .closed(let error) = $0 { end = error } }
    let before = it.controller.commands.count
    await it.central.close()
    #expect(Set(it.controller.opcodes[before...]) == Set([Disconnect.opcode] + (Self.tearDown[extended] ?? [])))
    #expect(end as? Disconnection == Disconnection(Centrals.phone(1), .endedHere(.terminatedByLocalHost)))
    let late = await failure { try await it.peripheral.advertise(Advertising()) }
    #expect((late as? ControllerError)?.fault == .closed)
    await it.peripheral.end()
  }

  /// Without a handler, the host disconnects centrals.
  @Test(.onLoop) @LoopActor func withoutHandler() async throws {
    let it = try await advertised()
    it.peripheral.onCentral = nil
    #expect(try await it.connect(1) == nil)
    #expect(it.controller.commands.contains(Disconnect(handle: 0x41, reason: .remoteUserTerminated).packet) && it.enabled == 2)
    await it.central.close()
  }

  /// A controller takes only some reasons (Vol 4 Part E §7.1.6). The link ends in any case.
  @Test(.onLoop) @LoopActor func reasonsOfDisconnections() async throws {
    let it = try await advertised()
    it.controller.rules[Disconnect.opcode] = { [weak controller = it.controller] command in
      guard let controller, let end = Disconnect(command) else { return nil }
      guard [.remoteUserTerminated, .remotePowerOff].contains(end.reason) else { return controller.status(command, .invalidParameters) }
      return controller.status(command) + [.disconnectionComplete(status: .success, handle: end.handle, reason: .terminatedByLocalHost)]
    }
    for (reason, sent) in [(.remotePowerOff, [0x15]), (.micFailure, [0x3D, 0x13])] as [(ControllerErrorCode, [UInt8])] {
      let link = try #require(try await it.connect(1))
      let before = it.controller.commands.count
      await link.disconnect(reason: reason)
      #expect(it.controller.commands[before...].compactMap { Disconnect($0)?.reason.rawValue } == sent)
      #expect(it.central.openLinks.isEmpty)
    }
    await it.central.close()
  }

  // MARK: Links

  /// A peer that is connected to us may also be a server: one bearer has both roles.
  @Test(.onLoop) @LoopActor func bothRolesOnOneLink() async throws {
    let it = try await advertised()
    let link = try #require(try await it.connect(1))
    let bearer = Bearer(link.channel)
    let server = Server(store: AttributeStore(try AttributeDatabase(attributes: [])), bearer: bearer)
    server.start()
    let open = try bearer.begin(.read(9))
    // The central's own request arrives before its response to ours.
    it.controller.frame(4, [0x0A, 3, 0], handle: 0x41)
    it.controller.frame(4, [0x0B, 0x2A], handle: 0x41)
    #expect(try await bearer.answer(to: open) == .read([0x2A]))
    #expect(it.controller.frames.map(\.payload) == [[0x0A, 9, 0], [0x01, 0x0A, 3, 0, 0x01]])
    server.close()
    await it.central.close()
  }

  /// A central that floods, sends nonsense or never listens harms neither the host nor other centrals.
  @Test func hostileCentrals() async throws {
    let bad = try ["T18", "T20", "T22", "T24"].flatMap { try BadInputs.packets($0) }
    try await onLoop(with: try await advertised(extended: true)) { it in
      let (loud, quiet) = (try #require(try await it.connect(0)), try #require(try await it.connect(1)))
      var received: [[UInt8]] = []
      quiet.channel.handler = { if case .received(let pdu) = $0 { received.append(pdu) } }
      let bearer = Bearer(loud.channel)
      bearer.start()
      for bytes in bad { it.controller.emit(bytes) }
      try await settle()
      it.controller.completesPackets = false
      it.controller.rules[LELongTermKeyRequestNegativeReply.opcode] = { _ in nil }
      for _ in 0..<1000 {
        it.controller.frame(4, [0x0A, 3, 0])
        it.controller.frame(5, [0x12, 7, 8, 0, 6, 0, 24, 0, 0, 0, 0x90, 1])
        it.controller.frame(6, [1])
        it.controller.emit(.leLongTermKeyRequest(handle: 0x40, random: 1, ediv: 1))
        it.controller.emit(.leLongTermKeyRequest(handle: 0x7F, random: 1, ediv: 1))
      }
      it.controller.frame(4, [0x02, 0, 2], handle: 0x41)
      try await settle()
      #expect(received == [[0x02, 0, 2]])
      #expect(loud.channel.unacknowledged ?? .max <= Bearer.answerLimit + 64)
      quiet.channel.send([0x03, 0, 2])
      #expect(it.controller.data.last?.handle == 0x41)
      // The central decides on the parameters of a link, so a peripheral takes no such request.
      #expect(it.controller.count(LEConnectionUpdate.opcode) == 0)
      try await EventLoop.shared.sleep(for: .seconds(600))
      #expect(it.controller.count(LELongTermKeyRequestNegativeReply.opcode) <= 65)
      await it.central.close()
    }
  }

  @Test(.onLoop) @LoopActor func signallingOfAPeripheral() async throws {
    let it = try await advertised()
    _ = try #require(try await it.connect(1))
    it.controller.frame(5, [0x12, 7, 8, 0, 6, 0, 24, 0, 0, 0, 0x90, 1], handle: 0x41)
    try await settle()
    #expect(it.controller.frames.map(\.payload) == [[0x01, 7, 2, 0, 0, 0]])
    // The link layer's request is the central's right.
    it.controller.emit(
      .leRemoteConnectionParameterRequest(handle: 0x41, intervalMin: 6, intervalMax: 6, latency: 0, supervisionTimeout: 400))
    try await settle()
    #expect(it.controller.opcodes.last == LERemoteConnectionParameterRequestReply.opcode)
    await it.central.close()
  }

  /// The answers of a central to a Connection Parameter Update Request.
  enum Answer: CaseIterable { case accepts, refuses, rejects, acceptsOnly, isSilent, isLost }

  @Test(.onLoop, arguments: Answer.allCases) @LoopActor func intervalsByL2CAP(_ mode: Answer) async throws {
    let it = try await advertised()
    let link = try #require(try await it.connect(1))
    let controller = it.controller
    controller.onFrame = { [weak controller] handle, frame in
      guard let controller, frame.channel == 5, let request = try? SignallingPDU(frame.payload),
        case .connectionParameterUpdateRequest(let identifier, let wanted) = request
      else { return }
      #expect(wanted.intervalMin == 24 && wanted.intervalMax == 24)
      // An answer to another request has no effect.
      controller.frame(5, [0x13, identifier &+ 1, 2, 0, 0, 0], handle: handle)
      switch mode {
      case .accepts, .acceptsOnly: controller.frame(5, [0x13, identifier, 2, 0, 0, 0], handle: handle)
      case .refuses: controller.frame(5, [0x13, identifier, 2, 0, 1, 0], handle: handle)
      case .rejects: controller.frame(5, [0x01, identifier, 2, 0, 0, 0], handle: handle)
      case .isSilent: break
      case .isLost: controller.emit(.disconnectionComplete(status: .success, handle: handle, reason: .connectionTimeout))
      }
      guard mode == .accepts else { return }
      controller.emit(
        .leConnectionUpdateComplete(status: .success, handle: handle, interval: 24, latency: 0, supervisionTimeout: 400))
    }
    var parameters: LinkParameters?
    let error = await failure { parameters = try await link.requestInterval(.milliseconds(30)) }
    let procedure = LinkProcedure.connectionInterval(.milliseconds(30))
    switch mode {
    case .accepts, .acceptsOnly: #expect(error == nil && parameters?.interval == .milliseconds(30))
    case .refuses, .rejects: #expect(error as? GAPError == .notAgreed(link.peer, procedure, .unacceptableParameters))
    case .isSilent: #expect(error as? GAPError == .noAnswer(link.peer, procedure))
    case .isLost: #expect(error as? Disconnection == Disconnection(link.peer, .lost(.connectionTimeout)))
    }
    #expect(controller.count(LEConnectionUpdate.opcode) == 0)
    await it.central.close()
  }

  /// The link layer asks the central if both controllers can. Otherwise L2CAP asks.
  @Test(.onLoop, arguments: [0, 1, 2]) @LoopActor func intervalsByTheLinkLayer(_ mode: Int) async throws {
    let controller = ScriptedController()
    controller.features = [.connectionParametersRequest]
    let it = try await advertised(controller)
    let link = try #require(try await it.connect(1))
    if mode > 0 {
      controller.rules[LEConnectionUpdate.opcode] = { [weak controller] command in
        guard let controller else { return nil }
        if mode == 1 { return controller.status(command, .commandDisallowed) }
        return controller.status(command) + [
          .leConnectionUpdateComplete(
            status: .unsupportedRemoteFeature, handle: 0x41, interval: 24, latency: 0, supervisionTimeout: 400)
        ]
      }
      controller.onFrame = { [weak controller] handle, frame in
        controller?.frame(5, [0x13, frame.payload[1], 2, 0, 0, 0], handle: handle)
        controller?.emit(
          .leConnectionUpdateComplete(status: .success, handle: handle, interval: 40, latency: 0, supervisionTimeout: 400))
      }
    }
    #expect(try await link.requestInterval(.milliseconds(50)).interval == .milliseconds(50))
    #expect(controller.count(LEConnectionUpdate.opcode) == 1 && controller.frames.count == (mode > 0 ? 1 : 0))
    await it.central.close()
  }
}
