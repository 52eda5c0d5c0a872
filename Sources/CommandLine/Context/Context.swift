import BluetoothLELinux

/// The environment of one command, such as its output, its connections and its time limits.
@LoopActor
package struct Context {
  /// The origin of a command: the command line, a person, a program or a script.
  package enum Caller {
    case commandLine
    /// A line of a session whose JSON records carry no `id`.
    case person
    /// A line of `repl --json`, whose records carry an `id`.
    case program
    case script
  }

  package let process: ProcessContext
  package let step: StepOptions
  package let output: Output
  package let caller: Caller
  package let links: any CommandLinks
  /// The observer of the command. Nil if neither a recorder nor a script needs the results.
  package let observer: (any CommandObserver)?
  /// The value of `--level` of the browser, which has no options for most devices. Nil without the option.
  package var level: SecurityLevel?
  let pairings = PairingAttempts()

  /// Creates the context of a command on the command line. `observer` is nil if nothing records the command.
  package init(_ process: ProcessContext, _ step: StepOptions, _ observer: (any CommandObserver)? = nil) {
    let links = OneShotCommandLinks(process.session, LinkText(process, process.output, observer), Self.clientObserver(observer))
    self.init(process, step, process.output, .commandLine, links, observer)
  }

  package init(
    _ process: ProcessContext, _ step: StepOptions, _ output: Output, _ caller: Caller, _ links: any CommandLinks,
    _ observer: (any CommandObserver)?
  ) {
    (self.process, self.step, self.output, self.caller, self.links, self.observer) = (process, step, output, caller, links, observer)
  }

  /// Returns a client observer that passes the PDUs of each connection to `observer`. Nil without an observer.
  package static func clientObserver(_ observer: (any CommandObserver)?) -> Session.ClientObserver? {
    guard let observer else { return nil }
    return Session.ClientObserver { [weak observer] client in
      let onPDU = client.onPDU
      client.onPDU = { [weak client] direction, pdu in
        onPDU?(direction, pdu)
        if let client { observer?.didExchange(direction, pdu, client) }
      }
    }
  }

  package var configuration: Configuration { process.configuration }
  package var session: Session { process.session }

  /// Whether the command runs in a session, which may read commands from standard input.
  package var isInSession: Bool { caller != .commandLine }

  /// Whether the command may read standard input. False in a session and on a terminal.
  package var isInputFed: Bool { !isInSession && StandardInput.isFed }

  /// Refuses `-` (standard input) in a session.
  /// - Throws: `Failure(.usage)` in a session.
  package func refuseInput() throws {
    guard !isInSession else {
      throw Failure(.usage, "Cannot read - in a session: standard input carries its commands. Use a file or a named pipe.")
    }
  }

  /// Returns the radio. Opens the adapter at the first call.
  package func radio() async throws -> any Central { try await session.central() }

  /// Reads the descriptors of a characteristic, once per connection. Reads nothing outside a session without `-v`. Ignores errors.
  package func describe(_ characteristic: Characteristic, on connection: Connection) async {
    if asksForDescriptions { try? await connection.client.readDescription(of: characteristic) }
  }

  /// Whether the command reads descriptors to describe values. True in a session or with `-v`.
  package var asksForDescriptions: Bool { isInSession || output.style.verbosity > 0 }

  /// Returns whether the session shows a value in the background, so that the command need not show it. False for a program.
  package func isShownBeside(_ event: ValueEvent) -> Bool { caller != .program && links.showsInBackground(event) }

  /// Reports how many records the output has dropped. Reports nothing after the reader closed the output or the user ended the command.
  package func reportDropped(_ count: Int) {
    guard !output.isBroken, !Task.isCancelled || !output.hasRoom else { return }
    output.note("Dropped \(count.counted("record")) so far: the output was not read in time.")
  }

  /// Returns the defaults of the configuration file for a connected device.
  package func options(for connection: Connection) -> OptionDefaults.Options {
    configuration.options(for: connection.identityAddress, named: connection.name, connection.selector)
  }

  /// Returns the format of `--as`, else the default for the device.
  package func format(_ chosen: ValueFormat?, of connection: Connection) -> ValueFormat {
    chosen ?? options(for: connection).format ?? .auto
  }

  /// Returns the least security of a link: that of `--level` or of the session, else the default of the device.
  package func leastSecurity(_ level: SecurityLevel?, else usual: SecurityLevel?) -> SecurityLevel {
    // A recording contains whatever encryption there was.
    if case .replay? = try? process.adapter() { return .unencrypted }
    return level ?? links.level ?? usual ?? .unencrypted
  }

  // MARK: The device

  /// Runs `body` on a connection to the peer. Uses the session's connection if one exists. Otherwise connects, exchanges the MTU, and
  /// disconnects at the end, even after an error.
  /// - Parameters:
  ///   - exchangingMTU: Whether to exchange the MTU. False if `body` exchanges it.
  ///   - isRepeatable: Whether `body` only reads. If true, `body` may run again after the device closed the connection without an answer.
  ///   - wish: The pairing that `body` starts. Nil for another command.
  ///   - restoring: Whether to restore a lost connection of the session.
  package func withPeer<T: Sendable>(
    _ who: PeerOptions, exchangingMTU: Bool = true, isRepeatable: Bool = false, restoring: Bool = false, pairing wish: PairingWish? = nil,
    _ body: @escaping @LoopActor (Connection) async throws -> T
  ) async throws -> T {
    var request = try await request(who, exchangingMTU: exchangingMTU)
    request.restores = restoring
    if let wish { request.security = { _, _ in (wish, .unencrypted) } }
    return try await links.withLink(request, isRepeatable: isRepeatable, body)
  }

  /// Creates the request for a connection from the options of a command.
  /// - Throws: `Failure` for a PEER that names no device.
  package func request(_ who: PeerOptions, exchangingMTU: Bool = true) async throws -> LinkRequest {
    let isCurrent = who.peer == .current
    let current = isCurrent ? links.currentDevice : nil
    let selector = if let current { current } else { try await configuration.resolve(who.peer) }
    var request = LinkRequest(selector)
    request.connects = !isCurrent
    request.takesFirst = who.choice.first
    request.demandsOne = who.choice.unique
    request.waits = who.link.wait
    request.patience = who.link.wait ? step.waitLimit : step.searchLimit
    request.limits = step.limits
    request.limits.retries = who.link.retries ?? configuration.defaults.general.retries ?? request.limits.retries
    request.parameters = who.link.requested
    request.defaults = { [configuration] in configuration.options(for: $0, named: $1, selector).parameters }
    request.exchangesMTU = exchangingMTU
    let wish = who.link.pair || links.pairs ? try PairingOptions.usualWish(self) : nil
    request.security = { [self] in
      let options = configuration.options(for: $0, named: $1, selector)
      let ownWish = try wish ?? (options.pairs ? PairingOptions.usualWish(self) : nil)
      return (ownWish, leastSecurity(who.link.leastSecurity, else: options.level))
    }
    // Looking up the name is too slow for one command with an address.
    if case .selector = who.peer { request.looksUpName = isInSession } else { request.looksUpName = true }
    return request
  }
}
