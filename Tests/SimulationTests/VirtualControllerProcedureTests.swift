import BluetoothLESimulator
import TestSupport

/// Tests link procedures and the device's own requests.
@Suite(.timeLimit(.minutes(15))) struct VirtualControllerProcedureTests {
  // MARK: Procedures

  @Test(.onLoop) @LoopActor func whatALinkReports() async throws {
    let it = try await LinkedController()
    it.device.linkLimits.dataLength = 100
    it.device.linkLimits.phys = [.le1M, .le2M]
    let link = try await it.host.connect(it.device.address)
    let handle = link.handle
    #expect(try await it.host.complete(ReadRSSI(handle: handle)) == .success(.init(handle: handle, rssi: -60)))
    #expect(try await it.host.complete(LEReadPHY(handle: handle)) == .success(.init(handle: handle, tx: 1, rx: 1)))

    try await it.host.status(LEReadRemoteFeatures(handle: handle))
    let features: LEFeatures = try await it.host.event {
      if case .leReadRemoteFeaturesComplete(.success, handle, let f) = $0 { f } else { nil }
    }
    #expect(features == [.encryption, .peripheralInitiatedFeatures, .dataLengthExtension, .phy2M])

    try await it.host.status(ReadRemoteVersion(handle: handle))
    try await it.host.event { if case .readRemoteVersionComplete(.success, handle, 13, _, _) = $0 { () } else { nil } }

    #expect(try await it.host.complete(LESetDataLength(handle: handle, txOctets: 251, txTime: 2120)) == .success(.init(handle)))
    try await it.host.event {
      if case .leDataLengthChange(handle, maxTxOctets: 100, maxTxTime: 912, maxRxOctets: 100, maxRxTime: 912) = $0 { () } else { nil }
    }

    try await it.host.status(LESetPHY(handle: handle, allPHYs: 0, tx: [.le2M, .coded], rx: .coded, options: 0))
    // The sides do not share Coded, so that direction keeps its PHY.
    try await it.host.event { if case .lePHYUpdateComplete(.success, handle, tx: 2, rx: 1) = $0 { () } else { nil } }
    #expect(try await it.host.complete(LEReadPHY(handle: handle)) == .success(.init(handle: handle, tx: 2, rx: 1)))

    let new = ConnectionParameters(intervalMin: 12, intervalMax: 20, latency: 3, supervisionTimeout: 300)
    let start = EventLoop.shared.now
    #expect(try await it.host.status(LEConnectionUpdate(handle: handle, new)) == .success)
    try await it.host.event { if case .leConnectionUpdateComplete(.success, handle, 12, 3, 300) = $0 { () } else { nil } }
    // The instant is at least six events of 30 ms away.
    #expect((180...210).contains(start.duration(to: EventLoop.shared.now).inMilliseconds))

    var bad = new
    bad.supervisionTimeout = 10
    #expect(try await it.host.status(LEConnectionUpdate(handle: handle, bad)) == .invalidParameters)
    it.host.controller.close()
  }

  @Test(.onLoop) @LoopActor func encryptionNeedsTheSameKey() async throws {
    let it = try await LinkedController()
    let handle = try await it.host.connect(it.device.address).handle
    let enable = LEEnableEncryption(handle: handle, random: 7, ediv: 8, longTermKey: 9)
    // The device has no key.
    #expect(try await it.host.status(enable) == .success)
    #expect(try await it.host.status(enable) == .commandDisallowed)
    try await it.host.event { if case .encryptionChange(.pinOrKeyMissing, handle, false, nil) = $0 { () } else { nil } }

    let channel = try #require(it.device.channel)
    let security = LinkSecurity(keySize: 16, isAuthenticated: false, isSecureConnections: true)
    channel.security.bond = Bond(
      identity: it.device.address, irk: nil,
      keys: [LongTermKey(key: 9, ediv: 8, rand: 7, security: security), LongTermKey(key: 10, security: security)], method: .justWorks)
    var changes = 0
    channel.security.onEncrypted = { _, _ in changes += 1 }
    #expect(try await it.host.status(enable) == .success)
    try await it.host.event { if case .encryptionChange(.success, handle, true, nil) = $0 { () } else { nil } }
    #expect(try await it.host.status(enable) == .success)
    try await it.host.event { if case .encryptionKeyRefreshComplete(.success, handle) = $0 { () } else { nil } }
    #expect(changes == 2)

    try await it.host.status(LEEnableEncryption(handle: handle, random: 0, ediv: 0, longTermKey: 9))
    try await it.host.event { if case .disconnectionComplete(.success, handle, .micFailure) = $0 { () } else { nil } }
    it.host.controller.close()
  }

  @Test(.onLoop) @LoopActor func aDeviceOfTheFirstGeneration() async throws {
    let it = try await LinkedController()
    it.device.linkLimits.dataLength = 27
    it.device.linkLimits.phys = [.le1M]
    let handle = try await it.host.connect(it.device.address).handle
    try await it.host.complete(LESetDataLength(handle: handle, txOctets: 251, txTime: 2120))
    try await it.host.status(LESetPHY(handle: handle, allPHYs: 0, tx: .le2M, rx: .le2M, options: 0))
    try await it.host.event { if case .lePHYUpdateComplete(.unsupportedRemoteFeature, handle, tx: 1, rx: 1) = $0 { () } else { nil } }
    // The peer has no support for longer packets, so there is no event.
    try await EventLoop.shared.sleep(for: .seconds(5))
    #expect(!it.host.events.contains { if case .leDataLengthChange = $0 { true } else { false } })
    it.host.controller.close()
  }

  @Test(.onLoop) @LoopActor func defaultsApplyToNewLinks() async throws {
    let it = try await LinkedController()
    try await it.host.complete(LEWriteSuggestedDefaultDataLength(txOctets: 251, txTime: 2120))
    try await it.host.complete(LESetDefaultPHY(allPHYs: 0, tx: .le2M, rx: .le2M))
    let handle = try await it.host.connect(it.device.address).handle
    try await it.host.event { if case .leDataLengthChange(handle, 251, 2120, 251, 2120) = $0 { () } else { nil } }
    try await it.host.event { if case .lePHYUpdateComplete(.success, handle, tx: 2, rx: 2) = $0 { () } else { nil } }
    // Setting the current data length changes nothing.
    let count = it.host.log.count
    try await it.host.complete(LESetDataLength(handle: handle, txOctets: 251, txTime: 2120))
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(it.host.log.count == count + 1)
    it.host.controller.close()
  }

  @Test(.onLoop) @LoopActor func tooManyProceduresAtATime() async throws {
    let it = try await LinkedController()
    let handle = try await it.host.connect(it.device.address).handle
    for _ in 0..<16 { #expect(try await it.host.status(LEReadRemoteFeatures(handle: handle)) == .success) }
    #expect(try await it.host.status(LEReadRemoteFeatures(handle: handle)) == .controllerBusy)
    for _ in 0..<16 { try await it.host.event { if case .leReadRemoteFeaturesComplete = $0 { () } else { nil } } }
    #expect(try await it.host.status(LEReadRemoteFeatures(handle: handle)) == .success)
    it.host.controller.close()
  }

  // MARK: The device's own wishes

  @Test(.onLoop) @LoopActor func signallingAndSecurity() async throws {
    let it = try await LinkedController()
    let handle = try await it.host.connect(it.device.address, interval: 6).handle
    let channel = try #require(it.device.channel)
    // Connection Parameter Update Request (Vol 3 Part A §4.20), Security Request (Part H §3.6.7).
    channel.send([0x12, 7, 8, 0, 6, 0, 12, 0, 1, 0, 200, 0], onChannel: .signalling)
    channel.send([0x0B, 0x01], onChannel: .securityManager)
    try await it.host.wait { it.host.frames.count == 2 }
    #expect(it.host.frames == [[12, 0, 5, 0, 0x12, 7, 8, 0, 6, 0, 12, 0, 1, 0, 200, 0], [2, 0, 6, 0, 0x0B, 0x01]])

    // It rejects unsupported commands, and silently accepts a response.
    try await it.host.send([0x14, 9, 2, 0, 0, 0], onChannel: 5, handle: handle)
    try await it.host.send([0x01, 3, 0, 0, 16, 7, 7], onChannel: 6, handle: handle)
    try await it.host.send([0x13, 7, 2, 0, 0, 0], onChannel: 5, handle: handle)
    try await it.host.send([0xFF], onChannel: 0x40, handle: handle)
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(it.host.frames.dropFirst(2) == [[6, 0, 5, 0, 0x01, 9, 2, 0, 0, 0], [2, 0, 6, 0, 0x05, 0x05]])
    #expect(it.device.received.isEmpty)

    var heard: [ChannelIdentifier] = []
    channel.otherChannels = { cid, _ in heard.append(cid) }
    try await it.host.send([0x13, 7, 2, 0, 0, 0], onChannel: 5, handle: handle)
    try await it.host.wait { heard == [5] }
    it.host.controller.close()
  }

  @Test(.onLoop) @LoopActor func framesThatDoNotAddUpAreDropped() async throws {
    let it = try await LinkedController()
    let handle = try await it.host.connect(it.device.address, interval: 6).handle
    @LoopActor func raw(_ payload: [UInt8], _ boundary: ACLData.Boundary = .firstNonFlushable) {
      it.host.controller.send(ACLData(handle: handle, boundary: boundary, payload: payload).encoded)
    }
    raw([1, 0, 4, 0, 1, 2])  // longer than it says
    raw([9], .continuing)  // of nothing
    raw([3, 0, 4])  // cut in the header
    raw([2, 0, 4, 0, 7, 7])
    raw([3, 0, 4])
    raw([0, 1, 2, 3], .continuing)
    raw([])
    try await it.host.wait { it.device.received.count == 2 }
    #expect(it.device.received == [[7, 7], [1, 2, 3]])
    it.host.controller.close()
  }
}
