import ATT
import Bluetooth
import EventLoop
import GATT
import LinuxIO
import Operations
import Terminal
import Text

/// One notification or indication as text or JSON.
@LoopActor
enum NotificationRecord {
  /// Writes the value. - Parameter memory: knows the device's attributes.
  static func show(
    _ event: ValueEvent, _ uuid: UUID?, _ format: ValueFormat, from peer: Connection, _ memory: AirMemory, _ output: Output
  ) async throws {
    try ValueText.check(event.value, format)
    let octets = octets(event, uuid, format, from: peer, memory, output)
    if try !output.writeAtOnce(octets) { try await output.write(octets) }
  }

  /// The bytes to write.
  /// - Parameter device: the name of the device, if the reader could not tell it otherwise.
  static func octets(
    _ event: ValueEvent, _ uuid: UUID?, _ format: ValueFormat, from peer: Connection, of device: String? = nil, _ memory: AirMemory,
    _ output: Output
  ) -> [UInt8] {
    RecordedCommand.present?.received(event, uuid, peer.client)
    let meaning = memory.meaning(of: event.value, at: event.handle, uuid, on: peer)
    if output.style.isLive, !output.style.json { return brief(event, meaning, format, of: device, output) }
    if output.style.json {
      return Output.record {
        $0.string("event", event.isIndication ? "indication" : "notification")
        $0.time("time", event.wallClock)
        $0.uuid("uuid", uuid)
        $0.integer("handle", event.handle.number)
        $0.hex("value", event.value)
        $0.string("text", ValueText.text(event.value))
        ValueText.write(&$0, event.value, meaning, as: format)
        peer.identify(in: &$0)
      }
    } else {
      let time = Timestamp.text(event.wallClock)
      let value = format == .auto ? ValueText.forEyes(event.value, meaning) : format.render(event.value)
      return Output.line("\(output.paint(time, .dim)) \(uuid?.description ?? event.handle.description) \(output.forEyes(value))")
    }
  }

  /// A short line with the time of day and the name of the attribute.
  private static func brief(
    _ event: ValueEvent, _ meaning: ValueMeaning, _ format: ValueFormat, of device: String?, _ output: Output
  ) -> [UInt8] {
    let local = Timestamp.text(event.wallClock + LocalTime.offset(at: event.wallClock))
    let time = local.split(separator: "T").last?.dropLast() ?? ""
    let assigned = meaning.uuid.flatMap { AssignedNumbers.snakeName(of: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    // Users cannot type a name that the firmware gives, so the UUID stays.
    let firmware = meaning.description.userDescription.map { " " + DisplayText.quote($0) } ?? ""
    let what = assigned ?? (meaning.uuid?.description ?? event.handle.description) + firmware
    let value = format == .auto ? ValueText.forEyes(event.value, meaning) : format.render(event.value)
    let whose = device.map { output.forEyes($0) + "  " } ?? ""
    return Output.line("  \(output.paint(String(time), .dim))  \(whose)\(output.paint(what, .bold))  \(output.forEyes(value))")
  }
}
