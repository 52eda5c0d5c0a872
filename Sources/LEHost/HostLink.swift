package import ATT
package import Bluetooth
package import EventLoop
package import GAP
import HCI
import HostCommon
import L2CAP

/// An LE ACL link of our own host.
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
  package private(set) var ended: (any Error)?

  let handle: ConnectionHandle
  let procedures: LinkProcedures
  /// L2CAP frames and fragments that made no sense; they were dropped.
  var dropped: Int { recombination.dropped }

  private let host: Host
  private let att: LinkChannel
  private let ending = PendingEvent<Void>()
  private let idle = PendingEvent<Void>()
  private var recombination = Recombination()
  private(set) var isDisconnecting = false
  private var isUpdatingForPeer = false

  init(_ complete: Event.ConnectionComplete, peer: PeerAddress, host: Host) {
    handle = complete.handle
    self.peer = peer
    self.host = host
    att = LinkChannel(peer)
    procedures = LinkProcedures(peer, handle: complete.handle, LinkState(complete), host)
    att.attach(self)
  }

  // MARK: GAP.Link

  package var onParameters: (@LoopActor (LinkParameters) -> Void)? {
    get { procedures.onParameters }
    set { procedures.onParameters = newValue }
  }

  package func parameters() async throws -> LinkParameters { try await procedures.parameters() }

  package func requestInterval(_ interval: Duration) async throws -> LinkParameters {
    try await procedures.requestInterval(interval)
    return procedures.state.parameters
  }

  package func requestPHY(_ phy: PHY) async throws -> LinkParameters {
    try await procedures.requestPHY(phy)
    return procedures.state.parameters
  }

  package func requestDataLength(_ octets: Int) async throws -> LinkParameters {
    try await procedures.requestDataLength(octets)
    return procedures.state.parameters
  }

  package func disconnect() async { await shielded { await self.disconnect(within: .seconds(3)) } }

  // MARK: For the host

  var isWritable: Bool { host.sendQueue.queued(handle) < Self.writableLimit }

  /// L2CAP frames on their way to the peer's link layer.
  var unacknowledged: Int { host.sendQueue.frames(handle) }

  /// An ATT PDU.
  func transmit(_ pdu: [UInt8]) { host.transmit(.att, pdu, self) }

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

  func exhaust(_ error: any Error) { att.exhaust(error) }

  /// The link is down.
  func end(_ error: any Error) {
    guard ended == nil else { return }
    ended = error
    att.end(error)
    procedures.end(error)
    idle.fire(())
    ending.fire(())
  }

  /// The controller dropped packets that it had no buffer for, perhaps of this link: later ones would arrive without them.
  func loseData(_ error: any Error) {
    guard ended == nil, host.sendQueue.outstanding(handle) > 0 else { return }
    host.sendQueue.discard(handle)
    att.end(error)
    EventLoop.shared.spawn { await self.disconnect(within: .seconds(3)) }
  }

  /// Disconnects, letting first go out what was sent. Returns when the link is down or the time is over; it counts as down then.
  func disconnect(within limit: Duration) async {
    guard ended == nil else { return }
    let now = EventLoop.shared.now
    let down = ending.next()
    if !isDisconnecting {
      isDisconnecting = true
      if host.sendQueue.outstanding(handle) > 0 {
        _ = try? await idle.next().value(until: now.advanced(by: limit / 3))
      }
      guard ended == nil else { return }
      host.controller.submit(Disconnect(handle: handle, reason: .remoteUserTerminated), isCleanUp: true) { [weak self] answer in
        guard case .failure(let error) = answer, let self else { return }
        self.host.drop(self, error)
      }
    }
    _ = try? await down.value(until: now.advanced(by: limit))
    host.drop(self, LinkEnd(peer, .endedHere(nil)))
  }

  /// The peer wants other parameters: what it gets; nil refuses.
  func grant(_ wanted: ConnectionParameters) -> ConnectionParameters? {
    // One at a time, and never so many that our own commands wait behind them.
    isUpdatingForPeer || host.controller.backlog >= 32 ? nil : procedures.policy.grant(wanted)
  }

  // MARK: L2CAP

  private func signal(_ payload: [UInt8]) {
    guard let answer = Signalling.answer(payload, deciding: grant) else { return }
    self.answer(.signalling, answer.reply.encoded)
    guard let update = answer.update else { return }
    isUpdatingForPeer = true
    host.controller.submit(LEConnectionUpdate(handle: handle, update)) { [weak self] _ in self?.isUpdatingForPeer = false }
  }

  private func answer(_ channel: ChannelIdentifier, _ payload: [UInt8]) {
    guard host.sendQueue.queued(handle) < Self.answerLimit else { return }
    host.transmit(channel, payload, self)
  }
}
