import BluetoothLEDeviceFiles
import CommandLine

/// The browser's implementation of `DeviceLinks`, through which blectl opens connections.
@LoopActor
final class BrowserLinks: CommandLinks {
  private let browser: BrowserSession
  /// The address under which the browser shows the device. Nil for a search.
  private let row: PeerAddress?
  let reporter: any LinkReporter
  var device: DeviceDescription?

  init(_ browser: BrowserSession, row: PeerAddress? = nil) {
    self.browser = browser
    self.row = row
    reporter = Reporter(browser, row)
  }

  var session: Session { browser.context.session }
  var clientObserver: Session.ClientObserver? { nil }
  var currentDevice: PeerSelector? { nil }

  func connection(for request: LinkRequest) async throws -> Connection { try await open(request) }

  func keeps(_ connection: Connection) -> Bool { true }
  func showsInBackground(_ event: ValueEvent) -> Bool { false }

  func search(for request: LinkRequest, within limit: Duration) async throws -> FoundDevice {
    .peer(try await session.find(request.search(within: limit), reporter))
  }

  /// Stores a new connection in the browser, unless the user has disconnected during the attempt.
  /// - Throws: CancellationError if the user disconnected before blectl was connected.
  func willUse(_ connection: Connection) throws {
    try Task.checkCancellation()
    browser.hold(connection, as: row ?? connection.peer)
  }

  /// Reports the link events that the browser does not already show, such as the result of a parameter request.
  private final class Reporter: LinkReporter {
    private let browser: BrowserSession
    private let row: PeerAddress?
    private let text: LinkText

    init(_ browser: BrowserSession, _ row: PeerAddress?) {
      self.browser = browser
      self.row = row
      text = LinkText(browser.context.process, browser.context.output)
    }

    func report(_ event: LinkEvent) {
      switch event {
      case .agreed, .refused, .ready, .namesake: text.report(event)
      default: break
      }
    }

    func explained(_ error: any Error, _ search: FailedSearch) -> any Error {
      error is InsufficientSecurity ? text.explained(error, search) : error
    }
    func explained(_ error: any Error, on connection: Connection) -> any Error { error }
    func storedName(of peer: PeerAddress) -> UntrustedText? { browser.browser.devices.peers[row ?? peer]?.name }
  }
}

/// The connection management of the browser, as methods of `BrowserSession`.
extension BrowserSession {
  /// Connects to a device, or restores a lost connection with its subscriptions. First waits for the end of an earlier attempt.
  func connect(_ peer: PeerAddress, as who: PeerOptions? = nil) {
    let before = attempts[peer]
    attempts[peer] = spawn { session in
      await before?.value
      if !Task.isCancelled { await session.connect(peer, who) }
    }
  }

  private func connect(_ peer: PeerAddress, _ who: PeerOptions?) async {
    note("Connecting to \(browser.title(of: peer)) …", of: peer)
    do {
      let connection: Connection
      if let lost = links[peer] {
        try await restore(lost)
        connection = lost
      } else {
        connection = try await open(peer, who)
      }
      browser.connected(peer, mtu: connection.client.mtu, at: now)
      showSubscriptions(of: peer)
      changed()
      let parameters = (try? await connection.link.parameters()) ?? LinkParameters()
      browser.devices.update(parameters, connection.security?.level, of: peer, at: now)
      try await discover(on: connection)
    } catch {
      await failed(peer, error)
    }
  }

  private func open(_ peer: PeerAddress, _ who: PeerOptions?) async throws -> Connection {
    var request = LinkRequest(.address(peer.address, peer.type))
    request.limits = context.step.limits
    request.limits.retries = who?.link.retries ?? request.limits.retries
    request.parameters = who?.link.requested ?? LinkParameterRequest()
    request.looksUpName = true
    request.security = { [context, selector = request.selector] in
      (nil, context.leastSecurity(context.level, else: context.configuration.options(for: $0, named: $1, selector).level))
    }
    return try await BrowserLinks(self, row: peer).open(request)
  }

  private func restore(_ connection: Connection) async throws {
    // The session may be restoring it already.
    if connection.isBeingRestored { try await connection.untilRestored() }
    if connection.isOpen { return }
    var policy = ReconnectPolicy.forever
    // The first pause is short, because the user waits.
    policy.firstPause = .milliseconds(10)
    policy.deadline = EventLoop.shared.now.advanced(by: context.step.limits.connecting)
    reportMissing(try await context.session.restore(connection, policy).missing, of: row(of: connection))
  }

  /// Shows a problem for each subscription that blectl could not restore after a reconnect.
  func reportMissing(_ missing: [Restoration.Missing], of peer: PeerAddress) {
    for item in missing {
      let reason = item.reason.map { Failure($0).message } ?? "it no longer exists."
      browser.problem("Cannot subscribe to \(item.characteristic.uuid): \(reason)", of: peer, at: now)
    }
  }

  private func failed(_ peer: PeerAddress, _ error: any Error) async {
    guard !(error is CancellationError) else { return }
    // The user ended it, or the observer of the client has reported it.
    if case .closed? = browser.devices.peers[peer]?.state { return }
    var failure = Failure(error)
    failure.addPairing(with: "\(peer.address)", context.process.commands.program)
    browser.closed(peer, failure.message, at: now)
    changed()
    // Keep a lost link, so that its subscriptions can be restored.
    if links[peer]?.isOpen == true || browser.devices.peers[peer]?.tree.table == nil { await end(peer) }
  }

  /// Adds an open connection that the shell session had before the browser started.
  func adopt(_ connection: Connection) {
    hold(connection, as: connection.peer)
    observe(connection.client)
    browser.devices.connecting(connection.peer, name: connection.name)
    browser.connected(connection.peer, mtu: connection.client.mtu, at: now)
    browser.devices.peers[connection.peer]?.pending += 1
    request(connection.peer) { try await $0.discover(on: $1) }
  }

  func hold(_ connection: Connection, as row: PeerAddress) {
    links[row] = connection
    let values = SubscribedValues(lastingOn: connection)
    values.onRenewed = { [weak self] missing in
      self?.reportMissing(missing, of: row)
      self?.showSubscriptions(of: row)
    }
    subscriptions[row] = values
    // Drain only: `observe` shows values, `values` resubscribes.
    spawn { _ in while (try? await values.next(until: nil)) != nil {} }
  }

  /// Cancels the browser's subscriptions, and disconnects lost connections that did not exist before the browser started.
  func release(_ before: [Connection]) async {
    for observer in observers.values { observer.cancel() }
    let ending = subscriptions.values.map { values in EventLoop.shared.spawn { await values.end() } }
    for task in ending { await task.value }
    for connection in links.values {
      if !connection.isOpen, !before.contains(where: { $0 === connection }) { await context.session.disconnect(connection) }
      context.session.onClient?(connection.client)
    }
  }

  /// Observes the PDUs, notes, received values and the end of a connection.
  func observe(_ client: Client) {
    client.onPDU = { [weak self, weak client] direction, bytes in
      guard let self, let client, let peer = peer(of: client) else { return }
      browser.log.add(direction, bytes, of: peer, at: now)
      if browser.showsLog { changed() }
    }
    client.onNote = { [weak self, weak client] note in
      guard let self, let client else { return }
      let peer = peer(of: client)
      self.note(note.text, of: peer)
      guard case .servicesChanged = note, let peer else { return }
      browser.devices.peers[peer]?.pending += 1
      request(peer) { try await $0.rediscover(on: $1) }
    }
    observers[ObjectIdentifier(client)] = client.observeValues { [weak self, weak client] event in
      guard let self, let client, let peer = peer(of: client) else { return }
      browser.devices.peers[peer]?.receive(.success(event.value), of: event.handle, at: event.wallClock)
      changed()
    }
    spawn { session in
      guard let reason = try? await client.untilClosed() else { return }
      session.observers[ObjectIdentifier(client)] = nil
      // The task that connects reports its own failures.
      guard let peer = session.peer(of: client), session.browser.devices.peers[peer]?.isConnected == true else { return }
      session.browser.closed(peer, Failure(reason).message, at: session.now)
      session.changed()
    }
  }

  private func peer(of client: Client) -> PeerAddress? { links.first { $0.value.client === client }?.key }

  func disconnect(_ peer: PeerAddress) async {
    browser.closed(peer, nil, at: now)
    changed()
    attempts[peer]?.cancel()
    await end(peer)
  }

  private func end(_ peer: PeerAddress) async {
    subscriptions[peer] = nil
    browser.devices.peers[peer]?.subscribed = []
    if let connection = links.removeValue(forKey: peer) { await context.session.disconnect(connection) }
  }

  /// Copies the subscriptions of a device to the tree, which marks subscribed characteristics.
  func showSubscriptions(of peer: PeerAddress) {
    browser.devices.peers[peer]?.subscribed = Set(subscriptions[peer]?.characteristics.map(\.valueHandle) ?? [])
  }
}
