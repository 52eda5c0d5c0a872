import TestSupport

@Suite(.timeLimit(.minutes(15))) struct StartTests {
  @Test(.onLoop) @LoopActor func sequenceAndFacts() async throws {
    let controller = ScriptedController()
    controller.supported = ScriptedController.extended
    controller.features = [.dataLengthExtension, .extendedAdvertising, .phy2M]
    let (central, _) = try await started(controller)
    #expect(
      controller.opcodes == [
        Reset.opcode, ReadLocalVersion.opcode, ReadLocalSupportedCommands.opcode, ReadLocalSupportedFeatures.opcode,
        LEReadLocalSupportedFeatures.opcode,
        LEReadBufferSize.opcode, SetEventMask.opcode, LESetEventMask.opcode, ReadBDADDR.opcode, LEReadMaximumDataLength.opcode,
        LEWriteSuggestedDefaultDataLength.opcode,
      ])
    #expect(controller.commands.contains(SetEventMask(0x2000_8000_0200_8890)))
    #expect(controller.commands.contains(LESetEventMask(0x185F)))
    let info = central.adapterInfo
    #expect(info.address == controller.address)
    #expect(info.ownAddress == PeerAddress(controller.address, .public))
    #expect(info.aclLength == 27)
    #expect(info.aclCount == 4)
    #expect(info.maxTxOctets == 251)
    #expect(info.features == ["core_5.0", "extended_advertising", "data_length_251", "2m"])
    // A second start sends nothing.
    let before = controller.commands.count
    try await central.start()
    #expect(controller.commands.count == before)
  }

  @Test(.onLoop) @LoopActor func classicBuffersAndGeneratedAddress() async throws {
    let controller = ScriptedController()
    controller.aclLength = 0
    controller.address = Address(rawValue: 0)
    let (central, _) = try await started(controller)
    #expect(central.adapterInfo.aclLength == 1021)
    #expect(central.adapterInfo.aclCount == 6)
    #expect(central.adapterInfo.address == nil)
    let own = central.adapterInfo.ownAddress
    #expect(own.randomKind == .static)
    #expect(controller.commands.contains(LESetRandomAddress(own.address)))
    // Bonds belong to an address, so the host can have the same one again.
    let other = ScriptedController()
    other.address = Address(rawValue: 0)
    let again = HostCentral(other, name: "test", staticAddress: own.address)
    try await again.start()
    #expect(again.adapterInfo.ownAddress == own && other.commands.contains(LESetRandomAddress(own.address)))
  }

  @Test(.onLoop) @LoopActor func missingCommandsAreLivedWithout() async throws {
    let controller = ScriptedController()
    for opcode in [
      ReadLocalVersion.opcode, ReadLocalSupportedCommands.opcode, ReadLocalSupportedFeatures.opcode, LEReadLocalSupportedFeatures.opcode,
    ] {
      controller.rules[opcode] = { controller.complete($0, failed: .unknownCommand) }
    }
    // Some controllers refuse unknown bits.
    controller.rules[LESetEventMask.opcode] = { command in
      command == LESetEventMask(0x1F) ? controller.complete(command) : controller.complete(command, failed: .invalidParameters)
    }
    let (central, _) = try await started(controller)
    #expect(central.adapterInfo.features.isEmpty)
  }

  @Test(.onLoop) @LoopActor func aSilentDeviceIsNamed() async throws {
    let controller = ScriptedController()
    controller.rules[Reset.opcode] = { _ in nil }
    let central = HostCentral(controller, name: "serial:/dev/ttyACM0")
    var error: (any Error)?
    let time = await duration { error = await failure { try await central.start() } }
    #expect(error as? ControllerError == ControllerError("serial:/dev/ttyACM0", .silent(Reset.opcode, after: .seconds(4))))
    #expect(time < .seconds(5))
    let closing = await duration { await central.close() }
    #expect(closing < .seconds(3))
    #expect(controller.isClosed)
  }

  /// A controller that answers but grants no command credits (Num_HCI_Command_Packets 0) fails without 4 s per command.
  @Test(.onLoop) @LoopActor func aControllerWithoutCommandCreditsIsNamed() async throws {
    let controller = ScriptedController()
    controller.mangle = { packet in
      guard packet.starts(with: [4, 0x0E]) else { return [packet] }
      return [packet[..<3] + [0] + packet[4...]]
    }
    let central = HostCentral(controller, name: "tcp:test")
    var error: (any Error)?
    let time = await duration { error = await failure { try await central.start() } }
    #expect(error as? ControllerError == ControllerError("tcp:test", .starved(ReadLocalVersion.opcode, after: .seconds(4))))
    #expect(time >= .seconds(4) && time < .seconds(5) && controller.opcodes == [Reset.opcode])
    let closing = await duration { await central.close() }
    #expect(closing < .seconds(3))
  }

  @Test(.onLoop) @LoopActor func refusalsNameCommandAndStatus() async throws {
    let controller = ScriptedController()
    controller.rules[SetEventMask.opcode] = { controller.complete($0, failed: .invalidParameters) }
    let error = await failure { try await HostCentral(controller, name: "tcp:test").start() }
    #expect(error as? ControllerError == ControllerError("tcp:test", .refused(SetEventMask.opcode, .invalidParameters)))
  }

  @Test(.onLoop) @LoopActor func classicOnlyAndNoBuffers() async throws {
    let classic = ScriptedController()
    classic.rules[ReadLocalSupportedFeatures.opcode] = { classic.complete($0, ReadLocalSupportedFeatures.Return(0xFF)) }
    let withoutLE = await failure { try await HostCentral(classic, name: "x").start() }
    #expect(withoutLE as? ControllerError == ControllerError("x", .withoutLE))
    let none = ScriptedController()
    none.aclCount = 0
    none.rules[ReadBufferSize.opcode] = {
      none.complete($0, ReadBufferSize.Return(aclLength: 0, synchronousLength: 0, aclCount: 0, synchronousCount: 0))
    }
    let withoutBuffers = await failure { try await HostCentral(none, name: "x").start() }
    #expect(withoutBuffers as? ControllerError == ControllerError("x", .withoutBuffers))
  }

  @Test(.onLoop) @LoopActor func aNonsenseAnswerFailsItsCommand() async throws {
    let controller = ScriptedController()
    // T11: no status; too short for the command.
    controller.rules[LEReadBufferSize.opcode] = { [.commandComplete(Event.CommandComplete(opcode: $0.opcode, parameters: []))] }
    controller.rules[ReadBufferSize.opcode] = { [.commandComplete(Event.CommandComplete(opcode: $0.opcode, parameters: [0, 1]))] }
    let error = await failure { try await HostCentral(controller, name: "tcp:test").start() } as? ControllerError
    guard case .unreadable(ReadBufferSize.opcode, _)? = error?.fault else { throw try #require(error) }
  }

  @Test(.onLoop) @LoopActor func anythingButStartFailsBefore() async throws {
    let central = HostCentral(ScriptedController(), name: "tcp:test")
    let error = await failure { _ = try await central.connect(lock, timeout: .seconds(1)) }
    #expect(error as? ControllerError == ControllerError("tcp:test", .notStarted))
  }

  private struct CableGone: Error {}

  @Test(.onLoop) @LoopActor func aDeadTransportFailsEverything() async throws {
    let controller = ScriptedController()
    controller.rules[ReadBDADDR.opcode] = { _ in
      EventLoop.shared.schedule(after: .zero) { controller.lose(CableGone()) }
      return nil
    }
    let central = HostCentral(controller, name: "tcp:test")
    for _ in 0..<2 {
      let error = await failure { try await central.start() }
      #expect(error is CableGone)
    }
    await central.close()
  }
}
