package import Bluetooth
import EventLoop
package import GAP
import HCI
import HostCommon

/// A connection attempt: from LE Create Connection to the Connection Complete that always follows.
@LoopActor
final class Initiation {
  let peer: PeerAddress
  /// Whether the controller accepted the command. An earlier Connection Complete belongs to another attempt.
  var isAccepted = false
  private(set) var outcome: Result<HostLink, any Error>?
  private let settled = PendingEvent<Void>()

  init(_ peer: PeerAddress) { self.peer = peer }

  func settle(_ outcome: Result<HostLink, any Error>) {
    guard self.outcome == nil else { return }
    self.outcome = outcome
    settled.fire(())
  }

  /// Waits for the link.
  /// - Returns: nil if the attempt is undecided at `deadline`.
  /// - Throws: CancellationError, or the reason for the failure.
  func link(until deadline: LoopClock.Instant) async throws -> HostLink? {
    if outcome == nil { _ = try await settled.next().value(until: deadline) }
    return try outcome?.get()
  }
}

extension HostCentral {
  package func connect<Value>(
    _ peer: PeerAddress, timeout: Duration, retries: Int, confirm: @escaping @LoopActor (any Link, Int) async throws -> Value
  ) async throws -> Value {
    try host.check()
    let deadline = EventLoop.shared.now.advanced(by: timeout)
    return try await retrying(peer, times: retries, confirm: confirm) {
      // The time limit includes the wait for a turn.
      guard let link = try await establish(peer, deadline) else { throw GAPError.noConnection(peer, within: timeout) }
      return link
    }
  }

  /// Establishes a link. - Returns: nil if there is none at `deadline`.
  private func establish(_ peer: PeerAddress, _ deadline: LoopClock.Instant) async throws -> HostLink? {
    let place = initiators.enter()
    defer { place.leave() }
    guard try await place.untilTurn(until: deadline) else { return nil }
    let link: HostLink?
    do {
      let initiation = Initiation(peer)
      self.initiation = initiation
      defer {
        self.initiation = nil
        place.leave()
      }
      try host.check()
      try Task.checkCancellation()
      link = try await initiate(initiation, deadline)
    }
    guard let link else { return nil }
    do {
      try await confirmEstablishment(link, deadline)
    } catch {
      await link.disconnect()
      throw error
    }
    return link
  }

  private func initiate(_ initiation: Initiation, _ deadline: LoopClock.Instant) async throws -> HostLink? {
    do {
      try await create(initiation)
      if let link = try await initiation.link(until: deadline) { return link }
    } catch {
      // The controller refused, so there is nothing to cancel.
      if error is HostError || (error as? ControllerError)?.status != nil { throw error }
      await abandon(initiation)
      throw error
    }
    await abandon(initiation)
    return nil
  }

  /// Cancels an attempt and waits for its outcome. Disconnects a link that came up in the meantime.
  private func abandon(_ initiation: Initiation) async {
    await shielded { [self] in
      var patience: Duration = .seconds(2)
      if initiation.outcome == nil, host.controller.failure == nil, await !host.controller.cleanUp(LECreateConnectionCancel().packet) {
        // There is nothing to cancel: the completion is on its way, or never arrives.
        patience = .milliseconds(300)
      }
      if let link = try? await initiation.link(until: EventLoop.shared.now.advanced(by: patience)) {
        await link.disconnect(within: .seconds(2))
      }
    }
  }

  private func create(_ initiation: Initiation) async throws {
    let peer = initiation.peer
    let command = createCommand(peer)
    do {
      try await host.controller.perform(command) { initiation.isAccepted = true }
    } catch let error as ControllerError where error.status == .commandDisallowed {
      // Another host left an attempt behind.
      do {
        try await host.controller.perform(LECreateConnectionCancel())
      } catch let error as ControllerError where error.status != nil {}
      do {
        try await host.controller.perform(command) { initiation.isAccepted = true }
      } catch let error as ControllerError where error.status == .commandDisallowed {
        throw HostError.cannotConnect(adapter: name, peer)
      }
    } catch let error as ControllerError where error.status == .connectionAlreadyExists {
      throw HostError.hasLinkAlready(adapter: name, peer)
    }
  }

  private func createCommand(_ peer: PeerAddress) -> any Command {
    // Interval 15–30 ms, latency 0, timeout 4 s, any event length (0).
    let parameters = ConnectionParameters(intervalMin: 12, intervalMax: 24, latency: 0, supervisionTimeout: 400)
    let own = adapterInfo.ownAddress.type.hciValue
    guard adapterInfo.supported.contains(LEExtendedCreateConnection.self) else {
      return LECreateConnection(scanInterval: 96, scanWindow: 96, peer: peer, ownAddressType: own, parameters: parameters)
    }
    var phys: PHYMask = codedPeers.contains(peer) ? .coded : .le1M
    // An extended advertisement may continue on 2M. The controller never scans on 2M.
    if adapterInfo.leFeatures.contains(.phy2M) { phys.insert(.le2M) }
    return LEExtendedCreateConnection(
      ownAddressType: own, peer: peer, phys: phys,
      initiating: phys.phys.map { _ in LEExtendedCreateConnection.Initiating(scanInterval: 96, scanWindow: 96, parameters: parameters) })
  }

  /// Reads the peer's features as the first sign of life.
  /// A link may still fail to be established after Connection Complete (reason 0x3E, Vol 6 Part B §4.5).
  private func confirmEstablishment(_ link: HostLink, _ deadline: LoopClock.Instant) async throws {
    let alive = link.procedures.remoteFeaturesRead.next()
    host.controller.submit(LEReadRemoteFeatures(handle: link.handle)) { answer in
      if case .failure = answer { alive.resume(returning: .unknownCommand) }
    }
    _ = try await alive.value(until: min(deadline, EventLoop.shared.now.advanced(by: .seconds(1))))
    if let ended = link.ended { throw ended }
    let isPossible = adapterInfo.leFeatures.contains(.dataLengthExtension) && adapterInfo.supported.contains(LESetDataLength.self)
    guard isPossible, link.procedures.state.remoteFeatures?.contains(.dataLengthExtension) ?? true else { return }
    host.controller.submit(LESetDataLength(handle: link.handle, txOctets: adapterInfo.maxTxOctets, txTime: adapterInfo.maxTxTime))
  }

  /// Handles LE Connection Complete. The link exists from this moment: its first data may follow in the same turn.
  func connected(_ complete: Event.ConnectionComplete) {
    guard complete.status == .success else {
      guard let initiation, initiation.isAccepted, initiation.outcome == nil else { return }
      return initiation.settle(.failure(GAPError.connectionFailed(initiation.peer, complete.status)))
    }
    // Reserved handles cannot carry data.
    guard !complete.handle.isReserved else { return }
    if let old = host.links[complete.handle] { host.drop(old, LinkEnd(old.peer, .handleReused(adapter: name))) }
    guard let initiation, initiation.isAccepted, initiation.outcome == nil, complete.role == 0,
      initiation.peer.address == complete.peer.address
    else {
      // No role asked for this link, so no role would ever close it.
      guard host.controller.backlog < 32 else { return }
      host.controller.submit(Disconnect(handle: complete.handle, reason: .remoteUserTerminated), isCleanUp: true)
      return
    }
    let link = HostLink(complete, peer: initiation.peer, host: host)
    host.add(link)
    initiation.settle(.success(link))
  }
}
