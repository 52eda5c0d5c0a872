import BluetoothLE
import BluetoothLESimulator
import Presentation
import SystemPackage
import Terminal

/// The server of `blectl sim`, which lets clients on sockets use the simulator and reports each client that connects or disconnects.
@LoopActor
final class AirHost {
  var listeners: [Listener] = []
  private let pool: ControllerPool
  private let output: Output
  private let stays: Bool
  private let over = Wait<Void>()
  /// The number of JSON records that the host dropped because the output had no room.
  private var dropped = 0

  init(_ pool: ControllerPool, _ output: Output, stays: Bool) { (self.pool, self.output, self.stays) = (pool, output, stays) }

  /// Serves clients until the last client disconnects, or without end if `stays` is true.
  /// - Throws: `TransportError` when a socket fails; `CancellationError`.
  func run() async throws {
    pool.onEvent = { [weak self] in self?.take($0) }
    for listener in listeners { listener.handler = { [weak self] in self?.take($0, listener.address) } }
    for listener in listeners { tell(of: listener.address) }
    try await over.value()
  }

  /// Disconnects all clients and removes the sockets. A second call has no effect.
  func close() {
    for listener in listeners { listener.close() }
    listeners = []
    pool.close()
    if dropped > 0 { output.note("Dropped \(dropped.counted("record")): the output was not read in time.") }
  }

  private func tell(of address: TransportAddress) {
    record {
      $0.string("event", "listening")
      $0.string("address", address.description)
    }
    if !output.style.json, !output.style.quiet {
      let end = stays ? "" : " Stops when the last client disconnects."
      let variable = "BLECTL_ADAPTER=\(ShellWords.quoteForShell("\(address)"))"
      output.message(output.displayText("Listening on \(address).\(end) Press Ctrl-C to stop. Try: \(variable) blectl scan"))
    }
    if case .tcp(let host, _) = address, !Self.isLoopback(host) {
      output.note("Any host that reaches this machine can use \(address). To allow only local programs, use tcp:localhost:PORT.")
    }
  }

  private static func isLoopback(_ host: String) -> Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

  private func take(_ event: Listener.Event, _ address: TransportAddress) {
    switch event {
    case .connected(let stream): pool.attach(stream)
    case .exhausted(let errno): output.note("Cannot accept more clients on \(address) for now: \(errno.words)")
    case .failed(let errno): over.resume(throwing: TransportError.cannotListen(address, errno))
    }
  }

  private func take(_ event: ControllerPool.Event) {
    switch event {
    case .came(let host):
      say("Client \(host.number ?? 0) connected: controller \(host.address)")
      tell(of: host, "connected")
    case .left(let host, let departure): left(host, departure)
    case .refused: output.note("Rejected a client: all \(ControllerPool.limit) controllers are in use.")
    }
    if !stays, pool.arrivals > 0, pool.hosts.isEmpty { over.resume(returning: ()) }
  }

  private func left(_ host: ControllerPool.Host, _ departure: ControllerPool.Departure) {
    let (reason, note) = Self.words(departure)
    if let note { output.note("Disconnected \(host.number.map { "client \($0)" } ?? "a client"): \(note)") }
    guard let number = host.number else { return }
    let dropped = host.droppedReports > 0 ? ". The simulator dropped \(host.droppedReports.counted("unread advertisement"))." : ""
    say("Client \(number) disconnected\(dropped)")
    tell(of: host, "disconnected") {
      $0.string("reason", reason)
      $0.integer("dropped_reports", host.droppedReports)
    }
  }

  /// Returns the reason for a client's disconnection. `note` explains an unusual reason to the user, and is nil for a usual one.
  private static func words(_ departure: ControllerPool.Departure) -> (reason: String, note: String?) {
    switch departure {
    case .ended(TransportError.closedByOtherSide): ("closed", nil)
    case .ended(TransportError.notH4(_, let what)): ("not_h4", "it does not send H4 packets (\(what)).")
    // The client was killed while data was waiting for it.
    case .ended(TransportError.lost(_, .connectionReset)), .ended(TransportError.lost(_, .brokenPipe)): ("lost", nil)
    case .ended(let error): ("lost", Failure(error).message)
    case .stuck(let bytes): ("stuck", "it does not read its data: \(bytes) bytes are waiting.")
    }
  }

  /// Prints progress as text at verbosity 1. Prints nothing with `--json`.
  private func say(_ text: @autoclosure () -> String) { if !output.style.json { output.verbose(1, text()) } }

  private func tell(of host: ControllerPool.Host, _ state: String, _ more: (inout RecordWriter) -> Void = { _ in }) {
    record {
      $0.string("event", "client")
      $0.integer("client", host.number)
      $0.string("state", state)
      $0.address("address", host.address)
      $0.integer("clients", pool.hosts.count { $0.number != nil })
      more(&$0)
    }
  }

  /// Writes a JSON record. Drops the record if the output has no room. A closed output does not stop the host.
  private func record(_ build: (inout RecordWriter) -> Void) {
    guard output.style.json, !output.isBroken else { return }
    if (try? output.offerRecord(build)) == false { dropped += 1 }
  }
}
