/// A reporter that shows the events of a command's connections, and adds advice to the errors of searches and connection attempts.
@LoopActor
package final class LinkText: LinkReporter {
  private let process: ProcessContext
  private let output: Output
  private weak var observer: (any CommandObserver)?
  /// The option that sets the time limit of a search.
  private let limitOption: String
  private var countdown: Task<Void, Never>?
  private var count = 0
  /// The devices that the last search heard.
  private var devices: [DeviceView] = []

  package init(_ process: ProcessContext, _ output: Output, _ observer: (any CommandObserver)? = nil, limitOption: String = "-t") {
    (self.process, self.output, self.observer, self.limitOption) = (process, output, observer, limitOption)
  }

  package func report(_ event: LinkEvent) {
    switch event {
    case .waiting(let selector): output.status("Waiting for \(selector). Press Ctrl-C to stop.")
    case .searching(let selector, let limit):
      (count, devices) = (0, [])
      if case .address(_, .some) = selector {} else { output.status("Looking for \(selector) …") }
      if output.canAnimateErr { countdown = countDown(selector, from: limit) }
    case .heard(let count): self.count = count
    case .searched(let devices):
      self.devices = devices
      process.memory.hear(devices)
    case .searchEnded:
      countdown?.cancel()
      output.clearTransient()
    case .chose(let match, let selector):
      let others = match.others.map { "\($0.peer) (\(Self.strength($0.rssi)))" }.joined(separator: ", ")
      output.note(
        "\(match.others.count + 1) devices match \(selector). Using the strongest, \(match.peer) (\(Self.strength(match.rssi))), "
          + "not \(others).")
    case .namesake(let namesake, let isWaiting): output.note(isWaiting ? "\(namesake.text) Still waiting." : namesake.text)
    case .isSame(let title, let other): output.status("\(title) is the same device as \(other).")
    case .connecting(let peer, let name): output.status("Connecting to \(peer)\(name.map { " (\($0))" } ?? "") …")
    case .stillWaiting(let error):
      var failure = Failure(error)
      failure.add("Still waiting.")
      output.status(failure.message)
    case .connected: observer?.didConnect()
    case .ready(let connection): process.configuration.remember(connection)
    case .mtu(let agreed, let wanted): output.note("The device agreed to an MTU of \(agreed), not \(wanted).")
    case .mtuStays(let mtu, let wanted):
      output.note(
        "The MTU of this connection stays \(Quantity.bytes(mtu)), because it is exchanged only once. "
          + "--mtu \(wanted) applies to the next connection.")
    case .agreed(let agreed?, let wanted) where agreed.text != wanted.text:
      output.note("The \(wanted.name) is \(agreed.text) instead of \(wanted.text).")
    case .agreed(let agreed, let wanted): output.status("The \(wanted.name) is \(agreed?.text ?? "unknown").")
    case .refused(let wanted, let error): output.note("Cannot set the \(wanted.name) to \(wanted.text): \(Failure(error).message)")
    case .tryingAgain(let peer, let reason): output.note(GAPNote.tryingAgain(peer, reason).text)
    case .reconnecting(let error, let pause):
      output.note("\(Failure(error).message.asSentence) Reconnecting \(pause.map { "in \($0.inSeconds) s" } ?? "…")")
    }
  }

  private static func strength(_ rssi: Int8?) -> String { rssi.map { "\($0) dBm" } ?? "strength unknown" }

  /// Starts a task that shows the remaining time of a search on the last line of the terminal.
  private func countDown(_ selector: PeerSelector, from limit: Duration) -> Task<Void, Never> {
    let end = EventLoop.shared.now.advanced(by: limit)
    return EventLoop.shared.spawn { [weak self] in
      while (try? await EventLoop.shared.sleep(for: .seconds(1))) != nil, let self {
        let left = max(0, EventLoop.shared.now.duration(to: end).components.seconds)
        output.progress("Looking for \(selector): \(left) s left, \(count) device\(count == 1 ? "" : "s") heard")
      }
    }
  }

  package func storedName(of peer: PeerAddress) -> UntrustedText? { process.configuration.name(of: peer) }

  package func explained(_ error: any Error, on connection: Connection) -> any Error {
    connection.explained(error, process.commands.program)
  }

  package func explained(_ error: any Error, _ search: FailedSearch) -> any Error {
    if error is CancellationError { return error }
    if let error = error as? InsufficientSecurity {
      return error.explained(process.commands.program, ShellWords.quoteForShell("\(search.selector)"))
    }
    let plain = Failure(error)
    var failure = plain
    if let error = error as? PeerSearchError {
      if case .replay? = try? process.adapter() { return Failure(error, isRecorded: true) }
      if case .notFound = error { addAdvice(to: &failure, search.selector) }
    }
    // The keys are those of one device, also if the selector fits several.
    let device = search.selector.isPlain ? nil : search.identity.map { "\($0)" }
    failure.addPairing(with: device ?? ShellWords.quoteForShell("\(search.selector)"), process.commands.program)
    if let heard = search.heard, failure.mayPass {
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
    if failure.kind == .timeout, case .address(let address, let type?) = search.selector {
      let other = type == .public ? "random" : "public"
      failure.add("If it advertises, its address may be \(other). To find it with a scan, omit /\(type.rawValue): \(address)")
    }
    return failure == plain ? error : failure
  }

  /// Adds advice to the error of a search, based on the devices that the search heard.
  private func addAdvice(to failure: inout Failure, _ selector: PeerSelector) {
    if case .address(let address, _) = selector, let other = devices.first(where: { PeerSelector.mac(address).matches($0) }) {
      failure.add("\(other.peer) advertises this MAC. Use mac:\(address).")
    } else if case .mac(let address) = selector, devices.contains(where: { $0.peer.address == address }) {
      failure.add("A device uses this address. Use it without the prefix: \(address)")
    }
    if case .name(let name) = selector {
      if AdapterSpec.isPlain(name) { failure.add("For an adapter, use -i \(ShellWords.quoteForShell(name)).") }
      if process.configuration.isAlias(name) { failure.add("For the alias of this name, use @\(ShellWords.quoteForShell(name)).") }
    }
    failure.add("To listen longer, use \(limitOption) SECONDS\(CommandLine.arguments.contains("--wait") ? "" : " or --wait").")
  }
}

extension LinkParameter {
  fileprivate var name: String {
    switch self {
    case .dataLength: "data length"
    case .phy: "PHY"
    case .interval: "interval"
    }
  }

  fileprivate var text: String {
    switch self {
    case .dataLength(let bytes): Quantity.bytes(bytes)
    case .phy(let phy): phy.name
    case .interval(let interval): "\(interval.millisecondsText) ms"
    }
  }
}
