import ATT
import Bluetooth
import EventLoop
import GAP
import GATT
import LinuxIO
import Operations
import Terminal
import Text

/// What a running command works with: the output, the radio, and the user's state. One for the process.
@LoopActor
final class Context {
  let output: Output
  let options: GlobalOptions
  let configuration: Configuration
  private var central: (any Central)?
  private var trace: SnoopFile?

  init(_ options: GlobalOptions, _ output: Output, _ configuration: Configuration) {
    self.options = options
    self.output = output
    self.configuration = configuration
  }

  /// The radio of `--adapter`, opened at the first call.
  func radio() async throws -> any Central {
    if let central { return central }
    if let path = options.trace, trace == nil { trace = try await open(trace: path) }
    let opened = try await configuration.adapter(options).open(tap: trace, verbose: { [output] in output.verbose(1, $0) })
    opened.onNote = { [output] in output.note($0.text) }
    central = opened
    return opened
  }

  /// Links down, scan off, files closed.
  func close() async {
    if let central { await shielded { await central.close() } }
    central = nil
  }

  /// The trace is a result too: a full disk must not pass unnoticed.
  func closeTrace() async throws {
    defer { trace = nil }
    try await trace?.close()
  }

  private func open(trace path: String) async throws -> SnoopFile {
    try await SnoopFile.open(path) { output.note("nobody reads the pipe “\(DisplayText.escape(path))” yet; waiting for its reader") }
  }

  /// How long a device may take to turn up, and to accept the connection.
  var searchLimit: Duration { .limited(seconds: options.timeout ?? 10) }
  var connectLimit: Duration { .limited(seconds: options.timeout ?? 20) }
  var transactionLimit: Duration { .limited(seconds: options.timeout ?? 30) }

  /// Finds the peer, and tells of the others that match.
  func find(_ selector: PeerSelector, takingFirst: Bool, within limit: Duration? = nil) async throws -> PeerMatch {
    if case .address(_, .some) = selector {} else { output.status("looking for \(selector) …") }
    let match = try await radio().find(PeerSearch(selector, takesFirst: takingFirst, limit: limit ?? searchLimit))
    guard !match.others.isEmpty else { return match }
    func strength(_ rssi: Int8?) -> String { rssi.map { "\($0) dBm" } ?? "strength unknown" }
    let others = match.others.map { "\($0.peer) (\(strength($0.rssi)))" }.joined(separator: ", ")
    output.note(
      "\(match.others.count + 1) devices match \(selector); taking the strongest, \(match.peer) (\(strength(match.rssi))), not \(others)")
    return match
  }

  /// Finds and connects the peer, agrees on the MTU, runs `body`, and takes the link down again on every path.
  /// - Parameter exchangingMTU: false for what may do without, and asks for it when it does not.
  func withPeer<T: Sendable>(
    _ who: PeerOptions, exchangingMTU: Bool = true, _ body: @escaping @LoopActor (Session) async throws -> T
  ) async throws -> T {
    let central = try await radio()
    let selector = try await configuration.resolve(who.peer)
    let match = try await find(selector, takingFirst: who.first)
    output.status("connecting to \(match.peer)\(match.name.map { " (\(DisplayText.escape($0)))" } ?? "") …")
    let link: any Link
    do {
      link = try await central.connect(match.peer, timeout: connectLimit)
    } catch {
      var failure = Failure(error)
      if failure.kind == .timeout, case .address(let address, let type?) = selector {
        failure.message +=
          "; if it advertises, its address may be \(type == .public ? "random" : "public"): name it as \(address), without /\(type.rawValue), and it is found by scanning"
        throw failure
      }
      throw error
    }
    let client = Client(link.channel, timeout: transactionLimit)
    client.onNote = { [output] in output.note($0.text) }
    if output.style.verbosity >= 2 { client.onPDU = { [output] in output.verbose(2, PDUText.line($0, $1)) } }
    let session = Session(link: link, client: client, name: match.name)
    do {
      if exchangingMTU { try await client.exchangeMTU() }
      configuration.remember(match.peer)
      let value = try await body(session)
      await end(session)
      return value
    } catch {
      await end(session)
      throw error
    }
  }

  private func end(_ session: Session) async {
    await shielded {
      // What we switched on is switched off again, also after Ctrl-C; a peer that does not answer keeps nobody waiting.
      if session.client.closed == nil {
        let limit = EventLoop.shared.now.advanced(by: .seconds(1))
        _ = try? await withDeadline(limit) { try await session.client.unsubscribeAll() }
      }
      await session.link.disconnect()
      session.client.close()
    }
  }
}

/// One connected peer.
@LoopActor
struct Session {
  let link: any Link
  let client: Client
  let name: String?

  var peer: PeerAddress { link.peer }
}
