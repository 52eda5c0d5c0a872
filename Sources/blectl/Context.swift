import Bluetooth
import EventLoop
import GAP
import GATT
import LinuxBluetooth
import Operations
import Terminal
import Text

/// What one command works with: the process's session and output, and its own limits.
@LoopActor
struct Context {
  let process: ProcessContext
  let step: StepOptions
  let output: Output
  /// The session that it is a command of, with the device that it is about; nil on the command line.
  var shell: Shell?
  var lane: Lane?
  /// No device was named: only the one that is connected will do.
  var isAboutCurrent = false
  /// What is in each of its JSON records besides.
  var members: [UInt8] = []

  /// - Parameter output: its own style; nil: the process's.
  init(_ process: ProcessContext, _ step: StepOptions, _ output: Output? = nil) {
    self.process = process
    self.step = step
    self.output = output ?? process.output
  }

  var configuration: Configuration { process.configuration }
  var session: Session { process.session }

  /// - Throws: Failure(.usage) in a session, whose commands come from standard input.
  func refuseInput() throws {
    guard shell == nil else {
      throw Failure(.usage, "- is standard input, where the commands of the session come from; name a file or a pipe instead")
    }
  }

  /// The radio of `--adapter`, opened at the first call.
  func radio() async throws -> any Central { try await session.central() }

  /// What a scan or a link brought and the output did not take. `| head -1`: a reader that has had enough is not told what else there was; nor is who
  /// has ended it what came in that moment.
  func tellOfDropped(_ count: Int) {
    guard !output.isBroken, !Task.isCancelled || !output.hasRoom else { return }
    output.note("\(count) record(s) were dropped so far, because nobody read the output")
  }

  /// Finds the peer, and tells of the others that match.
  func find(_ selector: PeerSelector, takingFirst: Bool, demandingOne: Bool = false, within limit: Duration? = nil) async throws
    -> PeerMatch
  {
    if case .address(_, .some) = selector {} else { output.status("looking for \(selector) …") }
    let match = try await radio().find(
      PeerSearch(selector, takesFirst: takingFirst, demandsOne: demandingOne, limit: limit ?? step.searchLimit))
    guard !match.others.isEmpty else { return match }
    func strength(_ rssi: Int8?) -> String { rssi.map { "\($0) dBm" } ?? "strength unknown" }
    let others = match.others.map { "\($0.peer) (\(strength($0.rssi)))" }.joined(separator: ", ")
    output.note(
      "\(match.others.count + 1) devices match \(selector); taking the strongest, \(match.peer) (\(strength(match.rssi))), not \(others)")
    return match
  }

  /// Runs `body` on the session's link to the peer when there is one; else finds and connects the peer, agrees on the MTU, runs `body`, and takes
  /// the link down again on every path.
  /// - Parameter exchangingMTU: false for what may do without, and asks for it when it does not.
  func withPeer<T: Sendable>(
    _ target: Target, exchangingMTU: Bool = true, _ body: @escaping @LoopActor (Connection) async throws -> T
  ) async throws -> T {
    if lane?.connection != nil { try await untilItIsBack() }
    if let connection = lane?.connection, connection.isOpen {
      try await target.requested.ask(connection.link, output)
      return try await body(connection)
    }
    if isAboutCurrent { throw Failure.notConnected(lane?.problem) }
    let connection = try await open(try await configuration.resolve(target.peer), target, exchangingMTU: exchangingMTU)
    do {
      let value = try await body(connection)
      await session.disconnect(connection)
      return value
    } catch {
      await session.disconnect(connection)
      throw error
    }
  }

  /// The link of the device that a command of a session is about; one that is lost and may come back is waited for.
  /// - Throws: Failure when there is none.
  func liveConnection() async throws -> Connection {
    try await untilItIsBack()
    guard let connection = lane?.connection, connection.isOpen else { throw Failure.notConnected(lane?.problem) }
    return connection
  }

  /// Returns when the link is there, or nobody makes it again, or the limit of a transaction is over.
  func untilItIsBack() async throws {
    guard let lane, let shell else { return }
    let end = EventLoop.shared.now.advanced(by: step.limits.transaction)
    while let connection = lane.connection, !connection.isOpen, shell.settings.reconnect, lane.mayComeBack, EventLoop.shared.now < end {
      if connection.isBeingRestored {
        _ = try await withDeadline(end) { try await connection.untilRestored() }
      } else {
        // The loss is known, and what follows from it not yet.
        try await EventLoop.shared.sleep(for: .milliseconds(1))
      }
    }
  }

  /// A link to the peer that stays until the session ends it. Nothing is left behind when this throws.
  func open(_ selector: PeerSelector, _ target: Target, exchangingMTU: Bool = true) async throws -> Connection {
    let connection = try await connect(selector, target)
    do {
      if exchangingMTU || target.mtu != nil { try await exchangeMTU(target.mtu, connection.client) }
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
    if agreed != wanted { output.note("MTU: \(agreed) octets were agreed on, not \(wanted)") }
  }

  /// Finds the peer and connects it; with `target.waits` again and again, until it is there or the limit is over.
  private func connect(_ selector: PeerSelector, _ target: Target) async throws -> Connection {
    let patience = target.waits ? step.waitLimit : step.searchLimit
    let deadline = EventLoop.shared.now.advanced(by: patience)
    // Between two attempts: one that refuses at once must not be asked all the time.
    let pause = Duration.milliseconds(500)
    var limits = step.limits
    limits.retries = target.retries ?? limits.retries
    if target.waits { output.status("waiting for \(selector); Ctrl-C ends") }
    while true {
      let rest = EventLoop.shared.now.duration(to: deadline)
      let match = try await find(selector, takingFirst: target.takesFirst, demandingOne: target.demandsOne, within: rest)
      output.status("connecting to \(match.peer)\(match.name.map { " (\(DisplayText.escape($0)))" } ?? "") …")
      if target.waits { limits.connecting = min(limits.connecting, EventLoop.shared.now.duration(to: deadline)) }
      do {
        return try await session.connect(match.peer, name: match.name, foundBy: selector, limits: limits, exchangingMTU: false)
      } catch  where target.waits && Self.mayPass(error) && EventLoop.shared.now.advanced(by: pause) < deadline {
        output.status("\(Failure(error).message); still waiting")
        try await EventLoop.shared.sleep(for: pause)
      } catch {
        throw withHint(error, selector)
      }
    }
  }

  /// What a device that is not ready yet, or too far away, brings about.
  private static func mayPass(_ error: any Error) -> Bool {
    switch error {
    case GAPError.noConnection: true
    case let error as any ConnectionError: error.isWorthRetrying
    case let error as NoConnection: error.cause == .notEstablished || error.cause == .endedByPeer
    default: false
    }
  }

  private func withHint(_ error: any Error, _ selector: PeerSelector) -> any Error {
    var failure = Failure(error)
    guard failure.kind == .timeout, case .address(let address, let type?) = selector else { return error }
    failure.message +=
      "; if it advertises, its address may be \(type == .public ? "random" : "public"): name it as \(address), without /\(type.rawValue), and it is found by scanning"
    return failure
  }
}
