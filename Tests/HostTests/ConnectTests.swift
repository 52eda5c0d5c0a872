import TestSupport

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct ConnectTests {
  @Test(.onLoop, arguments: [false, true]) @LoopActor func connectsFast(_ isExtended: Bool) async throws {
    let controller = ScriptedController()
    if isExtended {
      controller.supported = ScriptedController.extended
      controller.features = [.dataLengthExtension, .phy2M]
    }
    let (central, _) = try await started(controller)
    let link = try await central.connect(lock, timeout: .seconds(5))
    #expect(link.peer == lock)
    let fast = ConnectionParameters(intervalMin: 12, intervalMax: 24, latency: 0, supervisionTimeout: 400)
    if isExtended {
      let create = LEExtendedCreateConnection.Initiating(scanInterval: 96, scanWindow: 96, parameters: fast)
      #expect(
        controller.commands.contains(
          LEExtendedCreateConnection(ownAddressType: 0, peer: lock, phys: [.le1M, .le2M], initiating: [create, create])))
      #expect(controller.commands.contains(LESetDataLength(handle: 0x40, txOctets: 251, txTime: 2120)))
    } else {
      #expect(
        controller.commands.contains(
          LECreateConnection(scanInterval: 96, scanWindow: 96, peer: lock, ownAddressType: 0, parameters: fast)))
      #expect(controller.count(LESetDataLength.opcode) == 0)
    }
    #expect(controller.count(LEReadRemoteFeatures.opcode) == 1)
    try await settle()
    let parameters = try await link.parameters()
    #expect(parameters.interval == .milliseconds(30))
    #expect(parameters.latency == 0)
    #expect(parameters.supervisionTimeout == .seconds(4))
    #expect(parameters.rssi == -60)
    #expect(parameters.phy == .le1M)
    #expect(parameters.maxTxOctets == (isExtended ? 251 : 27))
    await link.disconnect()
    #expect(controller.commands.last == Disconnect(handle: 0x40, reason: .remoteUserTerminated))
    #expect(central.openLinks.isEmpty)
  }

  @Test(.onLoop) @LoopActor func timeoutCancelsAndWaitsForTheLastWord() async throws {
    let (central, controller) = try await started()
    var error: (any Error)?
    let time = await duration { error = await failure { _ = try await central.connect(absent, timeout: .seconds(5)) } }
    #expect(error as? GAPError == .noConnection(absent, within: .seconds(5)))
    #expect(time >= .seconds(5))
    #expect(time < .seconds(6))
    #expect(controller.count(LECreateConnectionCancel.opcode) == 1)
    // The host is idle again.
    _ = try await central.connect(lock, timeout: .seconds(5))
  }

  @Test(.onLoop) @LoopActor func aCancelledTaskCancels() async throws {
    let (central, controller) = try await started()
    let task = EventLoop.shared.spawn { () -> Bool in
      do {
        _ = try await central.connect(absent, timeout: .seconds(50))
        return false
      } catch {
        return error is CancellationError
      }
    }
    try await EventLoop.shared.sleep(for: .seconds(1))
    task.cancel()
    #expect(await task.value)
    #expect(controller.count(LECreateConnectionCancel.opcode) == 1)
  }

  @Test(.onLoop) @LoopActor func aLinkThatComesUpDuringTheCancelIsTakenDown() async throws {
    let (central, controller) = try await started()
    controller.rules[LECreateConnectionCancel.opcode] = {
      controller.complete($0, failed: .commandDisallowed) + [controller.connected(absent)]
    }
    let error = await failure { _ = try await central.connect(absent, timeout: .seconds(1)) }
    #expect(error as? GAPError == .noConnection(absent, within: .seconds(1)))
    #expect(controller.commands.last == Disconnect(handle: 0x40, reason: .remoteUserTerminated))
    #expect(central.openLinks.isEmpty)
  }

  @Test(.onLoop) @LoopActor func aCancelThatIsNeverConfirmedEndsToo() async throws {
    let (central, controller) = try await started()
    controller.rules[LECreateConnectionCancel.opcode] = { controller.complete($0) }
    let time = await duration { _ = await failure { _ = try await central.connect(absent, timeout: .seconds(1)) } }
    #expect(time < .seconds(4))
    controller.rules[LECreateConnectionCancel.opcode] = { _ in nil }
    let silent = await duration { _ = await failure { _ = try await central.connect(absent, timeout: .seconds(1)) } }
    #expect(silent < .seconds(15))
  }

  @Test(.onLoop, arguments: [false, true]) @LoopActor func failedToBeEstablishedIsTriedOnceMore(_ isLate: Bool) async throws {
    let (central, controller) = try await started()
    var notes: [GAPNote] = []
    central.onNote = { notes.append($0) }
    var attempts = 0
    controller.rules[LECreateConnection.opcode] = { command in
      attempts += 1
      if attempts > 1 { return controller.status(command) + [controller.connected(lock)] }
      guard isLate else {
        return controller.status(command) + [controller.connected(lock, status: .connectionFailedToBeEstablished, handle: 0)]
      }
      controller.rules[LEReadRemoteFeatures.opcode] = { features in
        controller.rules[LEReadRemoteFeatures.opcode] = nil
        return controller.status(features)
          + [.disconnectionComplete(status: .success, handle: 0x40, reason: .connectionFailedToBeEstablished)]
      }
      return controller.status(command) + [controller.connected(lock)]
    }
    let link = try await central.connect(lock, timeout: .seconds(5))
    #expect(attempts == 2)
    #expect(notes == [.tryingAgain(lock, .notEstablished)])
    #expect(link.peer == lock)
    #expect(central.openLinks.count == 1)
  }

  @Test(.onLoop) @LoopActor func failedTwiceIsAnError() async throws {
    let (central, controller) = try await started()
    controller.rules[LECreateConnection.opcode] = {
      controller.status($0) + [controller.connected(lock, status: .connectionFailedToBeEstablished, handle: 0)]
    }
    let error = await failure { _ = try await central.connect(lock, timeout: .seconds(5)) }
    #expect(error as? GAPError == .connectionFailed(lock, .connectionFailedToBeEstablished))
    #expect(controller.count(LECreateConnection.opcode) == 2)
  }

  @Test(.onLoop) @LoopActor func anAttemptLeftBehindIsCancelledFirst() async throws {
    let (central, controller) = try await started()
    var isBusy = true
    controller.rules[LECreateConnection.opcode] = { command in
      isBusy ? controller.status(command, .commandDisallowed) : controller.status(command) + [controller.connected(lock)]
    }
    controller.rules[LECreateConnectionCancel.opcode] = { command in
      isBusy = false
      return controller.complete(command) + [controller.connected(absent, status: .unknownConnectionIdentifier, handle: 0)]
    }
    // The last event of the cancelled attempt must not be taken for ours.
    let link = try? await central.connect(lock, timeout: .seconds(5))
    #expect(controller.count(LECreateConnectionCancel.opcode) == 1)
    #expect(link != nil)
  }

  @Test(.onLoop, arguments: [ControllerErrorCode.commandDisallowed, .connectionLimitExceeded, .connectionAlreadyExists])
  @LoopActor func refusalsAreExplained(_ status: ControllerErrorCode) async throws {
    let (central, controller) = try await started()
    controller.rules[LECreateConnection.opcode] = { controller.status($0, status) }
    let error = await failure { _ = try await central.connect(lock, timeout: .seconds(5)) }
    switch status {
    case .commandDisallowed: #expect(error as? HostError == .cannotConnect(adapter: "tcp:test", lock))
    case .connectionAlreadyExists: #expect(error as? HostError == .hasLinkAlready(adapter: "tcp:test", lock))
    default: #expect(error as? ControllerError == ControllerError("tcp:test", .refused(LECreateConnection.opcode, status)))
    }
  }

  @Test func hostileCompletions() async throws {
    let bad = try BadInputs.packets("T15")
    try await onLoop(with: try await started()) { central, controller in
      // An unsolicited connection is not ours, and is closed.
      controller.emit(bad[0])
      controller.emit(bad[1])
      try await settle()
      #expect(central.openLinks.isEmpty)
      #expect(controller.commands.last == Disconnect(handle: 0x40, reason: .remoteUserTerminated))
      // A connection to another peer, one with a reserved handle, then the right one.
      controller.rules[LECreateConnection.opcode] = {
        controller.status($0) + [
          controller.connected(absent, handle: 0x55), controller.connected(lock, handle: 0x0FFF), controller.connected(lock, handle: 0x41),
        ]
      }
      let link = try await central.connect(lock, timeout: .seconds(5))
      #expect(central.openLinks.map(\.handle) == [0x41])
      // The handle is reused: the old link ends, and the new one was not requested.
      controller.emit(controller.connected(absent, handle: 0x41))
      try await settle()
      #expect(central.openLinks.isEmpty)
      let error = await failure { _ = try await link.parameters() }
      #expect(error as? Disconnection == Disconnection(lock, .handleReused(adapter: "tcp:test")))
    }
  }

  @Test(.onLoop) @LoopActor func dataRightBehindTheCompletionIsKept() async throws {
    let (central, controller) = try await started()
    controller.rules[LEReadRemoteFeatures.opcode] = { command in
      controller.frame(4, [0x02, 23, 0])
      return controller.status(command) + [.leReadRemoteFeaturesComplete(status: .success, handle: 0x40, features: [])]
    }
    let link = try await central.connect(lock, timeout: .seconds(5))
    var received: [[UInt8]] = []
    link.channel.handler = { if case .received(let pdu) = $0 { received.append(pdu) } }
    #expect(received == [[0x02, 23, 0]])
  }
}
