// SPDX-License-Identifier: Apache-2.0
/// An LE ACL link of blectl's host.
@LoopActor
package final class HostLink: Link {
  /// The number of queued fragments from which writers wait.
  /// The queue keeps the controller busy, but lets a canceled transfer stop soon.
  private static let writableLimit = 8
  /// The number of queued fragments from which the link drops its answers to requests of the peer.
  private static let answerLimit = 64
  /// The time limit for the controller to confirm the end of the link.
  package nonisolated static let disconnectionLimit = Duration.seconds(3)

  package let peer: PeerAddress
  package var channel: any Channel { att }
  /// The reason why the link is down, nil while it is up.
  package private(set) var ended: (any Error)?

  let handle: ConnectionHandle
  /// The role of our device on the link.
  let role: LinkRole
  let procedures: LinkProcedures
  package let securityManager: SecurityManager

  private let host: Host
  private let att: LinkChannel
  private let ending = PendingEvent<Void>()
  private let idle = PendingEvent<Void>()
  private var recombination = Recombination()
  private(set) var isDisconnecting = false
  private var isUpdatingForPeer = false
  /// The L2CAP requests for connection parameters that the central has not answered, by identifier.
  private var parameterRequests: [UInt8: Wait<Bool>] = [:]
  private var lastIdentifier: UInt8 = 0

  init(_ complete: Event.ConnectionComplete, peer: PeerAddress, host: Host) {
    handle = complete.handle
    self.peer = peer
    self.host = host
    att = LinkChannel(peer)
    procedures = LinkProcedures(peer, handle: complete.handle, LinkState(complete), host)
    role = complete.role == 1 ? .peripheral : .central
    securityManager = SecurityManager(Pairing(role: role, own: host.adapterInfo.ownAddress, peer: peer))
    att.attach(self)
    securityManager.link = self
  }

  // MARK: GAP.Link

  package var security: (any SecurityProcedures)? { securityManager }

  package var onParameters: (@LoopActor (LinkParameters) -> Void)? {
    get { procedures.onParameters }
    set { procedures.onParameters = newValue }
  }

  package func parameters() async throws -> LinkParameters { try await procedures.parameters() }

  package func requestInterval(_ interval: Duration) async throws -> LinkParameters {
    // A central decides. A peripheral asks: in the link layer if both controllers can, otherwise by L2CAP (Vol 3 Part C §9.3.9).
    if role == .central || host.adapterInfo.leFeatures.contains(.connectionParametersRequest) {
      do {
        try await procedures.requestInterval(interval)
        return procedures.state.parameters
      } catch GAPError.notAgreed(_, _, .unsupportedRemoteFeature) where role == .peripheral {
      } catch let error as ControllerError where role == .peripheral && error.status != nil {}
    }
    try await procedures.requestInterval(interval) { self.ask($0) }
    return procedures.state.parameters
  }

  package func requestPHY(_ phy: PHY) async throws -> LinkParameters {
    try await procedures.requestPHY(phy)
    return procedures.state.parameters
  }

  package func requestDataLength(_ bytes: Int) async throws -> LinkParameters {
    try await procedures.requestDataLength(bytes)
    return procedures.state.parameters
  }

  package func disconnect() async { await shielded { await self.disconnect(within: Self.disconnectionLimit) } }

  // MARK: For the host

  var isWritable: Bool { host.sendQueue.queued(handle) < Self.writableLimit }

  /// The number of L2CAP frames of this link that the controller has not completed.
  var unacknowledged: Int { host.sendQueue.frames(handle) }

  /// Queues an ATT PDU for the controller.
  func transmit(_ pdu: [UInt8]) { host.transmit(.att, pdu, self) }

  func receive(_ data: ACLData) {
    guard let frame = recombination.add(data) else { return }
    switch frame.channel {
    case .att: att.receive(frame.payload)
    case .signalling: signal(frame.payload)
    case .securityManager: securityManager.receive(frame.payload)
    default: break
    }
  }

  /// Wakes waiting writers after the controller has completed packets of this link.
  func progressed() {
    if isWritable { att.becameWritable() }
    att.acknowledged()
    if host.sendQueue.outstanding(handle) == 0 { idle.fire(()) }
  }

  func exhaust(_ error: any Error) { att.exhaust(error) }

  /// Ends the link, its ATT channel and its procedures with an error. Idempotent.
  func end(_ error: any Error) {
    guard ended == nil else { return }
    ended = error
    att.end(error)
    procedures.end(error)
    for request in parameterRequests.values { request.resume(throwing: error) }
    parameterRequests = [:]
    securityManager.disconnected((error as? Disconnection)?.reason ?? .connectionTimeout)
    idle.fire(())
    ending.fire(())
  }

  /// Disconnects the link after the controller dropped packets for lack of buffers. Does nothing if no packet was on its way.
  func loseData(_ error: any Error) {
    guard ended == nil, host.sendQueue.outstanding(handle) > 0 else { return }
    host.sendQueue.discard(handle)
    abandon(error)
  }

  private func abandon(_ error: any Error) {
    att.end(error)
    EventLoop.shared.spawn { await self.disconnect(within: Self.disconnectionLimit) }
  }

  /// Waits for the queued packets and disconnects the link. Returns when the link is down or after `limit`.
  func disconnect(within limit: Duration, _ reason: ControllerErrorCode = .remoteUserTerminated) async {
    guard ended == nil else { return }
    let now = EventLoop.shared.now
    let down = ending.next()
    if !isDisconnecting {
      isDisconnecting = true
      // A central is told within half a second.
      let patience = role == .peripheral ? min(limit / 3, .milliseconds(400)) : limit / 3
      if host.sendQueue.outstanding(handle) > 0 { _ = try? await idle.next().value(until: now.advanced(by: patience)) }
      guard ended == nil else { return }
      submitDisconnect(reason)
    }
    _ = try? await down.value(until: now.advanced(by: limit))
    host.drop(self, Disconnection(peer, .endedHere(nil)))
  }

  private func submitDisconnect(_ reason: ControllerErrorCode) {
    host.controller.submit(Disconnect(handle: handle, reason: reason), isCleanUp: true) { [weak self] answer in
      guard case .failure(let error) = answer, let self else { return }
      // Only some reasons are allowed (Vol 4 Part E §7.1.6), and the link must end.
      if (error as? ControllerError)?.status == .invalidParameters, reason != .remoteUserTerminated {
        submitDisconnect(.remoteUserTerminated)
      } else {
        host.drop(self, error)
      }
    }
  }

  /// Returns the connection parameters that the peer gets for its request. Nil refuses the request.
  func grant(_ wanted: ConnectionParameters) -> ConnectionParameters? {
    // Allow one at a time, and never so many that our own commands have to wait.
    if isUpdatingForPeer || host.controller.backlog >= 32 { return nil }
    // The central decides.
    return role == .central ? procedures.policy.grant(wanted) : wanted.isValid ? wanted : nil
  }

  // MARK: L2CAP

  private func signal(_ payload: [UInt8]) {
    switch try? SignallingPDU(payload) {
    case .connectionParameterUpdateResponse(let identifier, let isAccepted)?: answered(identifier, isAccepted)
    case .commandReject(let identifier, _, _)?: answered(identifier, false)
    default: break
    }
    let asCentral = { (wanted: ConnectionParameters) in self.grant(wanted) }
    guard let answer = Signalling.answer(payload, deciding: role == .central ? asCentral : nil) else { return }
    self.answer(.signalling, answer.reply.encoded)
    guard let update = answer.update else { return }
    isUpdatingForPeer = true
    host.controller.submit(LEConnectionUpdate(handle: handle, update)) { [weak self] _ in self?.isUpdatingForPeer = false }
  }

  /// Asks the central for connection parameters (Vol 3 Part A §4.20). Returns a wait for whether the central accepts.
  private func ask(_ wanted: ConnectionParameters) -> Wait<Bool> {
    lastIdentifier = lastIdentifier % 255 + 1
    let accepted = Wait<Bool>()
    parameterRequests[lastIdentifier] = accepted
    answer(.signalling, SignallingPDU.connectionParameterUpdateRequest(identifier: lastIdentifier, wanted).encoded)
    return accepted
  }

  private func answered(_ identifier: UInt8, _ isAccepted: Bool) {
    parameterRequests.removeValue(forKey: identifier)?.resume(returning: isAccepted)
  }

  private func answer(_ channel: ChannelIdentifier, _ payload: [UInt8]) {
    guard host.sendQueue.queued(handle) < Self.answerLimit else { return }
    host.transmit(channel, payload, self)
  }
}

extension HostLink: SecurityLink {
  package func sendSecurity(_ pdu: [UInt8]) { answer(.securityManager, pdu) }

  package func encrypt(key: UInt128, ediv: UInt16, rand: UInt64) {
    host.controller.submit(LEEnableEncryption(handle: handle, random: rand, ediv: ediv, longTermKey: key)) { [weak self] answer in
      guard case .failure(let error) = answer else { return }
      self?.securityManager.encryptionChanged(.failed((error as? ControllerError)?.status ?? .hardwareFailure))
    }
  }

  package func answerKeyRequest(_ key: UInt128?) {
    if let key {
      host.controller.submit(LELongTermKeyRequestReply(handle: handle, key))
    } else {
      host.controller.submit(LELongTermKeyRequestNegativeReply(handle: handle))
    }
  }

  package func abandon() { abandon(Disconnection(peer, .endedHere(nil))) }
}

extension HostLink: CentralLink {
  package var securityLevel: SecurityLevel { securityManager.level }
  package var onSecurityLevel: (@LoopActor (SecurityLevel) -> Void)? {
    get { securityManager.onLevel }
    set { securityManager.onLevel = newValue }
  }
  package var manager: SecurityManager? { securityManager }

  package func disconnect(reason: ControllerErrorCode) async {
    await shielded { await self.disconnect(within: Self.disconnectionLimit, reason) }
  }
}
