import Glibc
import TestSupport

@testable import BluetoothLELinux

private let peer = PeerAddress(Address(rawValue: 0xF0F1_F2F3_F4F5), .random)

@LoopActor
private final class Recorder: Tap {
  var packets: [[UInt8]] = []
  func record(_ packet: [UInt8], _ direction: Direction, isOurs: Bool) { packets.append(packet) }
}

@LoopActor
private final class Rig {
  let controller = FakeController()
  let pair = SocketPair()
  let central: KernelCentral
  let link: KernelLink
  let tap = Recorder()
  private(set) var ending: SocketEnd?

  /// - Parameter seen: Whether the raw socket saw the connection start.
  init(
    to peer: PeerAddress = peer, seen: Bool = true, madeByUs: Bool = true, supported: [Opcode] = LinkRequestCase.modern
  ) throws {
    let adapter = AdapterInfo(index: 0, address: nil, isUp: true, bus: "virtual", le: true)
    let hci = HCISocket(controller.pair.takeOther(), name: "hci0", tap: nil)
    central = KernelCentral(adapter, hci, tap: nil)
    central.isUp = { _ in true }
    central.discovery.isActive = { _ in nil }
    let complete = Event.ConnectionComplete(
      status: .success, handle: 0x40, peer: peer, interval: 40, latency: 0, supervisionTimeout: 42)
    if seen { try controller.pair.write(Event.leConnectionComplete(complete).encoded) }
    hci.pump()
    let socket = L2CAPSocket(pair.takeOther()) { SocketEnd(peer, .errno($0)) }
    link = KernelLink(central, peer, socket, handle: 0x40, madeByUs: madeByUs, tap: tap)
    socket.handler = { [unowned self] event in if case .closed(let error) = event { ending = error as? SocketEnd } }
    answer(ReadLocalSupportedCommands.self, .init(SupportedCommands(supported)))
    controller.status(ReadRSSI.opcode, 0x01)
    controller.status(LEReadPHY.opcode, 0x01)
    controller.start()
  }

  func answer<C: Command>(_: C.Type, _ returned: C.Return, then events: Event...) {
    controller.answers[C.opcode] = [.commandComplete(Event.CommandComplete(C.self, returned))] + events
  }

  func accept(_ opcode: Opcode, then events: Event...) {
    controller.answers[opcode] = [.commandStatus(Event.CommandStatus(status: .success, opcode: opcode))] + events
  }
}

@Suite(.timeLimit(.minutes(15))) struct KernelLinkTests {
  @Test(.onLoop) @LoopActor func parameters() async throws {
    let rig = try Rig()
    rig.answer(ReadRSSI.self, .init(handle: 0x40, rssi: -61))
    rig.answer(LEReadPHY.self, .init(handle: 0x40, tx: 2, rx: 2))
    let parameters = try await rig.link.parameters()
    #expect(parameters.interval == .milliseconds(50))
    #expect(parameters.latency == 0)
    #expect(parameters.supervisionTimeout == .milliseconds(420))
    #expect(parameters.rssi == -61)
    #expect(parameters.phy == .le2M)
    #expect(parameters.maxTxOctets == 27)
    rig.controller.stop()
  }

  /// Unknown parameters are nil, as without CAP_NET_RAW or on an earlier link.
  @Test(.onLoop) @LoopActor func whatIsNotKnownIsNil() async throws {
    let rig = try Rig(seen: false, supported: [])
    let parameters = try await rig.link.parameters()
    #expect(parameters.interval == nil)
    #expect(parameters.rssi == nil)
    #expect(parameters.maxTxOctets == nil)
    // The controller does not support LE Read PHY.
    #expect(parameters.phy == .le1M)
    rig.controller.stop()
  }

  @Test(.onLoop) @LoopActor func eventsChangeTheParameters() async throws {
    let rig = try Rig()
    for event in [
      Event.leConnectionUpdateComplete(status: .success, handle: 0x40, interval: 6, latency: 1, supervisionTimeout: 400),
      .leConnectionUpdateComplete(status: .success, handle: 0x41, interval: 100, latency: 0, supervisionTimeout: 400),
      .leConnectionUpdateComplete(status: .unsupportedRemoteFeature, handle: 0x40, interval: 100, latency: 0, supervisionTimeout: 400),
      .leDataLengthChange(handle: 0x40, maxTxOctets: 251, maxTxTime: 2120, maxRxOctets: 100, maxRxTime: 2120),
      .lePHYUpdateComplete(status: .success, handle: 0x40, tx: 3, rx: 3),
    ] { try rig.controller.pair.write(event.encoded) }
    let parameters = try await rig.link.parameters()
    #expect(parameters.interval == .microseconds(7500))
    #expect(parameters.latency == 1)
    #expect(parameters.maxTxOctets == 251)
    #expect(parameters.maxRxOctets == 100)
    #expect(parameters.phy == .coded)
    rig.controller.stop()
  }

  @Test(.onLoop) @LoopActor func interval() async throws {
    let rig = try Rig()
    rig.accept(
      LEConnectionUpdate.opcode,
      then: .leConnectionUpdateComplete(status: .success, handle: 0x41, interval: 9, latency: 0, supervisionTimeout: 400),
      .leConnectionUpdateComplete(status: .success, handle: 0x40, interval: 12, latency: 0, supervisionTimeout: 400))
    #expect(try await rig.link.requestInterval(.milliseconds(15)).interval == .milliseconds(15))
    #expect(
      rig.controller.commands.first == LEConnectionUpdate(handle: 0x40, try ConnectionParameters(interval: .milliseconds(15))))
    rig.accept(
      LEConnectionUpdate.opcode,
      then: .leConnectionUpdateComplete(status: .unacceptableParameters, handle: 0x40, interval: 0, latency: 0, supervisionTimeout: 0))
    let wish = LinkProcedure.connectionInterval(.milliseconds(10))
    await #expect(throws: GAPError.notAgreed(peer, wish, .unacceptableParameters)) {
      _ = try await rig.link.requestInterval(.milliseconds(10))
    }
    rig.accept(LEConnectionUpdate.opcode)
    await #expect(throws: GAPError.noAnswer(peer, wish)) { _ = try await rig.link.requestInterval(.milliseconds(10)) }
    rig.controller.status(LEConnectionUpdate.opcode, 0x0C)
    await #expect(throws: ControllerError("hci0", .refused(LEConnectionUpdate.opcode, .commandDisallowed))) {
      _ = try await rig.link.requestInterval(.milliseconds(10))
    }
    rig.controller.stop()
  }

  /// The kernel accepts the peer's interval. That is reported, and our own request is repeated once.
  @Test(.onLoop) @LoopActor func anIntervalThatThePeerChanges() async throws {
    func changed(_ units: ConnectionInterval, handle: ConnectionHandle = 0x40) -> Event {
      .leConnectionUpdateComplete(status: .success, handle: handle, interval: units, latency: 0, supervisionTimeout: 400)
    }
    let rig = try Rig()
    var notes: [GAPNote] = []
    rig.central.onNote = { notes.append($0) }
    rig.accept(LEConnectionUpdate.opcode, then: changed(12))
    _ = try await rig.link.requestInterval(.milliseconds(15))
    @LoopActor func updates() -> Int { rig.controller.commands.count { $0.opcode == LEConnectionUpdate.opcode } }
    for event in [changed(80, handle: 0x41), changed(12)] { try rig.controller.pair.write(event.encoded) }
    try await rig.pair.settle()
    #expect(updates() == 1 && notes.isEmpty)
    try rig.controller.pair.write(changed(80).encoded)
    try await EventLoop.shared.sleep(for: .milliseconds(100))
    #expect(updates() == 2)
    #expect(notes == [.intervalChanged(peer, to: .milliseconds(100), askingFor: .milliseconds(15))])
    #expect(try await rig.link.parameters().interval == .milliseconds(15))
    try rig.controller.pair.write(changed(80).encoded)
    try await EventLoop.shared.sleep(for: .milliseconds(100))
    #expect(updates() == 2)
    #expect(notes.count == 2 && notes.last == .intervalChanged(peer, to: .milliseconds(100), askingFor: nil))
    #expect(try await rig.link.parameters().interval == .milliseconds(100))
    rig.controller.stop()
  }

  @Test(.onLoop, arguments: LinkRequestCase.all) @LoopActor func theTableOfRequests(_ row: LinkRequestCase) async throws {
    let rig = try Rig(to: LinkRequestCase.peer, supported: row.supported)
    rig.controller.rule = { row.answer(to: $0) }
    await row.check(on: rig.link) { rig.controller.commands }
    rig.controller.stop()
  }

  @Test(.onLoop) @LoopActor func phyAndDataLength() async throws {
    let rig = try Rig()
    rig.accept(LESetPHY.opcode, then: .lePHYUpdateComplete(status: .success, handle: 0x40, tx: 2, rx: 2))
    #expect(try await rig.link.requestPHY(.le2M).phy == .le2M)
    rig.answer(
      LESetDataLength.self, .init(0x40),
      then: .leDataLengthChange(handle: 0x40, maxTxOctets: 251, maxTxTime: 2120, maxRxOctets: 251, maxRxTime: 2120))
    await #expect(throws: GAPError.dataLengthOutOfRange(1000)) { _ = try await rig.link.requestDataLength(1000) }
    #expect(try await rig.link.requestDataLength(251).maxTxOctets == 251)
    #expect(rig.controller.commands.contains(LESetDataLength(handle: 0x40, txOctets: 251, txTime: 2120)))
    // Without a change there is no event, which is not an error.
    rig.answer(LESetDataLength.self, .init(0x40))
    #expect(try await rig.link.requestDataLength(251).maxTxOctets == 251)
    rig.controller.stop()
  }

  @Test(.onLoop) @LoopActor func theReasonComesFromTheEvent() async throws {
    let rig = try Rig()
    try rig.controller.pair.write(
      Event.disconnectionComplete(status: .success, handle: 0x40, reason: .remotePowerOff).encoded)
    rig.pair.close()
    try await rig.pair.settle()
    #expect(rig.ending == SocketEnd(peer, .reason(.remotePowerOff)))
    await #expect(throws: SocketEnd(peer, .errno(nil))) { _ = try await rig.link.parameters() }
    await rig.link.disconnect()
    #expect(rig.controller.commands.isEmpty)
    rig.controller.stop()
  }

  @Test(.onLoop) @LoopActor func anAdapterThatWasSwitchedOffIsNamed() async throws {
    let rig = try Rig()
    rig.central.isUp = { _ in false }
    rig.pair.close()
    try await rig.pair.settle()
    #expect(rig.ending == SocketEnd(peer, .adapterGone("hci0")))
    rig.controller.stop()
  }

  @Test(.onLoop) @LoopActor func ourLinkIsEndedAtOnceAndOnce() async throws {
    let rig = try Rig()
    rig.accept(Disconnect.opcode, then: .disconnectionComplete(status: .success, handle: 0x40, reason: .terminatedByLocalHost))
    let second = EventLoop.shared.spawn { await rig.link.disconnect() }
    await rig.link.disconnect()
    await second.value
    #expect(rig.controller.commands == [Disconnect(handle: 0x40, reason: .remoteUserTerminated)])
    #expect(rig.ending == nil)
    #expect(rig.pair.hasEnded())
    rig.controller.stop()
  }

  @Test(.onLoop) @LoopActor func disconnectingLimitsItself() async throws {
    let rig = try Rig()
    let start = EventLoop.shared.now
    await rig.link.disconnect()
    #expect(start.duration(to: EventLoop.shared.now) < .seconds(6))
    rig.controller.stop()
  }

  @Test(.onLoop) @LoopActor func aLinkThatWasThereBeforeIsLeftToItsOwner() async throws {
    let rig = try Rig(seen: false, madeByUs: false)
    await rig.link.disconnect()
    #expect(rig.controller.commands.isEmpty)
    #expect(rig.pair.hasEnded())
    rig.controller.stop()
  }

  @Test(.onLoop) @LoopActor func theTraceHoldsPDUsAsACLPackets() async throws {
    let rig = try Rig()
    rig.link.channel.send([0x0A, 3, 0])
    try rig.pair.write([0x0B, 0x55])
    try await rig.pair.settle()
    #expect(rig.tap.packets == [[2, 0x40, 0x00, 7, 0, 3, 0, 4, 0, 0x0A, 3, 0], [2, 0x40, 0x20, 6, 0, 2, 0, 4, 0, 0x0B, 0x55]])
    rig.controller.stop()
  }
}
