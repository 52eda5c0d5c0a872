// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

package enum RestorationEvent: Sendable {
  /// The link is down, for this reason.
  case lost(any Error)
  /// An attempt, counted from 1, starts after this pause. `after` is the error of the previous attempt, or nil for the first attempt.
  case trying(Int, in: Duration, after: (any Error)?)
  case restored(Restoration)
}

/// The result of a successful restoration of a link.
package struct Restoration: Sendable {
  /// A subscription that the restoration lost.
  package struct Missing: Sendable {
    /// The characteristic as it was on the lost link.
    package let characteristic: Characteristic
    /// The error of the new subscription. Nil if the characteristic does not exist in the new database.
    package let reason: (any Error)?
  }

  /// The duration of the restoration.
  package let time: Duration
  package let tries: Int
  /// Whether a discovery ran. False if none had run on the lost link, or if the peer's Database Hash is unchanged.
  package let isDiscovered: Bool
  /// The number of restored subscriptions.
  package let subscriptions: Int
  package let missing: [Missing]
}

package enum RestorationError: Error, Sendable {
  /// The attempts or the time ran out, or an attempt failed with an error that does not pass. `last` is the error of the last attempt,
  /// or nil without an attempt.
  case gaveUp(after: Duration, tries: Int, last: (any Error)?)
  /// The session has ended the connection, so no restoration is possible.
  case ended
  /// Another task is restoring the connection.
  case isUnderWay
}

extension RestorationError: PassingError {
  package var mayPass: Bool { if case .gaveUp(_, _, let last?) = self { ReconnectPolicy.mayPass(last) } else { true } }
}

extension Session {
  /// Restores a lost connection, with the pauses of `policy` between attempts. Disconnects first if the link is still up. Restores the MTU
  /// and all `SubscribedValues` that outlive the link. Discovers services again unless the Database Hash is unchanged.
  ///
  /// During the restoration, commands find the connection closed. `Connection.untilRestored` waits for the end of the restoration.
  /// - Returns: The restored link's address, its restored subscriptions and its missing subscriptions.
  /// - Throws: `RestorationError`; `CancellationError`. The caller can restore the connection later.
  @discardableResult
  package func restore(
    _ connection: Connection, _ policy: ReconnectPolicy = .forever,
    onEvent: @escaping @LoopActor (RestorationEvent) -> Void = { _ in }
  ) async throws -> Restoration {
    guard connections.contains(where: { $0 === connection }) else { throw RestorationError.ended }
    let restoration = try await connection.restoring { [self] in
      let begin = EventLoop.shared.now
      onEvent(.lost(connection.client.closed ?? Disconnection(connection.peer, .endedHere(nil))))
      await connection.takeDown()
      var (policy, tries) = (policy, 0)
      var last: (any Error)?
      while true {
        let pause = policy.next()
        let next = pause.map { EventLoop.shared.now.advanced(by: $0) }
        guard let pause, let next, policy.deadline.map({ next < $0 }) ?? true else {
          if let deadline = policy.deadline { try await EventLoop.shared.sleep(until: deadline) }
          throw RestorationError.gaveUp(after: begin.duration(to: EventLoop.shared.now), tries: tries, last: last)
        }
        onEvent(.trying(tries + 1, in: pause, after: last))
        try await EventLoop.shared.sleep(until: next)
        tries += 1
        do {
          let limit = policy.deadline.map { min(policy.search, EventLoop.shared.now.duration(to: $0)) } ?? policy.search
          return connection.restored(try await self.tryToRestore(connection, within: limit), since: begin, tries: tries)
        } catch {
          try Task.checkCancellation()
          last = error
          guard ReconnectPolicy.mayPass(error) else {
            throw RestorationError.gaveUp(after: begin.duration(to: EventLoop.shared.now), tries: tries, last: error)
          }
        }
      }
    }
    onEvent(.restored(restoration))
    return restoration
  }

  /// Ends a lost connection, and restores its subscriptions on a new connection to the same device.
  /// - Parameter begin: The time at which the attempt to connect began.
  /// - Returns: Nil if the lost connection never had subscriptions.
  /// - Throws: The error that ended the new link; `CancellationError`. The new connection then keeps the subscriptions.
  package func replace(_ lost: Connection, with connection: Connection, since begin: LoopClock.Instant) async throws -> Restoration? {
    connection.takeOver(lost)
    await disconnect(lost)
    guard !connection.lasting.isEmpty else { return nil }
    try await connection.secure(to: connection.leastSecurity)
    let part = try await restore(connection)
    if let closed = connection.client.closed { throw closed }
    return connection.restored(part, since: begin, tries: 1)
  }

  fileprivate struct Part {
    var isDiscovered = false
    var subscriptions = 0
    var missing: [Restoration.Missing] = []
  }

  /// Makes one attempt to restore a connection.
  /// - Throws: The error of the attempt. No link stays open after an error.
  private func tryToRestore(_ connection: Connection, within limit: Duration) async throws -> Part {
    let central = try await central()
    let deadline = EventLoop.shared.now.advanced(by: limit)
    let peer = try await central.findAgain(connection, within: limit, try await bondsOfAdapter())
    let rest = max(.milliseconds(1), EventLoop.shared.now.duration(to: deadline))
    let link = try await central.connect(peer, timeout: rest, retries: connection.limits.retries)
    connection.move(to: link, client(on: link, connection.limits, connection.clientObserver))
    do {
      try await secure(connection, connection.security?.wish)
      try await connection.secure(to: connection.leastSecurity)
      let part = try await restore(connection)
      if let closed = connection.client.closed { throw closed }
      return part
    } catch {
      let error = connection.withDemand(error)
      await connection.takeDown()
      throw error
    }
  }

  /// Restores the state on a new link: MTU, database and subscriptions.
  private func restore(_ connection: Connection) async throws -> Part {
    var part = Part()
    let client = connection.client
    guard let priorLink = connection.priorLink else { return part }
    if let mtu = priorLink.requestedMTU, client.requestedMTU == nil { try await client.exchangeMTU(mtu) }
    guard priorLink.wasDiscovered else { return part }
    let isKnown = if let known = priorLink.database { try await client.takeOver(known) } else { false }
    do {
      let table = try await client.discover()
      part.isDiscovered = !isKnown
      for values in connection.lasting {
        let (restored, missing) = try await values.restore(on: client, table)
        part.subscriptions += restored
        part.missing += missing
      }
    } catch  where client.closed == nil && !(error is CancellationError) {
      // The link is useful even without them.
      part.missing = connection.lasting.flatMap { $0.missing(error) }
    }
    return part
  }
}

extension Connection {
  fileprivate func restored(_ part: Session.Part, since begin: LoopClock.Instant, tries: Int) -> Restoration {
    isRestored()
    return Restoration(
      time: begin.duration(to: EventLoop.shared.now), tries: tries, isDiscovered: part.isDiscovered,
      subscriptions: part.subscriptions, missing: part.missing)
  }
}

extension Central {
  /// Finds the peer of a lost connection again: a bonded peer by its identity only. Searches only if the peer's address may have changed. Otherwise returns the known address.
  /// Uses the original selector if it is unique. If not, uses the peer's name.
  fileprivate func findAgain(_ connection: Connection, within limit: Duration, _ bonds: [StoredBond]) async throws -> PeerAddress {
    if let bond = connection.security?.stored?.bond {
      guard bond.irk != nil, connection.peer != bond.identity else { return connection.peer }
      var search = PeerSearch(.address(bond.identity.address, bond.identity.type), limit: limit)
      search.bonds = bonds
      return try await find(search).peer
    }
    guard var selector = connection.selector, selector.mayFindNewAddress(of: connection.peer) else { return connection.peer }
    if !selector.isUnique, let name = connection.name, !name.isEmpty { selector = .name(Glob.literal(name.raw)) }
    var search = PeerSearch(selector, demandsOne: !selector.isUnique, limit: limit)
    search.preferred = connection.peer
    return try await find(search).peer
  }
}

extension PeerSelector {
  /// Returns whether the peer may have a new address that this selector can find.
  fileprivate func mayFindNewAddress(of peer: PeerAddress) -> Bool {
    switch self {
    case .address: false
    case .mac: true
    case .name, .service: !peer.isIdentity
    }
  }
}
