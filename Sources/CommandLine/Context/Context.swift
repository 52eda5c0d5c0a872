import Bluetooth
package import EventLoop
package import GAP
package import GATT
import LinuxIO
package import Operations
import Presentation
package import Terminal
import Text

/// The environment of one command: the process's session and output, and the command's links and limits.
@LoopActor
package struct Context {
  /// The source of a command.
  package enum Caller {
    case commandLine
    /// A line of a session.
    case person
    /// A line of `repl --json` with an `id`.
    case program
    case script
  }

  package let process: ProcessContext
  package let step: StepOptions
  package let output: Output
  package let caller: Caller
  /// The provider of links for the command.
  package let links: any DeviceLinks
  /// The observer of the command.
  package let observer: (any CommandObserver)?

  /// Creates the context of a command on the command line.
  package init(_ process: ProcessContext, _ step: StepOptions, _ observer: (any CommandObserver)? = nil) {
    let links = OneShotLinks(process.session, LinkText(process, process.output, observer), Self.clientObserver(observer))
    self.init(process, step, process.output, .commandLine, links, observer)
  }

  package init(
    _ process: ProcessContext, _ step: StepOptions, _ output: Output, _ caller: Caller, _ links: any DeviceLinks,
    _ observer: (any CommandObserver)?
  ) {
    self.process = process
    self.step = step
    self.output = output
    self.caller = caller
    self.links = links
    self.observer = observer
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

  /// Whether the command may read standard input.
  package var isInputFed: Bool { !isInSession && StandardInput.isFed }

  /// Refuses `-` (standard input) in a session.
  /// - Throws: `Failure(.usage)`.
  package func refuseInput() throws {
    guard !isInSession else {
      throw Failure(.usage, "Cannot read - in a session: standard input carries its commands. Use a file or a named pipe.")
    }
  }

  /// Returns the adapter, opened at the first call.
  package func radio() async throws -> any Central { try await session.central() }

  /// Reads the descriptors that describe a value, once per link. Does so only in a session or with `-v`. Ignores errors.
  package func describe(_ characteristic: Characteristic, on connection: Connection) async {
    if asksForDescriptions { try? await connection.client.readDescription(of: characteristic) }
  }

  /// Whether to spend requests on descriptions.
  package var asksForDescriptions: Bool { isInSession || output.style.verbosity > 0 }

  /// Whether the session shows this value, so that the command need not show it. Programs get both records, with different `id`s.
  package func isShownBeside(_ event: ValueEvent) -> Bool { caller != .program && links.showsInBackground(event) }

  /// Reports how many records the output dropped. Silent if the reader closed the output (`| head -1`) or the user ended the command.
  package func reportDropped(_ count: Int) {
    guard !output.isBroken, !Task.isCancelled || !output.hasRoom else { return }
    output.note("Dropped \(count) record(s) so far: the output was not read in time.")
  }

  // MARK: The device

  /// Runs `body` on a link to the peer. Uses the session's link if it exists. Otherwise connects, exchanges the MTU, and disconnects on
  /// every path.
  /// - Parameters:
  ///   - exchangingMTU: Whether to exchange the MTU. False if `body` exchanges it.
  ///   - isRepeatable: Whether `body` only reads. If so, it runs again if the device closes the link before it answers.
  ///   - restoring: Whether to restore a lost link of the session.
  package func withPeer<T: Sendable>(
    _ target: Target, exchangingMTU: Bool = true, isRepeatable: Bool = false, restoring: Bool = false,
    _ body: @escaping @LoopActor (Connection) async throws -> T
  ) async throws -> T {
    var request = try await request(target, exchangingMTU: exchangingMTU)
    request.restores = restoring
    return try await links.withLink(request, isRepeatable: isRepeatable, body)
  }

  /// Returns the request for a link, from the options of a command.
  /// - Throws: `Failure` for a PEER that names no device.
  package func request(_ target: Target, exchangingMTU: Bool = true) async throws -> LinkRequest {
    let isCurrent = target.peer == .current
    let current = isCurrent ? links.currentDevice : nil
    let selector = if let current { current } else { try await configuration.resolve(target.peer) }
    var request = LinkRequest(selector)
    request.connects = !isCurrent
    request.takesFirst = target.takesFirst
    request.demandsOne = target.demandsOne
    request.waits = target.waits
    request.patience = target.waits ? step.waitLimit : step.searchLimit
    request.limits = step.limits
    request.limits.retries = target.retries ?? request.limits.retries
    request.parameters = target.requested
    request.exchangesMTU = exchangingMTU
    // Looking up the name is too slow for one command with an address.
    if case .selector = target.peer { request.looksUpName = isInSession } else { request.looksUpName = true }
    return request
  }
}
