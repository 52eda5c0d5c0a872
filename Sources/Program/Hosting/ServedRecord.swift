package import BluetoothLESimulator
import CommandLine

/// An event of a served device, as lines and records show it.
@LoopActor
package struct ServedRecord {
  package let event: ServedEvent
  /// The time of the event, in nanoseconds since 1970-01-01T00:00:00Z.
  private let time = EventLoop.shared.wallClock

  init(_ event: ServedEvent) { self.event = event }

  /// The value of the member `event`.
  package var name: String {
    switch event.kind {
    case .connected: "connected"
    case .read: "read"
    case .written: "written"
    case .subscribed: "subscribed"
    case .unsubscribed: "unsubscribed"
    case .notified, .indicated: "notified"
    case .paired: "paired"
    case .disconnected: "disconnected"
    case .fault: "fault"
    }
  }

  /// The JSON object of the event, as `--json` writes it.
  package var value: JSONTree { RecordWriter.value { write(&$0) } }

  private func write(_ json: inout RecordWriter) {
    Self.begin(&json, name, time, event.peer)
    switch event.kind {
    case .connected, .paired, .disconnected: break
    case .read, .written, .subscribed, .unsubscribed, .notified, .indicated, .fault:
      json.uuid("uuid", event.uuid)
      json.integer("handle", event.handle?.number)
    }
    if let value = event.value { json.hex("value", value) }
    switch event.kind {
    case .written(let kind): json.string("mode", kind == .request ? "request" : kind == .command ? "command" : "long")
    case .subscribed(let bits): json.string("mode", bits & 1 != 0 ? "notify" : "indicate")
    case .notified: json.string("mode", "notify")
    case .indicated: json.string("mode", "indicate")
    case .paired(let result):
      json.string("method", result?.method?.snakeName)
      json.bool("bonded", result.map { $0.bond != nil })
    case .disconnected: json.string("reason", reason)
    case .fault(let text): json.string("fault", text)
    case .connected, .read, .unsubscribed: break
    }
  }

  /// Writes the members of an event's record that come first. `address` is nil for an event without an address.
  static func begin(_ json: inout RecordWriter, _ name: String, _ time: Int64, _ address: PeerAddress?) {
    json.string("event", name)
    json.time("time", time)
    json.peer("address", "address_type", address)
  }

  /// The reason for a disconnection. Nil for other events.
  private var reason: String? {
    guard case .disconnected(let error) = event.kind else { return nil }
    return (error as? any ConnectionError).map { Failure($0).message } ?? Failure(error).message
  }

  /// The event as a sentence.
  package var text: String {
    let who = event.peer.map { "\($0.address)" } ?? "A central"
    let name = event.uuid.map { AssignedNumbers.snakeName(of: $0) ?? "\($0)" } ?? event.handle.map { "\($0)" } ?? ""
    let what = name + (event.value.map { ": \(ValueText.result($0, of: event.uuid, formats: [], as: .auto))" } ?? "")
    return switch event.kind {
    case .connected: "\(who) connected"
    case .read: "\(who) read \(what)"
    case .written: "\(who) wrote \(what)"
    case .subscribed: "\(who) subscribed to \(what)"
    case .unsubscribed: "\(who) unsubscribed from \(what)"
    case .notified, .indicated: "Sent \(what) to \(who)"
    case .paired: "\(who) paired"
    case .disconnected: "\(who) disconnected: \(reason ?? "")"
    case .fault(let text): "Fault: \(what.isEmpty ? "" : "\(what) ")\(text)"
    }
  }

  /// Writes the event without waiting.
  /// - Parameter title: The name of the device to show in a line. Nil shows none.
  /// - Returns: False if the output has no room. Then this function writes nothing.
  func offer(of title: String? = nil, to output: Output) -> Bool {
    guard !output.isBroken else { return true }
    if output.style.json { return (try? output.offerRecord { write(&$0) }) ?? true }
    let text = output.displayText((title.map { "\($0): " } ?? "") + text)
    let stamp = output.timeText(time).map { output.style.isLive ? String($0.split(separator: "T").last ?? "") : $0 }
    return (try? output.offerLine((output.style.isLive ? "  " : "") + (stamp.map { output.paint($0, .dim) + " " } ?? "") + text)) ?? true
  }
}
