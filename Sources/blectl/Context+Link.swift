import ATT
import Bluetooth
import EventLoop
import GAP
import GATT
import LinuxBluetooth
import Operations
import Terminal
import Text

/// The link to the device that a command is about.
extension Context {
  /// Runs `body` on a link to the peer. Uses the session's link if it exists. Otherwise connects, exchanges the MTU, and disconnects
  /// again on every path.
  /// - Parameters:
  ///   - exchangingMTU: false if `body` exchanges the MTU when it needs to.
  ///   - isRepeatable: `body` only reads. It runs again if the device closes the link before it answers.
  func withPeer<T: Sendable>(
    _ target: Target, exchangingMTU: Bool = true, isRepeatable: Bool = false,
    _ body: @escaping @LoopActor (Connection) async throws -> T
  ) async throws -> T {
    let body: @LoopActor (Connection) async throws -> T = { connection in
      do { return try await body(connection) } catch { throw connection.explained(error) }
    }
    if let connection = try await present(target) { return try await body(connection) }
    if isAboutCurrent || isBeingRestored { throw Failure.notConnected(lane) }
    let connection = try await open(try await configuration.resolve(target.peer), target, exchangingMTU: exchangingMTU)
    if connection === lane?.connection { return try await body(connection) }
    do {
      let value = try await body(connection)
      await session.disconnect(connection)
      return value
    } catch {
      await session.disconnect(connection)
      guard isRepeatable, connection.retries > 0, !connection.client.bearer.hasAnswered,
        let reason = (error as? any ConnectionError)?.retryReason
      else { throw error }
      output.note(GAPNote.tryingAgain(connection.peer, reason).text)
      var target = target
      target.retries = connection.retries - 1
      return try await withPeer(target, exchangingMTU: exchangingMTU, isRepeatable: true, body)
    }
  }

  /// The link that a session keeps to the device of a command. Connects if necessary.
  /// - Parameter selector: finds the device.
  func lastingLink(_ selector: PeerSelector, _ target: Target) async throws -> (connection: Connection, isNew: Bool) {
    if let connection = try await present(target) { return (connection, false) }
    // Remove the rest of a lost link first.
    if let lane, lane.connection != nil { await shell?.disconnect(lane) }
    let connection = try await open(selector, target)
    guard let lane, connection !== lane.connection else { return (connection, false) }
    if lane.connection != nil { await shell?.disconnect(lane) }
    lane.selector = selector
    shell?.adopt(connection, as: lane)
    return (connection, true)
  }

  /// Runs `body` with the link and the lane of the device, which holds received values and subscriptions.
  func withLane<T: Sendable>(_ target: Target, _ body: @LoopActor (Connection, Lane) async throws -> T) async throws -> T {
    let connection: Connection
    var isNew = false
    if isAboutCurrent {
      connection = try await liveConnection(target)
    } else {
      (connection, isNew) = try await lastingLink(try await configuration.resolve(target.peer), target)
    }
    guard let lane, let shell else { throw Failure.notConnected(nil) }
    do {
      let value = try await body(connection, lane)
      if isNew { await shell.disconnect(lane) }
      return value
    } catch {
      if isNew { await shell.disconnect(lane) }
      throw error
    }
  }

  /// The open link, or nil. Waits for a lost link that may be restored.
  private func present(_ target: Target) async throws -> Connection? {
    if lane?.connection != nil { try await untilItIsBack() }
    guard let connection = lane?.connection, connection.isOpen else { return nil }
    connection.client.limit = step.limits.transaction
    try await ask(target, of: connection)
    return connection
  }

  /// Whether another task is restoring the link.
  private var isBeingRestored: Bool { lane?.connection?.isBeingRestored ?? false }

  /// Requests the parameters of an existing link.
  private func ask(_ target: Target, of connection: Connection) async throws {
    if let wanted = target.mtu, wanted != connection.client.mtu {
      if connection.client.requestedMTU == nil {
        try await exchangeMTU(wanted, connection.client)
      } else {
        output.note(
          "The MTU of this connection stays \(Quantity.octets(connection.client.mtu)), because it is exchanged only once. "
            + "--mtu \(wanted) applies to the next connection.")
      }
    }
    try await target.requested.ask(connection.link, output)
  }

  /// The link to the device of a session's command. Waits for a lost link that may be restored.
  /// - Throws: Failure if there is no link.
  func liveConnection(_ target: Target) async throws -> Connection {
    guard let connection = try await present(target) else { throw Failure.notConnected(lane) }
    return connection
  }

  /// Waits until the link is restored or given up, at most for the limit of a transaction.
  private func untilItIsBack() async throws {
    guard let lane, let shell else { return }
    let end = EventLoop.shared.now.advanced(by: step.limits.transaction)
    while let connection = lane.connection, !connection.isOpen, shell.settings.reconnect, lane.mayComeBack, EventLoop.shared.now < end {
      if connection.isBeingRestored {
        _ = try await withDeadline(end) { try await connection.untilRestored() }
      } else {
        // The link is lost, but restoring it has not started yet.
        try await EventLoop.shared.sleep(for: .milliseconds(1))
      }
    }
  }

  /// Opens a link that stays until the session ends it, or returns the link of the device's lane. Leaves nothing open when it throws.
  func open(_ selector: PeerSelector, _ target: Target, exchangingMTU: Bool = true) async throws -> Connection {
    let connection = try await connect(selector, target, exchangingMTU: exchangingMTU || target.mtu != nil)
    observer?.didConnect()
    if connection === lane?.connection { return connection }
    do {
      try await target.requested.ask(connection.link, output)
      configuration.remember(connection)
      lane?.lastPeer = connection.peer
      return connection
    } catch {
      await session.disconnect(connection)
      throw error
    }
  }

  private func exchangeMTU(_ wanted: Int?, _ client: Client) async throws {
    guard let wanted else {
      try await client.exchangeMTU()
      return
    }
    let agreed = try await client.exchangeMTU(wanted)
    if agreed != wanted { output.note("The device agreed to an MTU of \(agreed), not \(wanted).") }
  }

  /// Finds the peer and connects. With `target.waits`, it retries until it succeeds or the time limit ends.
  private func connect(_ selector: PeerSelector, _ target: Target, exchangingMTU: Bool) async throws -> Connection {
    let patience = target.waits ? step.waitLimit : step.searchLimit
    var deadline = EventLoop.shared.now.advanced(by: patience)
    // Between two attempts, because a device may refuse each one immediately.
    let pause = Duration.milliseconds(500)
    var limits = step.limits
    limits.retries = target.retries ?? limits.retries
    if target.waits { output.status("Waiting for \(selector). Press Ctrl-C to stop.") }
    var heard: ClosedRange<Int64>?
    while true {
      let match: PeerMatch
      let found: Found
      do { found = try await search(selector, target, within: EventLoop.shared.now.duration(to: deadline)) } catch {
        throw withHint(error, selector, heard)
      }
      switch found {
      case .peer(let found):
        match = found
        heard = found.heard ?? heard
      case .lane(let other):
        if let connection = try await join(other, target) { return connection }
        deadline = EventLoop.shared.now.advanced(by: patience)
        continue
      }
      // `set reconnect on` may have restored the link during the search.
      if let connection = try await present(target) { return connection }
      if isBeingRestored { throw Failure.notConnected(lane) }
      output.status("Connecting to \(match.peer)\(match.name.map { " (\($0))" } ?? "") …")
      if target.waits { limits.connecting = min(limits.connecting, EventLoop.shared.now.duration(to: deadline)) }
      lane?.destination = (match.peer, match.name)
      shell?.changed()
      do {
        let name = match.name ?? (knowsNames(target) ? configuration.name(of: match.peer) : nil)
        let connection = try await session.connect(match.peer, name: name, foundBy: selector, limits: limits, observer: packetObserver) {
          if exchangingMTU { try await exchangeMTU(target.mtu, $0.client) }
        }
        connection.payloads = match.payloads
        return connection
      } catch {
        lane?.destination = nil
        let next = EventLoop.shared.now.advanced(by: pause)
        guard target.waits, Self.mayPass(error), next < deadline else { throw withHint(error, selector, heard) }
        var failure = Failure(withHint(error, selector, heard))
        failure.add("Still waiting.")
        output.status(failure.message)
        try await EventLoop.shared.sleep(until: next)
      }
    }
  }

  /// Shows the PDUs of a connection to the observer.
  private var packetObserver: Session.ClientObserver? {
    guard let observer else { return nil }
    return Session.ClientObserver { [weak observer] client in
      let onPDU = client.onPDU
      client.onPDU = { [weak client] direction, pdu in
        onPDU?(direction, pdu)
        if let client { observer?.didExchange(direction, pdu, client) }
      }
    }
  }

  /// Whether to look up the stored name of a device that was not heard. One command with an address is not worth the time.
  private func knowsNames(_ target: Target) -> Bool {
    if case .selector = target.peer { shell != nil } else { true }
  }

  private enum Found: Sendable {
    case peer(PeerMatch)
    /// A device of the session. Its link keeps a scan from finding it.
    case lane(Lane)
  }

  private func search(_ selector: PeerSelector, _ target: Target, within limit: Duration) async throws -> Found {
    let find: @LoopActor () async throws -> Found = {
      .peer(
        try await self.find(
          selector, takingFirst: target.takesFirst, demandingOne: target.demandsOne, isUrgent: target.waits, within: limit))
    }
    guard let shell, let lane, place != nil else { return try await find() }
    if let other = shell.lane(holding: selector, besides: lane) { return .lane(other) }
    let found = try await race({ .lane(try await shell.untilHeld(selector, besides: lane)) }, find)
    if case .peer(let match) = found, let other = shell.lane(of: match.peer, besides: lane) { return .lane(other) }
    return found
  }

  /// Joins the lane of a device that was named in another way before, and waits for its commands.
  /// - Returns: nil if they left no link.
  private func join(_ other: Lane, _ target: Target) async throws -> Connection? {
    guard let shell, let lane, let place else { return nil }
    output.status("\(lane.title) is the same device as \(other.title).")
    guard await shell.join(lane, to: other) else { return nil }
    try await place.untilTurn()
    return try await present(target)
  }

  /// Whether the error may be that of a device that is not ready yet, or too far away.
  private static func mayPass(_ error: any Error) -> Bool {
    switch error {
    case GAPError.noConnection: true
    case let error as any ConnectionError: error.isWorthRetrying
    case let error as NoConnection: error.cause == .notEstablished || error.cause == .endedByPeer
    default: false
    }
  }

  /// Adds when the device was heard, and advice.
  private func withHint(_ error: any Error, _ selector: PeerSelector, _ heard: ClosedRange<Int64>?) -> any Error {
    if error is CancellationError { return error }
    let plain = Failure(error)
    var failure = plain
    if let heard, failure.isLoss {
      func seconds(_ from: Int64, _ to: Int64) -> String { Duration.milliseconds((to &- from) / 100_000_000 * 100).secondsText + " s" }
      let ago = seconds(heard.upperBound, EventLoop.shared.wallClock) + " ago"
      failure.add(
        heard.lowerBound == heard.upperBound
          ? "blectl heard the device once, \(ago)."
          : "The device advertised for \(seconds(heard.lowerBound, heard.upperBound)), until \(ago).")
    }
    if (error as? any ConnectionError)?.retryReason == .closedByPeer {
      failure.add("It closed the connection before it answered. To try more often, use --retries N.")
    }
    if failure.kind == .timeout, case .address(let address, let type?) = selector {
      let other = type == .public ? "random" : "public"
      failure.add("If it advertises, its address may be \(other). To find it with a scan, omit /\(type.rawValue): \(address)")
    }
    return failure == plain ? error : failure
  }
}
