import ATT
package import Bluetooth
package import EventLoop
package import GATT
import LinuxIO
package import Operations
import Presentation
package import Terminal
package import Text
import Values

/// A notification or indication as text or JSON.
@LoopActor
package enum NotificationRecord {
  /// Writes a value for a command, and reports it to the command's observer.
  package static func show(
    _ event: ValueEvent, _ uuid: UUID?, _ format: ValueFormat, from peer: Connection, _ context: Context
  ) async throws {
    try ValueText.check(event.value, format)
    context.observer?.didReceive(event, uuid, peer.client)
    let (memory, output) = (context.process.memory, context.output)
    if output.style.json, try recordWithoutWaiting(event, uuid, format, from: peer, memory, output) { return }
    try await show(event, uuid, format, from: peer, memory, output)
  }

  /// Writes a notification or indication.
  /// - Parameters:
  ///   - device: The name of the device, if the reader needs it.
  ///   - memory: The known attributes of the device.
  package static func show(
    _ event: ValueEvent, _ uuid: UUID?, _ format: ValueFormat, from peer: Connection, of device: String? = nil, _ memory: CompletionMemory,
    _ output: Output
  ) async throws {
    let meaning = memory.meaning(of: event.value, at: event.handle, uuid, on: peer)
    if output.style.json {
      try await output.record { write(&$0, event, uuid, meaning, format, from: peer) }
    } else if output.style.isLive {
      try await output.line(brief(event, meaning, format, of: device, output))
    } else {
      let time = Timestamp.text(event.wallClock)
      let value = format == .auto ? ValueText.displayText(event.value, meaning) : format.render(event.value)
      try await output.line("\(output.paint(time, .dim)) \(uuid?.description ?? event.handle.description) \(output.displayText(value))")
    }
  }

  private static func recordWithoutWaiting(
    _ event: ValueEvent, _ uuid: UUID?, _ format: ValueFormat, from peer: Connection, _ memory: CompletionMemory, _ output: Output
  ) throws(OutputFailure) -> Bool {
    let meaning = memory.meaning(of: event.value, at: event.handle, uuid, on: peer)
    return try output.recordWithoutWaiting { write(&$0, event, uuid, meaning, format, from: peer) }
  }

  /// Returns the record of a notification or indication as a JSON value.
  package static func value(_ event: ValueEvent, _ uuid: UUID?, from peer: Connection, _ memory: CompletionMemory) -> JSONTree {
    let meaning = memory.meaning(of: event.value, at: event.handle, uuid, on: peer)
    return RecordWriter.value { write(&$0, event, uuid, meaning, .auto, from: peer) }
  }

  private static func write(
    _ json: inout RecordWriter, _ event: ValueEvent, _ uuid: UUID?, _ meaning: ValueMeaning, _ format: ValueFormat, from peer: Connection
  ) {
    json.string("event", event.isIndication ? "indication" : "notification")
    json.time("time", event.wallClock)
    json.uuid("uuid", uuid)
    json.integer("handle", event.handle.number)
    json.hex("value", event.value)
    json.string("text", ValueText.text(event.value))
    ValueText.write(&json, event.value, meaning, as: format)
    peer.identify(in: &json)
  }

  /// Returns a short line with the local time of day, the name of the attribute and the value.
  private static func brief(
    _ event: ValueEvent, _ meaning: ValueMeaning, _ format: ValueFormat, of device: String?, _ output: Output
  ) -> String {
    let local = Timestamp.text(event.wallClock + LocalTime.offset(at: event.wallClock))
    let time = local.split(separator: "T").last?.dropLast() ?? ""
    let assigned = meaning.uuid.flatMap { AssignedNumbers.snakeName(of: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    // Users cannot type a name defined by the firmware, so show the UUID, too.
    let firmware = meaning.description.userDescription.map { " " + DisplayText.quote($0) } ?? ""
    let what = assigned ?? (meaning.uuid?.description ?? event.handle.description) + firmware
    let value = format == .auto ? ValueText.displayText(event.value, meaning) : format.render(event.value)
    let whose = device.map { output.displayText($0) + "  " } ?? ""
    return "  \(output.paint(String(time), .dim))  \(whose)\(output.paint(what, .bold))  \(output.displayText(value))"
  }
}
