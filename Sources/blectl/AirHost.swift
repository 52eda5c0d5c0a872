import Bluetooth
import EventLoop
import LinuxIO
import Simulation
import SystemPackage
import Terminal
import Text

/// An air for programs that connect to sockets, and what is told of who comes and goes.
@LoopActor
final class AirHost {
  var listeners: [Listener] = []
  private let pool: ControllerPool
  private let output: Output
  private let stays: Bool
  private let over = Wait<Void>()
  /// Records for which there was no room.
  private var dropped = 0

  init(_ pool: ControllerPool, _ output: Output, stays: Bool) {
    self.pool = pool
    self.output = output
    self.stays = stays
  }

  /// Returns when the last client has gone, unless it is to stay.
  /// - Throws: TransportError when a socket fails; CancellationError.
  func run() async throws {
    pool.onEvent = { [weak self] in self?.take($0) }
    for listener in listeners { listener.handler = { [weak self] in self?.take($0, listener.address) } }
    for listener in listeners { tell(of: listener.address) }
    try await over.value()
  }

  /// Clients that are connected lose their controller; the sockets are removed. Idempotent.
  func close() {
    for listener in listeners { listener.close() }
    listeners = []
    pool.close()
    if dropped > 0 { output.note("\(dropped) record(s) were dropped, because nobody read the output") }
  }

  private func tell(of address: TransportAddress) {
    record {
      $0.string("event", "listening")
      $0.string("address", address.description)
    }
    if !output.style.json, !output.style.quiet {
      let end = stays ? "Ctrl-C ends it" : "it ends with its last client, or with Ctrl-C"
      output.message(
        output.forEyes("listening on \(address): BLECTL_ADAPTER=\(ShellWords.quoteForShell("\(address)")) blectl scan; \(end)"))
    }
    if case .tcp(let host, _) = address, !Self.isLoopback(host) {
      output.note("whoever reaches this machine can use \(address); tcp:localhost:PORT is for programs on it only")
    }
  }

  private static func isLoopback(_ host: String) -> Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

  private func take(_ event: Listener.Event, _ address: TransportAddress) {
    switch event {
    case .connected(let stream): pool.attach(stream)
    case .exhausted(let errno): output.note("\(address): no more clients can be served for now: \(errno.words)")
    case .failed(let errno): over.resume(throwing: TransportError.cannotListen(address, errno))
    }
  }

  private func take(_ event: ControllerPool.Event) {
    switch event {
    case .came(let host):
      say("\(Self.name(host)) came: controller \(host.address)")
      tell(of: host, "connected")
    case .left(let host, let departure): left(host, departure)
    case .refused: output.note("a client was sent away: \(ControllerPool.limit) controllers are in use")
    }
    if !stays, pool.arrivals > 0, pool.hosts.isEmpty { over.resume(returning: ()) }
  }

  private func left(_ host: ControllerPool.Host, _ departure: ControllerPool.Departure) {
    let (reason, note) = Self.words(departure)
    if let note { output.note("\(Self.name(host)): \(note)") }
    guard host.number != nil else { return }
    let dropped = host.droppedReports > 0 ? "; \(host.droppedReports) advertisements were dropped, because it was slow to take them" : ""
    say("\(Self.name(host)) has gone\(dropped)")
    tell(of: host, "disconnected") {
      $0.string("reason", reason)
      $0.integer("dropped_reports", host.droppedReports)
    }
  }

  /// For the record, and for who watches when it is not how programs usually end.
  private static func words(_ departure: ControllerPool.Departure) -> (reason: String, note: String?) {
    switch departure {
    case .ended(TransportError.closedByOtherSide): ("closed", nil)
    case .ended(TransportError.notH4(_, let what)): ("not_h4", "sent away, because what it sends is not H4: \(what)")
    // Killed, with something still to read.
    case .ended(TransportError.lost(_, .connectionReset)), .ended(TransportError.lost(_, .brokenPipe)): ("lost", nil)
    case .ended(let error): ("lost", Failure(error).message)
    case .stuck(let octets): ("stuck", "sent away, because it does not take what it is sent: \(octets) octets wait")
    }
  }

  /// With --json the records say it.
  private func say(_ text: @autoclosure () -> String) { if !output.style.json { output.verbose(1, text()) } }

  private static func name(_ host: ControllerPool.Host) -> String { host.number.map { "client \($0)" } ?? "a client" }

  private func tell(of host: ControllerPool.Host, _ state: String, _ more: (inout JSONLine) -> Void = { _ in }) {
    record {
      $0.string("event", "client")
      $0.integer("client", host.number)
      $0.string("state", state)
      $0.address("address", host.address)
      $0.integer("clients", pool.hosts.count { $0.number != nil })
      more(&$0)
    }
  }

  /// Whether anybody reads them is not the air's concern: a closed output does not end it.
  private func record(_ build: (inout JSONLine) -> Void) {
    guard output.style.json, !output.isBroken else { return }
    if (try? output.offerRecord(build)) == false { dropped += 1 }
  }
}
