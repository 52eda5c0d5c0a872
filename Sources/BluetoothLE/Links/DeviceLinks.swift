// SPDX-License-Identifier: Apache-2.0
/// A provider of links for commands, with one implementation for one-shot commands and another for sessions.
@LoopActor
package protocol DeviceLinks: AnyObject {
  var session: Session { get }
  var reporter: any LinkReporter { get }
  /// An observer that receives the client of each new link. Nil if no code observes clients.
  var clientObserver: Session.ClientObserver? { get }

  /// Returns a link to the device with the requested parameters. Connects if no link exists.
  /// - Throws: The error of the failed search or connection attempt. No link stays open after an error.
  func connection(for request: LinkRequest) async throws -> Connection
  /// Returns whether a session keeps this link for later commands.
  func keeps(_ connection: Connection) -> Bool

  /// Finds the device of a request, or a session's existing link to the device.
  func search(for request: LinkRequest, within limit: Duration) async throws -> FoundDevice
  /// Tells the provider that a connection attempt to the found device follows.
  func willConnect(to match: PeerMatch)
  /// Tells the provider about a new link, before the client sends anything. Throwing an error takes the link down.
  func willUse(_ connection: Connection) throws
  /// Tells the provider that a connection attempt failed.
  func didNotConnect()
  /// Tells the provider that a new link is ready, after the requests for its parameters.
  func didConnect(_ connection: Connection)
}

/// The outcome of a search for a device: the device, an existing link, or a lost link.
package enum FoundDevice: Sendable {
  case peer(PeerMatch)
  /// An existing link to the device.
  case connection(Connection)
  /// The search found a session's link to the device, but the link is lost. `open` then searches again.
  case gone
}

extension DeviceLinks {
  package func willConnect(to match: PeerMatch) {}
  package func willUse(_ connection: Connection) throws {}
  package func didNotConnect() {}
  package func didConnect(_ connection: Connection) {}

  /// Runs `body` on a link, then releases the link, also after an error.
  /// - Parameter isRepeatable: Whether `body` only reads and may run again after the device closes the link without an answer.
  package func withLink<T: Sendable>(
    _ request: LinkRequest, isRepeatable: Bool = false, _ body: @escaping @LoopActor (Connection) async throws -> T
  ) async throws -> T {
    var request = request
    while true {
      let connection = try await connection(for: request)
      do {
        let value = try await body(connection)
        await release(connection)
        return value
      } catch {
        let error = reporter.explained(error, on: connection)
        await release(connection)
        guard isRepeatable, !keeps(connection), connection.retries > 0, !connection.client.bearer.hasAnswered,
          let reason = (error as? any ConnectionError)?.retryReason
        else { throw error }
        reporter.report(.tryingAgain(connection.peer, reason))
        request.limits.retries = connection.retries - 1
      }
    }
  }

  /// Disconnects a link, unless a session keeps it for later commands.
  package func release(_ connection: Connection) async { if !keeps(connection) { await session.disconnect(connection) } }

  /// Waits before the next attempt after a lost link.
  /// - Throws: `error` if a new link does not help, or if `policy` has no attempt left; `CancellationError`.
  package func pause(after error: any Error, _ policy: inout ReconnectPolicy) async throws {
    guard ReconnectPolicy.mayPass(error), let pause = policy.next() else { throw error }
    reporter.report(.reconnecting(after: error, in: policy.longestPause > policy.firstPause ? pause : nil))
    let wake = EventLoop.shared.now.advanced(by: pause)
    try await EventLoop.shared.sleep(until: policy.deadline.map { min($0, wake) } ?? wake)
  }

  /// Connects to a device and requests the link parameters. If `LinkRequest.waits` is set, retries until the time limit ends.
  /// - Throws: The error of the last attempt. No link stays open after an error.
  package func open(_ request: LinkRequest) async throws -> Connection {
    let given = request.parameters
    var request = request
    var deadline = EventLoop.shared.now.advanced(by: request.patience)
    if request.waits { reporter.report(.waiting(request.selector)) }
    var facts = FailedSearch(selector: request.selector)
    while true {
      let match: PeerMatch
      do {
        switch try await search(for: request, within: EventLoop.shared.now.duration(to: deadline)) {
        case .peer(let found): match = found
        case .connection(let connection):
          reporter.report(.connected)
          return connection
        case .gone:
          deadline = EventLoop.shared.now.advanced(by: request.patience)
          continue
        }
      } catch { throw reporter.explained(error, facts) }
      (facts.heard, facts.identity) = (match.heard ?? facts.heard, match.identity)
      request.parameters = given.filled(from: request.defaults(match.identity, match.name))
      let connection: Connection
      var pairings: PairingAttempts?
      do { connection = try await connect(match, request, until: deadline, &pairings) } catch {
        let next = EventLoop.shared.now.advanced(by: .milliseconds(500))
        let reason = reporter.explained(error, facts)
        guard request.waits, !(pairings?.areOver ?? false), ReconnectPolicy.mayPass(error), next < deadline else { throw reason }
        reporter.report(.stillWaiting(reason))
        // A device may refuse each attempt immediately.
        try await EventLoop.shared.sleep(until: next)
        continue
      }
      reporter.report(.connected)
      do { try await requestLinkLayer(request.parameters, of: connection) } catch {
        await session.disconnect(connection)
        throw error
      }
      reporter.report(.ready(connection))
      didConnect(connection)
      return connection
    }
  }

  /// Connects to the device that a search found, and tells which pairings the attempt belongs to.
  private func connect(
    _ match: PeerMatch, _ request: LinkRequest, until deadline: LoopClock.Instant, _ pairings: inout PairingAttempts?
  ) async throws -> Connection {
    reporter.report(.connecting(match.peer, name: match.name))
    var limits = request.limits
    if request.waits { limits.connecting = min(limits.connecting, EventLoop.shared.now.duration(to: deadline)) }
    willConnect(to: match)
    let connection: Connection
    do {
      let name = match.name ?? (request.looksUpName ? reporter.storedName(of: match.identity) : nil)
      let demand = try request.security(match.identity, name)
      pairings = demand.wish?.attempts
      connection = try await session.connect(
        match.peer, name: name, foundBy: request.selector, limits: limits, observer: clientObserver,
        security: demand
      ) {
        try self.willUse($0)
        if request.exchangesMTU || request.parameters.mtu != nil { try await self.exchangeMTU(request.parameters.mtu, on: $0.client) }
      }
    } catch {
      didNotConnect()
      throw error
    }
    connection.payloads = match.payloads
    return connection
  }

  // MARK: Parameters

  /// Requests the MTU and the Link Layer parameters on an existing link. Reports a refusal instead of throwing an error.
  /// - Throws: The error that ended the link; `CancellationError`.
  package func request(_ parameters: LinkParameterRequest, of connection: Connection) async throws {
    let client = connection.client
    if let wanted = parameters.mtu, wanted != client.mtu {
      if client.requestedMTU == nil {
        try await exchangeMTU(wanted, on: client)
      } else {
        reporter.report(.mtuStays(client.mtu, requested: wanted))
      }
    }
    try await requestLinkLayer(parameters, of: connection)
  }

  /// Requests the Link Layer parameters on an existing link. A refusal is an error.
  /// - Throws: The errors of the procedures of `Link`.
  package func demand(_ parameters: LinkParameterRequest, of connection: Connection) async throws {
    for parameter in parameters.ofLinkLayer {
      reporter.report(.agreed(try await parameter.request(of: connection.link), requested: parameter))
    }
  }

  private func requestLinkLayer(_ parameters: LinkParameterRequest, of connection: Connection) async throws {
    for parameter in parameters.ofLinkLayer {
      do { reporter.report(.agreed(try await parameter.request(of: connection.link), requested: parameter)) } catch {
        guard !ReconnectPolicy.mayPass(error), !(error is CancellationError) else { throw error }
        reporter.report(.refused(parameter, error))
      }
    }
  }

  private func exchangeMTU(_ wanted: Int?, on client: Client) async throws {
    guard let wanted else {
      try await client.exchangeMTU()
      return
    }
    let agreed = try await client.exchangeMTU(wanted)
    if agreed != wanted { reporter.report(.mtu(agreed, requested: wanted)) }
  }
}

extension Session {
  /// Finds a device, and reports the events of the search.
  /// - Throws: The errors of `Central.find`, to which the reporter adds advice.
  package func find(_ search: PeerSearch, _ reporter: any LinkReporter) async throws -> PeerMatch {
    reporter.report(.searching(search.selector, within: search.limit))
    var search = search
    let match: PeerMatch
    do {
      search.bonds = try await bondsOfAdapter()
      match = try await central().find(
        search, onDevice: { reporter.report(.heard($0)) }, onNamesake: { reporter.report(.namesake($0, isWaiting: true)) },
        heard: { reporter.report(.searched($0)) })
      reporter.report(.searchEnded)
    } catch {
      reporter.report(.searchEnded)
      throw reporter.explained(error, FailedSearch(selector: search.selector))
    }
    if !match.others.isEmpty { reporter.report(.chose(match, search.selector)) }
    // An address means its device.
    if case .address = search.selector { return match }
    if let namesake = match.namesake { reporter.report(.namesake(namesake, isWaiting: false)) }
    return match
  }
}
