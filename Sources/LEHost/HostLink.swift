package import ATT
package import Bluetooth
package import EventLoop
package import GAP
import HCI
import L2CAP

/// One LE ACL link of our own host, central role.
@LoopActor
package final class HostLink: GAP.Link {
  /// Fragments that may wait in this process before writers do: enough to never let the controller run dry, little enough that a
  /// cancelled transfer stops soon and that progress means something.
  private static let writableLimit = 8
  /// Answers to a peer that asks more than it listens are dropped beyond this.
  private static let answerLimit = 64

  package let peer: PeerAddress
  package var channel: any ATT.Channel { att }
  /// Why the link is down; nil while it is up.
  package private(set) var ended: BluetoothError?

  let handle: ConnectionHandle
  let remoteFeaturesRead = PendingEvent<ControllerErrorCode>()
  let intervalUpdated = PendingEvent<ControllerErrorCode>()
  let phyUpdated = PendingEvent<ControllerErrorCode>()
  let dataLengthChanged = PendingEvent<Void>()
  private(set) var remoteFeatures: LEFeatures?
  /// L2CAP frames and fragments that made no sense; they were dropped.
  var dropped: Int { recombination.dropped }

  private let host: HostCentral
  private let att = LinkChannel()
  private let ending = PendingEvent<Void>()
  private let idle = PendingEvent<Void>()
  private var recombination = Recombination()
  private var known = LinkParameters()
  private(set) var isHangingUp = false
  private var isUpdatingForPeer = false
  /// What the user asked for, 1.25 ms units: the peer does not undo it.
  private var pinnedInterval: UInt16?

  init(_ complete: Event.ConnectionComplete, peer: PeerAddress, host: HostCentral) {
    handle = complete.handle
    self.peer = peer
    self.host = host
    att.attach(self)
    note(interval: complete.interval, latency: complete.latency, supervisionTimeout: complete.supervisionTimeout)
    // What a link begins with (Vol 6 Part B §4.5.10); Data Length Change tells when that changes.
    known.maxTxOctets = 27
    known.maxRxOctets = 27
  }

  // MARK: GAP.Link

  package func parameters() async throws -> LinkParameters {
    try check()
    // Neither may make the rest unknown: Bumble's controller has no Read RSSI.
    if let rssi = try await attempt(ReadRSSI(handle: handle))?.rssi, rssi != 127 { known.rssi = rssi }
    if known.phy == nil, host.adapterInfo.supported.contains(LEReadPHY.self) {
      if let phys = try await attempt(LEReadPHY(handle: handle)) { known.phy = PHY(rawValue: phys.tx) }
    }
    return known
  }

  package func requestInterval(_ interval: Duration) async throws -> LinkParameters {
    try check()
    let microseconds = interval.wholeNanoseconds / 1000
    guard (7_500...4_000_000).contains(microseconds) else {
      throw BluetoothError(.usage, "a connection interval is 7.5 ms to 4 s, not \(interval.inMilliseconds) ms")
    }
    let units = UInt16((microseconds + 625) / 1250)
    // Above 2 · interval (Vol 6 Part B §4.5.2), with room for lost packets; 4 s where that is enough.
    let timeout = UInt16(min(3200, max(400, Int(units) * 6 / 8)))
    try await update(
      ConnectionParameters(intervalMin: units, intervalMax: units, latency: 0, supervisionTimeout: timeout),
      "the connection interval")
    pinnedInterval = units
    return known
  }

  package func requestPHY(_ phy: PHY) async throws -> LinkParameters {
    try check()
    guard host.adapterInfo.supported.contains(LESetPHY.self) else { throw unsupported("other PHYs than 1M") }
    let change = phyUpdated.next()
    let mask = PHYMask(phy)
    try await host.controller.perform(LESetPHY(handle: handle, tx: mask, rx: mask))
    guard let status = try await change.value(until: limit()) else {
      throw BluetoothError(.timeout, "\(peer.address) did not answer the request for the \(phy.name) PHY")
    }
    guard status == .success else { throw refused("the \(phy.name) PHY", status) }
    return known
  }

  package func requestDataLength(_ octets: Int) async throws -> LinkParameters {
    try check()
    guard (27...251).contains(octets) else { throw BluetoothError(.usage, "a data length is 27 to 251 octets, not \(octets)") }
    guard host.adapterInfo.supported.contains(LESetDataLength.self) else { throw unsupported("longer data packets") }
    // Nothing would change, and no event would say so.
    if known.maxTxOctets == octets || !(remoteFeatures?.contains(.dataLengthExtension) ?? true) { return known }
    let change = dataLengthChanged.next()
    // The time that the octets take on 1M: preamble 1, access address 4, header 2, MIC 4, CRC 3.
    try await host.controller.perform(
      LESetDataLength(handle: handle, txOctets: UInt16(octets), txTime: max(328, UInt16((octets + 14) * 8))))
    // The event comes only when something changes: the peer may allow less.
    _ = try await change.value(until: limit(atMost: .seconds(2)))
    return known
  }

  package func disconnect() async {
    await shielded { await self.hangUp(within: .seconds(3)) }
  }

  // MARK: For the host

  var isWritable: Bool { host.sendQueue.queued(handle) < Self.writableLimit }

  /// L2CAP frames on their way to the peer's link layer.
  var unacknowledged: Int { host.sendQueue.frames(handle) }

  /// An ATT PDU.
  func transmit(_ pdu: [UInt8]) { host.transmit(L2CAPFrame(channel: .att, payload: pdu), self) }

  func receive(_ data: ACLData) {
    guard let frame = recombination.add(data) else { return }
    switch frame.channel {
    case .att: att.receive(frame.payload)
    case .signalling: signal(frame.payload)
    case .securityManager: if let reply = SecurityManager.answer(frame.payload) { answer(.securityManager, reply) }
    default: break
    }
  }

  /// The controller took fragments of this link.
  func progressed() {
    if isWritable { att.becameWritable() }
    att.acknowledged()
    if host.sendQueue.outstanding(handle) == 0 { idle.fire(()) }
  }

  /// The link is down.
  func end(_ error: BluetoothError) {
    guard ended == nil else { return }
    ended = error
    att.end(error)
    for event in [remoteFeaturesRead, intervalUpdated, phyUpdated] { event.fail(error) }
    dataLengthChanged.fail(error)
    idle.fire(())
    ending.fire(())
  }

  /// Disconnects, letting first go out what was sent. Returns when the link is down or the time is over; it counts as down then.
  func hangUp(within limit: Duration) async {
    guard ended == nil else { return }
    let now = EventLoop.shared.now
    let down = ending.next()
    if !isHangingUp {
      isHangingUp = true
      if host.sendQueue.outstanding(handle) > 0 {
        _ = try? await idle.next().value(until: now.advanced(by: limit / 3))
      }
      guard ended == nil else { return }
      host.controller.submit(Disconnect(handle: handle, reason: .remoteUserTerminated)) { [weak self] answer in
        guard case .failure(let error) = answer, let self else { return }
        self.host.drop(self, error)
      }
    }
    _ = try? await down.value(until: now.advanced(by: limit))
    host.drop(self, BluetoothError(.linkLost, "the link to \(peer.address) was closed; the controller did not confirm it"))
  }

  // MARK: Events

  func note(interval: UInt16, latency: UInt16, supervisionTimeout: UInt16) {
    known.interval = .microseconds(1250 * Int64(interval))
    known.latency = Int(latency)
    known.supervisionTimeout = .milliseconds(10 * Int64(supervisionTimeout))
  }

  func note(txPHY: UInt8) { known.phy = PHY(rawValue: txPHY) }

  func note(maxTxOctets: UInt16, maxRxOctets: UInt16) {
    known.maxTxOctets = Int(maxTxOctets)
    known.maxRxOctets = Int(maxRxOctets)
    dataLengthChanged.fire(())
  }

  func note(features: LEFeatures) { remoteFeatures = features }

  /// What of the parameters that the peer wants it gets: all, with the interval that the user asked for when it allows that; nil refuses.
  func judge(_ wanted: ConnectionParameters) -> ConnectionParameters? {
    // One at a time, and never so many that our own commands wait behind them.
    guard wanted.isValid, !isUpdatingForPeer, host.controller.backlog < 32 else { return nil }
    guard let pinnedInterval else { return wanted }
    guard (wanted.intervalMin...wanted.intervalMax).contains(pinnedInterval) else { return nil }
    var granted = wanted
    (granted.intervalMin, granted.intervalMax) = (pinnedInterval, pinnedInterval)
    return granted
  }

  // MARK: L2CAP

  private func signal(_ payload: [UInt8]) {
    guard let answer = Signalling.answer(payload, deciding: judge) else { return }
    self.answer(.signalling, answer.reply.encoded)
    guard let update = answer.update else { return }
    isUpdatingForPeer = true
    host.controller.submit(LEConnectionUpdate(handle: handle, update)) { [weak self] _ in self?.isUpdatingForPeer = false }
  }

  private func answer(_ channel: ChannelIdentifier, _ payload: [UInt8]) {
    guard host.sendQueue.queued(handle) < Self.answerLimit else { return }
    host.transmit(L2CAPFrame(channel: channel, payload: payload), self)
  }

  // MARK: Helpers

  private func update(_ wanted: ConnectionParameters, _ what: String) async throws {
    let change = intervalUpdated.next()
    try await host.controller.perform(LEConnectionUpdate(handle: handle, wanted))
    guard let status = try await change.value(until: limit()) else {
      throw BluetoothError(.timeout, "\(peer.address) did not answer the request for \(what)")
    }
    guard status == .success else { throw refused(what, status) }
  }

  /// Nil when the controller refuses.
  private func attempt<C: HCI.Command>(_ command: C) async throws -> C.Return? {
    do {
      return try await host.controller.perform(command)
    } catch let error as BluetoothError {
      try check()
      if error.kind == .hci || error.kind == .protocolViolation { return nil }
      throw error
    }
  }

  private func check() throws {
    if let ended { throw ended }
    if let failure = host.controller.failure { throw failure }
  }

  /// Procedures of the link layer take effect some events later (Vol 6 Part B §5.1).
  private func limit(atMost: Duration = .seconds(45)) -> LoopClock.Instant {
    EventLoop.shared.now.advanced(by: min(atMost, .seconds(5) + (known.interval ?? .zero) * 10))
  }

  private func unsupported(_ what: String) -> BluetoothError {
    BluetoothError(.hci, "\(host.name) does not support \(what)", code: 0x11, name: ControllerErrorCode.unsupportedFeature.snakeName)
  }

  private func refused(_ what: String, _ status: ControllerErrorCode) -> BluetoothError {
    BluetoothError(.hci, "\(what) was not agreed with \(peer.address): \(status)", code: Int(status.rawValue), name: status.snakeName)
  }
}
