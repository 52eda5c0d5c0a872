import BluetoothLESimulator
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct VirtualControllerLinkTests {
  // MARK: Connecting

  @Test(.onLoop, arguments: [false, true])
  @LoopActor func connectsAndDisconnects(extended: Bool) async throws {
    let it = try await LinkedController { $0.extended = extended }
    let peer = it.device.address
    let create: any Command = extended ? LEExtendedCreateConnection.extendedCreate(peer) : LECreateConnection.create(peer)
    #expect(try await it.host.status(create) == .success)
    #expect(try await it.host.status(create) == .commandDisallowed)
    let link = try await it.host.connectionComplete()
    #expect(link.status == .success)
    #expect(it.device.links == 1)
    #expect(
      try await it.host.status(create) == .connectionAlreadyExists)
    #expect(try await it.host.status(Disconnect(handle: link.handle, reason: .success)) == .invalidParameters)
    #expect(try await it.host.status(Disconnect(handle: link.handle, reason: .remoteUserTerminated)) == .success)
    #expect(try await it.host.status(Disconnect(handle: link.handle, reason: .remoteUserTerminated)) == .commandDisallowed)
    #expect(try await it.host.disconnection() == .terminatedByLocalHost)
    #expect(it.device.closed == .remoteUserTerminated)
    // Repeat it.
    #expect(try await it.host.status(create) == .success)
    #expect(try await it.host.connectionComplete().handle == link.handle)
    it.host.controller.close()
  }

  @Test(.onLoop) @LoopActor func cancelling() async throws {
    let it = try await LinkedController()
    try await it.host.status(.create(TestDevice.nobody))
    try await EventLoop.shared.sleep(for: .seconds(10))
    #expect(try await it.host.complete(LECreateConnectionCancel()) == .success(.init()))
    let complete = try await it.host.connectionComplete()
    #expect(complete.status == .unknownConnectionIdentifier)
    #expect(complete.peer == TestDevice.nobody)
    #expect(try await it.host.complete(LECreateConnectionCancel()) == .failure(.commandDisallowed))
    #expect(try await it.host.connect(it.device.address).status == .success)
    it.host.controller.close()
  }

  @Test(.onLoop) @LoopActor func whoDoesNotAcceptOrIsOfTheOtherTypeIsWaitedFor() async throws {
    let it = try await LinkedController()
    it.device.advertising.isConnectable = false
    try await it.host.status(.create(it.device.address))
    try await EventLoop.shared.sleep(for: .seconds(10))
    #expect(it.device.links == 0)
    it.device.advertising.isConnectable = true
    #expect(try await it.host.connectionComplete().status == .success)
    it.host.controller.close()

    let other = try await LinkedController()
    try await other.host.status(.create(PeerAddress(other.device.address.address, .public)))
    try await EventLoop.shared.sleep(for: .seconds(10))
    #expect(other.device.links == 0)
    other.host.controller.close()
  }

  @Test(.onLoop) @LoopActor func severalLinksAtATime() async throws {
    let air = Air()
    let devices = (1...3).map { TestDevice($0) }
    for device in devices { air.add(device) }
    let host = TestHost(air: air) { $0.maxConnections = 3 }
    try await host.setUp()
    var handles: [ConnectionHandle] = []
    for device in devices { handles.append(try await host.connect(device.address).handle) }
    #expect(Set(handles).count == 3)
    #expect(try await host.status(.create(TestDevice.nobody)) == .connectionLimitExceeded)
    for (index, handle) in handles.enumerated() { try await host.send([UInt8(index)], handle: handle) }
    try await host.wait { devices.allSatisfy { !$0.received.isEmpty } && host.credits == 8 }
    #expect(devices.map(\.received) == [[[0]], [[1]], [[2]]])
    // A second host finds no free device.
    let second = TestHost(air: air)
    try await second.setUp()
    try await second.status(.create(devices[0].address))
    try await EventLoop.shared.sleep(for: .seconds(5))
    #expect(devices[0].links == 1)
    try await host.status(Disconnect(handle: handles[0], reason: .remoteUserTerminated))
    #expect(try await second.connectionComplete().status == .success)
    host.controller.close()
    second.controller.close()
  }

  // MARK: Data

  @Test(.onLoop, arguments: [(251, 8), (27, 1), (27, 8), (64, 3), (192, 1)])
  @LoopActor func dataCrossesWholeBothWays(length: Int, buffers: Int) async throws {
    let it = try await LinkedController {
      $0.bufferLength = length
      $0.buffers = buffers
    }
    it.device.onReceive = { pdu, channel in channel.send(pdu.reversed()) }
    let link = try await it.host.connect(it.device.address, interval: 6)
    let pdus = [0, 1, 20, 23, 24, 100, 244, 247, 248, 512, 517].map { count in (0..<count).map { UInt8(truncatingIfNeeded: $0) } }
    for pdu in pdus { try await it.host.send(pdu, handle: link.handle, length: length) }
    try await it.host.wait { it.host.frames.map(\.count).reduce(0, +) == pdus.reduce(0) { $0 + $1.count + 4 } }
    #expect(it.device.received == pdus)
    #expect(it.host.frames.map { Array($0.dropFirst(4)) } == pdus.map { $0.reversed() })
    try await it.host.wait { it.host.credits == buffers }
    #expect(it.host.controller.violations.isEmpty)
    // LL PDUs keep their default length: no longer ones were requested.
    #expect(it.host.acl.allSatisfy { $0.payload.count <= 27 && $0.handle == link.handle })
    it.host.controller.close()
  }

  @Test(.onLoop) @LoopActor func packetsAreCompletedWhenThePeerHasThem() async throws {
    let it = try await LinkedController()
    let link = try await it.host.connect(it.device.address, interval: 800, timeout: 3200)
    // Let the first connection event pass.
    try await EventLoop.shared.sleep(for: .milliseconds(500))
    try await it.host.send([1], handle: link.handle)
    try await EventLoop.shared.sleep(for: .milliseconds(400))
    #expect(it.host.credits == 7)
    #expect(it.device.received.isEmpty)
    try await EventLoop.shared.sleep(for: .milliseconds(200))
    #expect(it.host.credits == 8)
    #expect(it.device.received == [[1]])
    it.host.controller.close()
  }

  @Test(.onLoop) @LoopActor func aHostThatDoesNotCountIsToldSo() async throws {
    let it = try await LinkedController { $0.buffers = 2 }
    let link = try await it.host.connect(it.device.address)
    it.host.credits = 5
    for number in 0..<5 { try await it.host.send([UInt8(number)], handle: link.handle) }
    try await it.host.wait { it.device.received.count == 2 }
    #expect(it.host.events.filter { $0 == .other(code: 0x1A, [0x01]) }.count == 3)
    #expect(it.host.controller.violations.count == 3)
    it.host.credits = 2
    // Longer than a buffer.
    it.host.controller.send(
      ACLData(handle: link.handle, boundary: .firstNonFlushable, payload: [UInt8](repeating: 0, count: 252)).encoded)
    try await it.host.wait { it.host.controller.violations.count == 4 }
    it.host.controller.close()
  }

  @Test(.onLoop) @LoopActor func backPressureOnTheDevice() async throws {
    let it = try await LinkedController()
    let link = try await it.host.connect(it.device.address, interval: 6)
    let channel = try #require(it.device.channel)
    for number in 0..<100 {
      _ = try await channel.waitUntilWritable(until: nil)
      channel.send([UInt8](repeating: UInt8(number), count: 20))
      #expect(it.host.frames.count >= number - 8)
    }
    try await it.host.wait { it.host.frames.count == 100 }
    #expect(it.host.frames.map { $0[4] } == Array(0..<100))
    // Closing the link ends the wait.
    let waiting = EventLoop.shared.spawn { () async -> ControllerErrorCode? in
      for _ in 0..<9 { channel.send([0]) }
      do { _ = try await channel.waitUntilWritable(until: nil) } catch { return error as? ControllerErrorCode }
      return nil
    }
    try await it.host.status(Disconnect(handle: link.handle, reason: .remoteUserTerminated))
    #expect(await waiting.value == .remoteUserTerminated)
    it.host.controller.close()
  }

  // MARK: Ends

  @Test(.onLoop) @LoopActor func theDeviceHangsUp() async throws {
    let it = try await LinkedController()
    for reason in [ControllerErrorCode.remoteUserTerminated, .remotePowerOff, .remoteLowResources] {
      let handle = try await it.host.connect(it.device.address).handle
      if reason == .remoteUserTerminated { it.device.channel?.close() } else { it.device.channel?.terminate(reason: reason) }
      #expect(try await it.host.disconnection() == reason)
      #expect(it.device.closed == .terminatedByLocalHost)
      #expect(try await it.host.complete(ReadRSSI(handle: handle)) == .failure(.unknownConnectionIdentifier))
      it.device.channel?.close()
      it.device.channel?.send([1])
    }
    it.host.controller.close()
  }

  @Test(.onLoop) @LoopActor func theDeviceWalksAway() async throws {
    let it = try await LinkedController()
    _ = try await it.host.connect(it.device.address, timeout: 200)
    try await EventLoop.shared.sleep(for: .seconds(10))
    let start = EventLoop.shared.now
    it.device.channel?.cut()
    #expect(try await it.host.disconnection() == .connectionTimeout)
    #expect((1950...2000).contains(start.duration(to: EventLoop.shared.now).inMilliseconds))
    #expect(it.device.closed == .connectionTimeout)
    it.host.controller.close()
  }

  @Test(.onLoop) @LoopActor func theSecondConnectionFailsToBeEstablished() async throws {
    let it = try await LinkedController()
    it.air.faults.failingConnections = [2]
    for attempt in 1...3 {
      let handle = try await it.host.connect(it.device.address).handle
      if attempt == 2 {
        #expect(try await it.host.disconnection() == .connectionFailedToBeEstablished)
      } else {
        try await it.host.status(Disconnect(handle: handle, reason: .remoteUserTerminated))
        #expect(try await it.host.disconnection() == .terminatedByLocalHost)
      }
    }
    #expect(it.device.links == 2)
    it.host.controller.close()
  }

  @Test(.onLoop) @LoopActor func theLinkBreaksInATransfer() async throws {
    let it = try await LinkedController()
    it.air.faults.cutAfterBytes = 10_000
    let handle = try await it.host.connect(it.device.address, interval: 6).handle
    for _ in 0..<100 { try await it.host.send([UInt8](repeating: 1, count: 244), handle: handle) }
    #expect(try await it.host.disconnection() == .connectionTimeout)
    // The last whole frame before the cut.
    #expect(it.device.received.count == 10_000 / 248)
    it.host.controller.close()
  }
}
