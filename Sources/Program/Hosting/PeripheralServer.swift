import BluetoothLELinux
import BluetoothLESimulator
import CommandLine

/// A device that `peripheral` serves: it prints what the centrals do, and performs the lines of standard input.
@LoopActor
final class PeripheralServer {
  private let description: PeripheralDescription
  private let options: ServingOptions
  private let endsWithCentral: Bool
  private let context: Context
  private var output: Output { context.output }
  private var device: ServedDevice?
  private let over = Wait<Void>()
  private var centrals = 0
  /// The number of records that the server dropped because the output had no room.
  private var dropped = 0

  /// The longest line of standard input in bytes.
  private static let lineLimit = 1 << 16

  init(_ description: PeripheralDescription, _ options: ServingOptions, endsWithCentral: Bool, _ context: Context) {
    (self.description, self.options, self.endsWithCentral, self.context) = (description, options, endsWithCentral, context)
  }

  /// Serves until the time limit, the end of the last central with `--once`, or the failure of the adapter.
  /// - Throws: the errors of the adapter, of the output and of standard input; CancellationError.
  func run(for limit: Duration?) async throws {
    let (radio, peripheral) = try await context.advertiser()
    let store = CentralStore(context.configuration, adapter: radio.identity)
    let device = ServedDevice(description, on: peripheral, centrals: try store.centrals(context.process.bonds), options: options)
    self.device = device
    device.onEvent = { [weak self] in self?.take($0) }
    device.onFailure = { [output] in output.note(Failure($0).message) }
    device.onCentrals = { [context, weak device] in
      guard let device else { return }
      do { try store.keep(device.centrals, context.process.bonds) } catch { context.output.note(Failure(error).message) }
    }
    do {
      try await device.start()
      tell(peripheral.advertisedAddress)
      _ = try await withDeadline(limit.map { EventLoop.shared.now.advanced(by: $0) }) {
        try await race(
          { try await race({ try await self.over.value() }, { try await radio.untilFailure() }) }, { try await self.readLines() })
      }
    } catch {
      await device.end()
      reportDropped()
      throw error
    }
    await device.end()
    reportDropped()
  }

  private static func forever() async throws { try await Wait<Void>().value() }

  private func reportDropped() { if dropped > 0 { context.reportDropped(dropped) } }

  private func tell(_ address: PeerAddress?) {
    record("advertising", ServedFacts(peer: address)) { _ in }
    guard !output.style.json, !output.style.quiet else { return }
    output.message(
      output.displayText(
        "Advertising \(DisplayText.escape(description.name))\(address.map { " as \($0.address)" } ?? ""). Press Ctrl-C to stop."))
  }

  // MARK: Standard input

  /// Performs the lines of standard input. After its end, nothing changes.
  private func readLines() async throws {
    guard StandardInput.isFed || StandardInput.isTerminal else { return try await Self.forever() }
    let reader = LineReader(limit: Self.lineLimit)
    while let line = try await reader.next() {
      switch line {
      case .tooLong: output.note("Skipped a line of more than \(Self.lineLimit) bytes.")
      case .octets(let octets):
        guard let text = String(validating: octets, as: UTF8.self) else {
          output.note("Skipped a line that is not UTF-8.")
          continue
        }
        perform(text)
      }
    }
    try await Self.forever()
  }

  private func perform(_ text: String) {
    do {
      guard let line = try PeripheralLineParser.parse(text), let device else { return }
      let reached = try device.perform(line)
      if reached == 0 { output.note("No central has subscribed, so none got the value: \(text)") }
    } catch { output.note("Skipped the line \(DisplayText.quote(DisplayText.clip(text, to: 60))): \(Failure(error).message)") }
  }

  // MARK: Events

  private func take(_ event: ServedEvent) {
    let facts = ServedFacts(peer: event.peer, uuid: event.uuid, handle: event.handle, value: event.value)
    switch event.kind {
    case .connected:
      centrals += 1
      record("connected", facts) { _ in }
      say("\(who(event)) connected")
    case .read:
      record("read", facts) { _ in }
      say("\(who(event)) read \(what(event))")
    case .written(let kind):
      record("written", facts) { $0.string("mode", kind == .request ? "request" : kind == .command ? "command" : "long") }
      say("\(who(event)) wrote \(what(event))")
    case .subscribed(let bits):
      record("subscribed", facts) { $0.string("mode", bits & 1 != 0 ? "notify" : "indicate") }
      say("\(who(event)) subscribed to \(what(event))")
    case .unsubscribed:
      record("unsubscribed", facts) { _ in }
      say("\(who(event)) unsubscribed from \(what(event))")
    case .notified, .indicated:
      var isIndication = false
      if case .indicated = event.kind { isIndication = true }
      record("notified", facts) { $0.string("mode", isIndication ? "indicate" : "notify") }
      say("Sent \(what(event)) to \(who(event))")
    case .paired(let result):
      record("paired", facts) {
        $0.string("method", result?.method?.snakeName)
        $0.bool("bonded", result.map { $0.bond != nil })
      }
      say("\(who(event)) paired")
    case .disconnected(let error):
      centrals -= 1
      let reason = (error as? any ConnectionError).map { Failure($0).message } ?? Failure(error).message
      record("disconnected", facts) { $0.string("reason", reason) }
      say("\(who(event)) disconnected: \(reason)")
      if endsWithCentral, centrals == 0 { over.resume(returning: ()) }
    case .fault(let text):
      record("fault", facts) { $0.string("fault", text) }
      say("Fault: \(what(event).isEmpty ? "" : "\(what(event)) ")\(text)")
    }
  }

  private func who(_ event: ServedEvent) -> String { event.peer.map { "\($0.address)" } ?? "A central" }

  private func what(_ event: ServedEvent) -> String {
    let name = event.uuid.map { AssignedNumbers.snakeName(of: $0) ?? "\($0)" } ?? event.handle.map { "\($0)" } ?? ""
    guard let value = event.value else { return name }
    return "\(name): \(ValueText.result(value, of: event.uuid, formats: [], as: .auto))"
  }

  private func record(_ event: String, _ facts: ServedFacts, _ more: (inout RecordWriter) -> Void) {
    guard output.style.json, !output.isBroken else { return }
    let isWritten = try? output.offerRecord {
      $0.string("event", event)
      $0.time("time", EventLoop.shared.wallClock)
      $0.peer("address", "address_type", facts.peer)
      if event != "advertising", event != "connected", event != "disconnected", event != "paired" {
        $0.uuid("uuid", facts.uuid)
        $0.integer("handle", facts.handle?.number)
      }
      if let value = facts.value { $0.hex("value", value) }
      more(&$0)
    }
    if isWritten == false { dropped += 1 }
  }

  private func say(_ text: @autoclosure () -> String) {
    guard !output.style.json, !output.isBroken else { return }
    let time = output.timeText(EventLoop.shared.wallClock).map { output.paint($0, .dim) + " " } ?? ""
    if (try? output.offerLine(time + output.displayText(text()))) == false { dropped += 1 }
  }
}

/// The members that records of a served device share.
private struct ServedFacts {
  var peer: PeerAddress?
  var uuid: UUID?
  var handle: AttributeHandle?
  var value: [UInt8]?
}

extension Context {
  /// Returns the adapter and its peripheral role.
  /// - Throws: `Failure(.adapter)` for a recording and other adapters that cannot advertise; the errors of `radio`.
  func advertiser() async throws -> (any Central, any PeripheralRole) {
    let radio = try await radio()
    if case .replay? = try? process.adapter() {} else if let peripheral = radio.peripheral { return (radio, peripheral) }
    throw Failure(.adapter, "This adapter cannot advertise. Use hci0, user:N, tcp:, unix: or serial:.")
  }
}

extension Central {
  /// Throws the failure of the adapter, within a second. Without a connected central, nothing else reports it.
  func untilFailure() async throws {
    while true {
      if let failure { throw failure }
      try await EventLoop.shared.sleep(for: .seconds(1))
    }
  }
}
