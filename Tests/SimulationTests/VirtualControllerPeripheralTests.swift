import BluetoothLESimulator
import TestSupport

/// Tests links between two controllers of one air, with raw HCI at both ends.
@Suite(.timeLimit(.minutes(15))) struct VirtualControllerPeripheralTests {
  @LoopActor private static func seconds(since start: LoopClock.Instant) -> Double {
    Double(start.duration(to: EventLoop.shared.now).inMilliseconds) / 1000
  }

  // MARK: Connecting

  @Test(.onLoop, arguments: [false, true]) @LoopActor func bothSidesOfAConnection(extended: Bool) async throws {
    let it = try await ControllerPair()
    if extended {
      try await it.peripheral.advertise(set: 5, 0x01, secondary: 2, maxEvents: 200)
      // The connection starts on the PHY of the secondary PDU, so the central must allow it.
      try await it.central.status(.extendedCreate(ControllerPair.peer))
      try await EventLoop.shared.sleep(for: .seconds(5))
      #expect(it.peripheral.events.isEmpty)
      try await it.central.complete(LECreateConnectionCancel())
      _ = try await it.central.connectionComplete()
      var create = LEExtendedCreateConnection.extendedCreate(ControllerPair.peer)
      create.phys = [.le1M, .le2M]
      create.initiating += create.initiating
      try await it.central.status(create)
    } else {
      try await it.peripheral.advertise()
      try await it.central.status(.create(ControllerPair.peer, interval: 40, latency: 2, timeout: 600))
    }
    let (mine, theirs) = (try await it.central.connectionComplete(), try await it.peripheral.connectionComplete())
    #expect(mine.status == .success && mine.role == 0 && mine.peer == ControllerPair.peer)
    #expect(theirs.status == .success && theirs.role == 1 && theirs.peer == PeerAddress(VirtualController.defaultAddress, .public))
    #expect(theirs.interval == mine.interval && theirs.latency == mine.latency && theirs.supervisionTimeout == mine.supervisionTimeout)
    #expect(theirs.interval == (extended ? 24 : 40))
    if extended {
      let end = try await it.peripheral.termination()
      #expect(end.status == .success && end.set == 5 && end.handle == theirs.handle && end.events > 40)
      #expect(try await it.central.complete(LEReadPHY(handle: mine.handle)) == .success(.init(handle: mine.handle, tx: 2, rx: 2)))
    } else {
      #expect(it.peripheral.events.isEmpty)
    }
    #expect(try await it.peripheral.complete(ReadRSSI(handle: theirs.handle)) == .success(.init(handle: theirs.handle, rssi: -60)))
    // Advertising has ended, until the host starts it again.
    try await it.central.scan(active: false, extended: extended)
    try await EventLoop.shared.sleep(for: .seconds(2))
    #expect(it.central.reports.isEmpty)
    let refused: ControllerErrorCode?
    if extended {
      refused = try await it.peripheral.refusal(LESetExtendedAdvertisingEnable(true, sets: [.init(advertisingHandle: 5)]))
    } else {
      refused = try await it.peripheral.refusal(LESetAdvertisingEnable(true))
    }
    #expect(refused == nil)
    try await EventLoop.shared.sleep(for: .seconds(2))
    #expect(it.central.reports.count >= 10)
    it.close()
  }

  /// One host is central and peripheral at the same time, and a full central takes no more links.
  @Test(.onLoop) @LoopActor func severalCentralsAtATime() async throws {
    let air = Air()
    let device = TestDevice()
    air.add(device)
    let hub = ControllerPair.host(in: air) { $0.maxConnections = 4 }
    try await hub.setUp()
    _ = try await hub.connect(device.address)
    let centrals = ([0x20, 0x21, 0x22] as [UInt64]).map { ControllerPair.host(in: air, $0) }
    var handles: [(central: ConnectionHandle, hub: ConnectionHandle)] = []
    for central in centrals {
      try await central.setUp()
      try await hub.advertise()
      let mine = try await central.connect(ControllerPair.peer)
      let theirs = try await hub.connectionComplete()
      #expect(theirs.peer.address.rawValue == 0x5E00_5320 + UInt64(handles.count))
      handles.append((mine.handle, theirs.handle))
    }
    #expect(Set(handles.map(\.hub)).count == 3)
    for (index, central) in centrals.enumerated() {
      try await central.send([UInt8(index)], handle: handles[index].central)
      try await hub.send([UInt8(index) + 10], handle: handles[index].hub)
    }
    try await hub.wait { hub.acl.count == 3 && hub.credits == 8 }
    for (index, central) in centrals.enumerated() {
      try await central.wait { central.frames == [[1, 0, 4, 0, UInt8(index) + 10]] && central.credits == 8 }
      #expect(hub.acl.contains { $0.handle == handles[index].hub && $0.payload == [1, 0, 4, 0, UInt8(index)] })
    }
    // The end of one link leaves the others alone, and makes room.
    try await centrals[1].status(Disconnect(handle: handles[1].central, reason: .remoteUserTerminated))
    #expect(try await hub.disconnection() == .remoteUserTerminated)
    try await hub.advertise()
    #expect(try await centrals[1].connect(ControllerPair.peer).status == .success)
    #expect(try await hub.connectionComplete().handle == handles[1].hub)
    try await EventLoop.shared.sleep(for: .seconds(10))
    #expect(
      centrals.allSatisfy { !$0.events.contains { if case .disconnectionComplete = $0 { true } else { false } } || $0 === centrals[1] })
    for host in centrals + [hub] { host.controller.close() }
  }

  /// Two centrals answer the same advertisement: one gets the link, the other waits for the next start.
  @Test(.onLoop) @LoopActor func twoCentralsContend() async throws {
    let it = try await ControllerPair()
    let other = ControllerPair.host(in: it.air, 0x22)
    try await other.setUp()
    for host in [it.central, other] { try await host.status(.create(ControllerPair.peer)) }
    try await it.peripheral.advertise()
    let first = try await it.peripheral.connectionComplete()
    try await EventLoop.shared.sleep(for: .seconds(5))
    func isConnected(_ host: TestHost) -> Bool { host.events.contains { if case .leConnectionComplete = $0 { true } else { false } } }
    #expect([it.central, other].count { isConnected($0) } == 1 && it.peripheral.events.isEmpty)
    try await it.peripheral.advertise()
    let second = try await it.peripheral.connectionComplete()
    #expect(first.handle != second.handle && first.peer != second.peer)
    other.controller.close()
    it.close()
  }

  /// A central that does not get through (0x3E) leaves no link at the peripheral, which goes on to advertise.
  @Test(.onLoop) @LoopActor func aConnectionFailsToBeEstablished() async throws {
    let it = try await ControllerPair()
    it.air.faults.failingConnections = [1]
    try await it.peripheral.advertise()
    _ = try await it.central.connect(ControllerPair.peer)
    #expect(try await it.central.disconnection() == .connectionFailedToBeEstablished)
    #expect(it.peripheral.events.isEmpty)
    #expect(try await it.central.connect(ControllerPair.peer).status == .success)
    _ = try await it.peripheral.connectionComplete()
    it.close()
  }

  // MARK: Data

  @Test(.onLoop, arguments: [(251, 8), (27, 1), (64, 3)]) @LoopActor func dataCrossesBothWays(length: Int, buffers: Int) async throws {
    let it = try await ControllerPair {
      $0.bufferLength = length
      $0.buffers = buffers
    }
    let handle = try await it.connect()
    let pdus = [0, 1, 23, 27, 100, 247, 512].map { count in (0..<count).map { UInt8(truncatingIfNeeded: $0) } }
    for pdu in pdus {
      try await it.central.send(pdu, handle: handle.central, length: length)
      try await it.peripheral.send(pdu.reversed(), handle: handle.peripheral, length: length)
    }
    for (host, sent) in [(it.central, pdus.map { $0.reversed() }), (it.peripheral, pdus)] {
      try await host.wait { host.frames.map(\.count).reduce(0, +) == pdus.reduce(0) { $0 + $1.count + 4 } && host.credits == buffers }
      #expect(host.frames.map { Array($0.dropFirst(4)) } == sent)
      #expect(host.controller.violations.isEmpty && host.acl.allSatisfy { $0.payload.count <= 27 })
    }
    it.close()
  }

  /// The peripheral's buffers have limits like the central's: what exceeds them is lost, with an event.
  @Test(.onLoop) @LoopActor func buffersOfThePeripheral() async throws {
    let it = try await ControllerPair { $0.buffers = 2 }
    let handle = try await it.connect()
    it.peripheral.credits = 5
    for number in 0..<5 { try await it.peripheral.send([UInt8(number)], handle: handle.peripheral) }
    try await it.central.wait { it.central.frames.count == 2 }
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(it.central.frames.map { $0[4] } == [0, 1])
    #expect(it.peripheral.events.filter { $0 == .other(code: 0x1A, [0x01]) }.count == 3)
    #expect(it.peripheral.credits == 2 && it.peripheral.controller.violations.count == 3)
    it.close()
  }

  /// Data of the peripheral go at the pace of the link: 5 PDUs with 251 bytes, of 1.392 ms each with the answer, fit into 7.5 ms on 2M.
  @Test(.onLoop) @LoopActor func throughputOfThePeripheral() async throws {
    let it = try await ControllerPair()
    for host in [it.central, it.peripheral] {
      try await host.complete(LEWriteSuggestedDefaultDataLength(txOctets: 251, txTime: 2120))
      try await host.complete(LESetDefaultPHY(allPHYs: 0, tx: .le2M, rx: .le2M))
    }
    let handle = try await it.connect()
    try await EventLoop.shared.sleep(for: .seconds(1))
    let start = EventLoop.shared.now
    for _ in 0..<400 { try await it.peripheral.send([UInt8](repeating: 1, count: 247), handle: handle.peripheral) }
    try await it.central.wait { it.central.frames.count == 400 }
    let events = Double(start.duration(to: EventLoop.shared.now).inMilliseconds) / 7.5
    #expect((79...81).contains(events), "\(events)")
    it.close()
  }

  // MARK: Procedures

  @Test(.onLoop, arguments: [true, false]) @LoopActor func updatesAreToldToBoth(byCentral: Bool) async throws {
    let it = try await ControllerPair()
    let handle = try await it.connect()
    let (host, own) = byCentral ? (it.central, handle.central) : (it.peripheral, handle.peripheral)
    let (other, others) = byCentral ? (it.peripheral, handle.peripheral) : (it.central, handle.central)
    // The other side keeps to 27 bytes, because its host asked for nothing else.
    #expect(try await host.refusal(LESetDataLength(handle: own, txOctets: 100, txTime: 2120)) == nil)
    try await host.event { if case .leDataLengthChange(own, 100, 912, 27, 328) = $0 { () } else { nil } }
    try await other.event { if case .leDataLengthChange(others, 27, 328, 100, 912) = $0 { () } else { nil } }
    #expect(try await other.refusal(LESetDataLength(handle: others, txOctets: 251, txTime: 2120)) == nil)
    try await host.event { if case .leDataLengthChange(own, 100, 912, 251, 2120) = $0 { () } else { nil } }
    try await other.event { if case .leDataLengthChange(others, 251, 2120, 100, 912) = $0 { () } else { nil } }

    try await host.status(LESetPHY(handle: own, allPHYs: 0, tx: .le2M, rx: .coded, options: 0))
    try await host.event { if case .lePHYUpdateComplete(.success, own, tx: 2, rx: 3) = $0 { () } else { nil } }
    try await other.event { if case .lePHYUpdateComplete(.success, others, tx: 3, rx: 2) = $0 { () } else { nil } }
    #expect(try await other.complete(LEReadPHY(handle: others)) == .success(.init(handle: others, tx: 3, rx: 2)))
    // Without a change, only the side that asked is told.
    try await host.status(LESetPHY(handle: own, allPHYs: 0, tx: .le2M, rx: .coded, options: 0))
    try await host.event { if case .lePHYUpdateComplete(.success, own, tx: 2, rx: 3) = $0 { () } else { nil } }
    // The answers to questions go to the side that asked.
    try await host.status(LEReadRemoteFeatures(handle: own))
    try await host.status(ReadRemoteVersion(handle: own))
    let features: LEFeatures = try await host.event { if case .leReadRemoteFeaturesComplete(.success, own, let f) = $0 { f } else { nil } }
    #expect(features == [.encryption, .peripheralInitiatedFeatures, .dataLengthExtension, .phy2M, .phyCoded])
    try await host.event { if case .readRemoteVersionComplete(.success, own, 13, _, _) = $0 { () } else { nil } }
    #expect(other.events.isEmpty)

    let new = ConnectionParameters(intervalMin: 12, intervalMax: 20, latency: 3, supervisionTimeout: 300)
    if byCentral {
      #expect(try await host.status(LEConnectionUpdate(handle: own, new)) == .success)
      for (host, handle) in [(host, own), (other, others)] {
        try await host.event { if case .leConnectionUpdateComplete(.success, handle, 12, 3, 300) = $0 { () } else { nil } }
      }
    } else {
      // A peripheral asks through L2CAP.
      #expect(try await host.status(LEConnectionUpdate(handle: own, new)) == .unsupportedRemoteFeature)
    }
    it.close()
  }

  /// A PHY that the other host does not want stays out of use, and defaults of both hosts apply at once.
  @Test(.onLoop) @LoopActor func wishesOfBothHosts() async throws {
    let it = try await ControllerPair()
    try await it.peripheral.complete(LESetDefaultPHY(allPHYs: 0, tx: .le1M, rx: .le2M))
    try await it.peripheral.complete(LEWriteSuggestedDefaultDataLength(txOctets: 200, txTime: 2120))
    let handle = try await it.connect()
    try await it.central.event { if case .leDataLengthChange(handle.central, 27, _, 200, _) = $0 { () } else { nil } }
    try await it.central.event { if case .lePHYUpdateComplete(.success, handle.central, tx: 2, rx: 1) = $0 { () } else { nil } }
    try await it.peripheral.event { if case .lePHYUpdateComplete(.success, handle.peripheral, tx: 1, rx: 2) = $0 { () } else { nil } }
    try await it.central.status(LESetPHY(handle: handle.central, allPHYs: 0, tx: .le2M, rx: .le2M, options: 0))
    try await it.central.event { if case .lePHYUpdateComplete(.success, handle.central, tx: 2, rx: 1) = $0 { () } else { nil } }
    it.close()
  }

  @Test(.onLoop) @LoopActor func tooManyProceduresOfOneSideLeaveTheOtherItsOwn() async throws {
    let it = try await ControllerPair()
    let handle = try await it.connect()
    for (host, handle) in [(it.central, handle.central), (it.peripheral, handle.peripheral)] {
      for _ in 0..<16 { #expect(try await host.status(LEReadRemoteFeatures(handle: handle)) == .success) }
      #expect(try await host.status(LEReadRemoteFeatures(handle: handle)) == .controllerBusy)
    }
    for host in [it.central, it.peripheral] {
      for _ in 0..<16 { try await host.event { if case .leReadRemoteFeaturesComplete = $0 { () } else { nil } } }
    }
    it.close()
  }

  // MARK: Encryption

  /// The key that the peripheral's host gives to a request, and what happens then.
  @LoopActor private static func request(_ host: TestHost, _ handle: ConnectionHandle) async throws {
    try await host.event { if case .leLongTermKeyRequest(handle, random: 7, ediv: 8) = $0 { () } else { nil } }
  }

  @Test(.onLoop) @LoopActor func encryption() async throws {
    let it = try await ControllerPair()
    let handle = try await it.connect()
    let enable = LEEnableEncryption(handle: handle.central, random: 7, ediv: 8, longTermKey: 9)
    // Only a central starts encryption, and only a request can be answered.
    #expect(
      try await it.peripheral.status(LEEnableEncryption(handle: handle.peripheral, random: 7, ediv: 8, longTermKey: 9))
        == .commandDisallowed)
    #expect(try await it.peripheral.refusal(LELongTermKeyRequestReply(handle: handle.peripheral, 9)) == .commandDisallowed)
    #expect(try await it.peripheral.refusal(LELongTermKeyRequestReply(handle: 1, 9)) == .unknownConnectionIdentifier)

    #expect(try await it.central.status(enable) == .success)
    try await Self.request(it.peripheral, handle.peripheral)
    // Data wait for the key.
    try await it.central.send([1], handle: handle.central)
    try await it.peripheral.send([2], handle: handle.peripheral)
    try await EventLoop.shared.sleep(for: .seconds(10))
    #expect(it.central.acl.isEmpty && it.peripheral.acl.isEmpty)
    #expect(
      try await it.peripheral.complete(LELongTermKeyRequestNegativeReply(handle: handle.peripheral)) == .success(.init(handle.peripheral)))
    try await it.central.event { if case .encryptionChange(.pinOrKeyMissing, handle.central, false, nil) = $0 { () } else { nil } }
    try await it.central.wait { it.central.acl.count == 1 }
    try await it.peripheral.wait { it.peripheral.acl.count == 1 && it.peripheral.credits == 8 }
    #expect(it.peripheral.events.allSatisfy { if case .numberOfCompletedPackets = $0 { true } else { false } })

    // The same key encrypts the link, and a second time refreshes it.
    for isFirst in [true, false] {
      #expect(try await it.central.status(enable) == .success)
      try await Self.request(it.peripheral, handle.peripheral)
      #expect(try await it.peripheral.refusal(LELongTermKeyRequestReply(handle: handle.peripheral, 9)) == nil)
      for (host, handle) in [(it.central, handle.central), (it.peripheral, handle.peripheral)] {
        try await host.event {
          switch $0 {
          case .encryptionChange(.success, handle, true, nil): isFirst ? () : nil
          case .encryptionKeyRefreshComplete(.success, handle): isFirst ? nil : ()
          default: nil
          }
        }
      }
    }
    #expect(try await it.peripheral.refusal(LELongTermKeyRequestReply(handle: handle.peripheral, 9)) == .commandDisallowed)

    // Another key ends the link for both.
    #expect(try await it.central.status(enable) == .success)
    try await Self.request(it.peripheral, handle.peripheral)
    #expect(try await it.peripheral.refusal(LELongTermKeyRequestReply(handle: handle.peripheral, 10)) == nil)
    for host in [it.central, it.peripheral] { #expect(try await host.disconnection() == .micFailure) }
    it.close()
  }

  /// A host that masks the request has no key. A host that never answers loses the link.
  @Test(.onLoop) @LoopActor func noAnswerToAKeyRequest() async throws {
    let it = try await ControllerPair()
    let handle = try await it.connect()
    let enable = LEEnableEncryption(handle: handle.central, random: 7, ediv: 8, longTermKey: 9)
    try await it.peripheral.complete(LESetEventMask(.max & ~0x10))
    #expect(try await it.central.status(enable) == .success)
    try await it.central.event { if case .encryptionChange(.pinOrKeyMissing, handle.central, false, nil) = $0 { () } else { nil } }
    try await it.peripheral.complete(LESetEventMask(.max))
    #expect(try await it.central.status(enable) == .success)
    try await Self.request(it.peripheral, handle.peripheral)
    let start = EventLoop.shared.now
    for host in [it.central, it.peripheral] { #expect(try await host.disconnection() == .llResponseTimeout) }
    #expect((39.9...40.1).contains(Self.seconds(since: start)))
    it.close()
  }

  // MARK: Ends

  @Test(.onLoop) @LoopActor func eitherSideDisconnects() async throws {
    let it = try await ControllerPair()
    for (isCentral, reason) in [(true, ControllerErrorCode.remoteUserTerminated), (false, .remoteUserTerminated), (false, .remotePowerOff)]
    {
      let handle = try await it.connect()
      let (host, own) = isCentral ? (it.central, handle.central) : (it.peripheral, handle.peripheral)
      #expect(try await host.status(Disconnect(handle: own, reason: reason)) == .success)
      #expect(try await host.status(Disconnect(handle: own, reason: reason)) == .commandDisallowed)
      #expect(try await host.disconnection() == .terminatedByLocalHost)
      #expect(try await (isCentral ? it.peripheral : it.central).disconnection() == reason)
      #expect(try await host.refusal(ReadRSSI(handle: own)) == .unknownConnectionIdentifier)
    }
    it.close()
  }

  /// Reset and an unplugged adapter say nothing to the other side, which waits for the supervision timeout.
  @Test(.onLoop, arguments: ["reset", "close"], [true, false]) @LoopActor func oneSideIsGone(_ how: String, isCentral: Bool) async throws {
    let it = try await ControllerPair()
    let handle = try await it.connect(timeout: 200)
    try await it.peripheral.advertise()
    try await EventLoop.shared.sleep(for: .seconds(1))
    let (gone, other) = isCentral ? (it.central, it.peripheral) : (it.peripheral, it.central)
    let start = EventLoop.shared.now
    if how == "reset" { try await gone.complete(Reset()) } else { gone.controller.close() }
    #expect(try await other.disconnection() == .connectionTimeout)
    #expect((1.9...2.1).contains(Self.seconds(since: start)))
    #expect(!gone.events.contains { if case .disconnectionComplete = $0 { true } else { false } })
    if how == "reset" {
      #expect(try await gone.refusal(ReadRSSI(handle: isCentral ? handle.central : handle.peripheral)) == .unknownConnectionIdentifier)
      try await gone.setUp()
    }
    if !isCentral {
      // The advertisements have ended too.
      try await it.central.scan(active: false, extended: false)
      try await EventLoop.shared.sleep(for: .seconds(5))
      #expect(it.central.reports.isEmpty)
      try await it.central.stopScan(extended: false)
    }
    if how == "reset" {
      try await it.peripheral.complete(LESetAdvertisingEnable(false))
      #expect(try await it.connect().central == handle.central)
    }
    it.close()
  }

  @Test(.onLoop) @LoopActor func bothNoticeTheLossOfContact() async throws {
    let it = try await ControllerPair()
    it.air.faults.cutAfterBytes = 5000
    let handle = try await it.connect(timeout: 100)
    for _ in 0..<40 { try await it.peripheral.send([UInt8](repeating: 1, count: 244), handle: handle.peripheral) }
    for host in [it.central, it.peripheral] { #expect(try await host.disconnection() == .connectionTimeout) }
    #expect(it.central.frames.count { $0.count == 248 } == 5000 / 248)
    it.close()
  }
}
