import BluetoothLESimulator
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct VirtualControllerCommandTests {
  @Test(.onLoop) @LoopActor func tellsWhatItIs() async throws {
    let host = TestHost(air: Air())
    #expect(try await host.complete(Reset()) == .success(.init()))
    #expect(try await host.complete(ReadBDADDR()) == .success(.init(VirtualController.defaultAddress)))
    #expect(VirtualController.defaultAddress.description == "00:00:5E:00:53:01")
    #expect(try await host.complete(LEReadBufferSize()) == .success(.init(aclLength: 251, aclCount: 8)))
    #expect(
      try await host.complete(LEReadMaximumDataLength()) == .success(.init(txOctets: 251, txTime: 2120, rxOctets: 251, rxTime: 2120)))
    let features = try await host.complete(LEReadLocalSupportedFeatures()).get().features
    let commands = try await host.complete(ReadLocalSupportedCommands()).get().commands
    let version = try await host.complete(ReadLocalVersion()).get()
    #expect(features.isSuperset(of: [.dataLengthExtension, .phy2M, .phyCoded, .extendedAdvertising]))
    // And these before it advertises.
    #expect(commands.bytes[36] & 0xFE == 0xFE && commands.bytes[37] & 0x03 == 0x03)
    // The kernel checks these bits before it uses extended scanning and connecting.
    #expect(commands.bytes[37] & 0xE0 == 0xE0)
    #expect(version.hciVersion == 13)
  }

  @Test(.onLoop) @LoopActor func aLegacyControllerKnowsLess() async throws {
    let host = TestHost(air: Air()) {
      $0.extended = false
      $0.dataLength = 27
      $0.phys = [.le1M]
      $0.bufferLength = 27
      $0.buffers = 1
    }
    #expect(try await host.complete(LEReadBufferSize()) == .success(.init(aclLength: 27, aclCount: 1)))
    let features = try await host.complete(LEReadLocalSupportedFeatures()).get().features
    let commands = try await host.complete(ReadLocalSupportedCommands()).get().commands
    #expect(features.intersection([.dataLengthExtension, .phy2M, .phyCoded, .extendedAdvertising]).isEmpty)
    #expect(commands.bytes[37] == 0)
    for command in [
      LESetExtendedScanParameters.extendedScanParameters(), LESetExtendedScanEnable.extendedScan(true),
      LEExtendedCreateConnection.extendedCreate(TestDevice().address),
      LESetExtendedAdvertisingParameters.parameters(1, 0x13), LEReadMaximumDataLength(), LEReadPHY(handle: 1),
      LESetDataLength(handle: 1, txOctets: 251, txTime: 2120),
    ] as [any Command] {
      #expect(try await host.status(command) == .unknownCommand)
    }
  }

  @Test(.onLoop) @LoopActor func aCommandThatItDoesNotKnowIsAnsweredToo() async throws {
    let host = TestHost(air: Air())
    for (opcode, parameters) in [(0xFC01, [1, 2, 3]), (0x0C14, [])] as [(UInt16, [UInt8])] {
      let status = try await host.status(CommandPacket(opcode: Opcode(rawValue: opcode), parameters: parameters))
      #expect(status == .unknownCommand)
    }
  }

  @Test(.onLoop) @LoopActor func answersComeOnALaterTurnAndInOrder() async throws {
    let host = TestHost(air: Air())
    host.send(Reset())
    host.send(ReadBDADDR())
    host.send(ReadLocalVersion())
    #expect(host.events.isEmpty)
    try await host.wait { host.events.count == 3 }
    let opcodes = host.events.map { if case .commandComplete(let complete) = $0 { complete.opcode } else { Opcode.none } }
    #expect(opcodes == [Reset.opcode, ReadBDADDR.opcode, ReadLocalVersion.opcode])
  }

  @Test(.onLoop) @LoopActor func maskedEventsStayAway() async throws {
    let air = Air()
    air.add(TestDevice())
    let host = TestHost(air: air)
    // After a Reset, LE Meta events are disabled.
    try await host.complete(Reset())
    try await host.complete(LESetScanParameters.scanParameters())
    try await host.complete(.scan(true))
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(host.events.isEmpty)
    try await host.complete(SetEventMask(1 << 61))
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(host.reports.count >= 16)
    try await host.complete(LESetEventMask(~2))
    let count = host.reports.count
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(host.reports.count == count)
    host.controller.close()
  }

  @Test(.onLoop) @LoopActor func theFormOfConnectionCompleteFollowsTheMask() async throws {
    for (mask, form) in [(UInt64(0x1F), Event.ConnectionComplete.Form.plain), (0x3FF, .enhanced)] {
      let air = Air()
      let device = TestDevice()
      air.add(device)
      let host = TestHost(air: air)
      try await host.setUp()
      try await host.complete(LESetEventMask(mask))
      let complete = try await host.connect(device.address, interval: 40, latency: 2, timeout: 600)
      #expect(complete.form == form)
      #expect(complete.status == .success && complete.peer == device.address && complete.role == 0)
      #expect(complete.interval == 40 && complete.latency == 2 && complete.supervisionTimeout == 600)
      host.controller.close()
    }
  }

  /// Each command is refused with this status, in the event that answers it.
  @Test(
    arguments: [
      (Disconnect(handle: 0x40, reason: .remoteUserTerminated), ControllerErrorCode.unknownConnectionIdentifier),
      (ReadRemoteVersion(handle: 0xFFFF), .unknownConnectionIdentifier), (LEReadRemoteFeatures(handle: 0), .unknownConnectionIdentifier),
      (LESetPHY(handle: 0, allPHYs: 3, tx: [], rx: [], options: 0), .unknownConnectionIdentifier),
      (LECreateConnection.create(TestDevice.nobody, interval: 5), .invalidParameters),
      (LECreateConnection.create(TestDevice.nobody, timeout: 3201), .invalidParameters),
      (LECreateConnection.create(TestDevice.nobody, interval: 3200, timeout: 800), .invalidParameters),
    ] as [(any Command, ControllerErrorCode)])
  func refusedWithAStatus(command: any Command, status: ControllerErrorCode) async throws {
    try await onLoop(with: TestHost(air: Air())) { host in
      try await host.setUp()
      #expect(try await host.status(command) == status)
    }
  }

  @Test(
    arguments: [
      (ReadRSSI(handle: 1), ControllerErrorCode.unknownConnectionIdentifier), (LEReadPHY(handle: 1), .unknownConnectionIdentifier),
      (LESetDataLength(handle: 1, txOctets: 251, txTime: 2120), .unknownConnectionIdentifier),
      (LECreateConnectionCancel(), .commandDisallowed),
      (LESetScanParameters.scanParameters(interval: 3, window: 3), .invalidParameters),
      (LESetScanParameters.scanParameters(interval: 0x4001), .invalidParameters),
      (LESetScanParameters.scanParameters(interval: 16, window: 17), .invalidParameters),
      (
        LESetScanParameters(ScanTiming(isActive: true, interval: 16, window: 16), ownAddressType: 1, filterPolicy: 0),
        .invalidParameters
      ),
      (LESetExtendedScanParameters.extendedScanParameters(phys: .le2M), .invalidParameters),
      (LESetExtendedScanEnable.extendedScan(true), .commandDisallowed),
      (LEWriteSuggestedDefaultDataLength(txOctets: 26, txTime: 2120), .invalidParameters),
      (LESetDefaultPHY(allPHYs: 0, tx: [], rx: .le1M), .unsupportedFeature),
    ] as [(any Command, ControllerErrorCode)])
  func refusedWithACompletion(command: any Command, status: ControllerErrorCode) async throws {
    try await onLoop(with: TestHost(air: Air())) { host in
      try await host.setUp()
      #expect(try await host.refusal(command) == status)
    }
  }

  /// A command that is too short or too long is refused with its opcode.
  @Test(.onLoop) @LoopActor func aCommandOfTheWrongLengthHasInvalidParameters() async throws {
    let host = TestHost(air: Air())
    host.controller.send([0x01, 0x0C, 0x20, 0x01, 0x01])
    host.controller.send([0x01, 0x0D, 0x20, 0x00])
    host.controller.send([0x01, 0x03, 0x0C, 0x01, 0x00])
    try await host.wait { host.events.count == 3 }
    guard case .commandComplete(let scan) = host.events[0], case .commandStatus(let create) = host.events[1],
      case .commandComplete(let reset) = host.events[2]
    else {
      Issue.record("wrong events")
      return
    }
    #expect(scan.parameters == [0x12] && create.status == .invalidParameters && reset.parameters == [0x12])
    #expect(host.controller.violations.count == 3)
  }

  @Test(.onLoop) @LoopActor func closingMidway() async throws {
    let air = Air()
    let device = TestDevice()
    air.add(device)
    let host = TestHost(air: air)
    try await host.setUp()
    _ = try await host.connect(device.address)
    host.controller.close()
    let count = host.log.count
    host.send(Reset())
    try await EventLoop.shared.sleep(for: .seconds(10))
    #expect(host.log.count == count)
    // The device waited for the supervision timeout.
    #expect(device.closed == .connectionTimeout)
  }

  @Test(.onLoop) @LoopActor func resetForgetsEverything() async throws {
    let air = Air()
    let (device, other) = (TestDevice(1), TestDevice(2))
    air.add(device)
    air.add(other)
    let host = TestHost(air: air)
    try await host.setUp()
    let link = try await host.connect(device.address)
    try await host.complete(LESetScanParameters.scanParameters())
    try await host.complete(.scan(true))
    host.send(LECreateConnection.create(TestDevice.nobody))
    try await host.setUp()
    let count = host.reports.count
    try await EventLoop.shared.sleep(for: .seconds(10))
    #expect(host.reports.count == count)
    #expect(device.closed == .connectionTimeout)
    #expect(try await host.complete(ReadRSSI(handle: link.handle)) == .failure(.unknownConnectionIdentifier))
    // The other command set is available again, and so is the device.
    try await host.complete(LESetExtendedScanParameters.extendedScanParameters())
    #expect(try await host.status(.extendedCreate(device.address)) == .success)
    #expect(try await host.connectionComplete().status == .success)
    #expect(device.links == 2)
    host.controller.close()
  }

  @Test(.onLoop) @LoopActor func nothingThatAHostSendsTraps() async throws {
    let air = Air()
    let device = TestDevice()
    air.add(device)
    let host = TestHost(air: air) { $0.bufferLength = 60 }
    try await host.setUp()
    let link = try await host.connect(device.address)
    device.keeps = false
    let timing = ScanTiming(isActive: true, interval: 16, window: 16)
    let parameters = ConnectionParameters(intervalMin: 6, intervalMax: 6, latency: 0, supervisionTimeout: 100)
    let handle = link.handle
    let commands: [any Command] = [
      Reset(), SetEventMask(.max), LESetEventMask(.max), Disconnect(handle: handle, reason: .remoteUserTerminated),
      ReadRemoteVersion(handle: handle), ReadLocalVersion(), ReadRSSI(handle: handle), LESetRandomAddress(device.address.address),
      LESetScanParameters(timing, ownAddressType: 0, filterPolicy: 0), LESetScanEnable.scan(true),
      LECreateConnection.create(device.address), LECreateConnectionCancel(),
      LEConnectionUpdate(handle: handle, parameters), LEReadRemoteFeatures(handle: handle),
      LESetDataLength(handle: handle, txOctets: 251, txTime: 2120), LEWriteSuggestedDefaultDataLength(txOctets: 100, txTime: 1000),
      LEReadPHY(handle: handle), LESetDefaultPHY(allPHYs: 0, tx: .le2M, rx: .le2M),
      LESetPHY(handle: handle, allPHYs: 0, tx: .le2M, rx: .coded, options: 1),
      LESetExtendedScanParameters.extendedScanParameters(phys: [.le1M, .coded]),
      LESetExtendedScanEnable.extendedScan(true, filter: 2, duration: 10, period: 1),
      LEExtendedCreateConnection.extendedCreate(device.address), LELongTermKeyRequestReply(handle: handle, 1),
      LELongTermKeyRequestNegativeReply(handle: handle), LESetAdvertisingParameters(intervalMin: 32, intervalMax: 32, peer: device.address),
      LESetAdvertisingData([1]), LESetScanResponseData([1]), LESetAdvertisingEnable(true),
      LESetExtendedAdvertisingParameters.parameters(1, 0x13),
      LESetAdvertisingSetRandomAddress(advertisingHandle: 1, device.address.address),
      LESetExtendedAdvertisingData(advertisingHandle: 1, [1]),
      LESetExtendedScanResponseData(advertisingHandle: 1, [1]), LERemoveAdvertisingSet(advertisingHandle: 1), LEClearAdvertisingSets(),
      LESetExtendedAdvertisingEnable(true, sets: [.init(advertisingHandle: 1, duration: 10, maxEvents: 3)]),
    ]
    let seeds =
      commands.map { $0.encoded } + [
        CommandPacket(opcode: Opcode(rawValue: 0xFC00), parameters: [1]).encoded,
        ACLData(handle: handle, boundary: .firstNonFlushable, payload: [3, 0, 4, 0, 0x52, 1, 0]).encoded,
        ACLData(handle: handle, boundary: .continuing, payload: [1]).encoded,
        ACLData(handle: handle, boundary: .firstNonFlushable, payload: [4, 0, 5, 0, 0x14, 1, 0, 0]).encoded,
        ACLData(handle: handle, boundary: .firstNonFlushable, payload: [2, 0, 6, 0, 1, 0]).encoded,
      ]
    var (sent, links) = (0, 0)
    // Another controller connects whenever the host happens to advertise.
    let other = ControllerPair.host(in: air)
    try await other.setUp()
    var packets: [[UInt8]] = []
    hostile(seeds) { packets.append($0) }
    for packet in packets {
      host.controller.send(packet)
      sent += 1
      // Let the air answer: links start and end in between.
      guard sent % 50 == 0 else { continue }
      other.forget()
      other.send(LECreateConnection.create(PeerAddress(VirtualController.defaultAddress, .public), timeout: 100))
      try await EventLoop.shared.sleep(for: .milliseconds(100))
      if other.events.contains(where: { if case .leConnectionComplete = $0 { true } else { false } }) { links += 1 }
    }
    #expect(links > 0)
    #expect(sent > 100_000)
    host.controller.close()
    other.controller.close()
    try await EventLoop.shared.sleep(for: .seconds(60))
    // The controller still works.
    let again = TestHost(air: air)
    try await again.setUp()
    #expect(try await again.connect(device.address).status == .success)
    again.controller.close()
  }
}

extension TestDevice {
  static nonisolated var nobody: PeerAddress { PeerAddress(Address(rawValue: 0xD1FF_FFFF_FFFF), .random) }
}
