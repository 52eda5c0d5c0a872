/// A notification, an indication or a value that blectl has read, as text or JSON.
@LoopActor
package struct NotificationRecord {
  private let event: ValueEvent
  private let uuid: UUID?
  private let format: ValueFormat
  private let connection: Connection
  private let meaning: ValueMeaning
  private let isRead: Bool

  /// Creates the record of a value. `uuid` is the type of the attribute, or nil for an unknown attribute.
  /// - Parameters:
  ///   - memory: The known attributes of the device.
  ///   - isRead: Whether blectl has read the value. False for a notification or indication.
  package init(
    _ event: ValueEvent, _ uuid: UUID?, _ format: ValueFormat = .auto, from connection: Connection, _ memory: DeviceMemory,
    isRead: Bool = false
  ) {
    (self.event, self.format, self.connection, self.isRead) = (event, format, connection, isRead)
    meaning = memory.meaning(of: event.value, at: event.handle, uuid, on: connection)
    self.uuid = isRead ? meaning.uuid : uuid
  }

  /// Writes a value to the command's output, and reports the value to the command's observer.
  /// - Parameter end: A text after the value in a line.
  package static func show(
    _ event: ValueEvent, _ uuid: UUID?, _ format: ValueFormat, from peer: Connection, _ context: Context, after end: String = ""
  ) async throws {
    try ValueText.check(event.value, format)
    context.observer?.didReceive(event, uuid, peer.client)
    let record = Self(event, uuid, format, from: peer, context.process.memory)
    if context.output.style.json, try context.output.recordWithoutWaiting({ record.write(&$0) }) { return }
    try await record.show(context.output, after: end)
  }

  /// Writes the value. The text starts with the time.
  /// - Parameter device: The name of the device to show in a live line. Nil to show no name.
  package func show(of device: String? = nil, _ output: Output, after end: String = "") async throws {
    let end = end.isEmpty ? "" : "  " + output.paint(end, .cyan)
    if output.style.json { return try await output.record { write(&$0) } }
    if output.style.isLive { return try await output.line(brief(of: device, output) + end) }
    let time = output.timeText(event.wallClock).map { output.paint($0, .dim) + " " } ?? ""
    let name = output.displayText(uuid == nil ? event.handle.description : meaning.attribute(at: event.handle))
    try await output.line("\(time)\(name) \(output.displayText(valueText))\(end)")
  }

  /// The type of the attribute. Nil if unknown.
  package var type: UUID? { meaning.uuid }

  /// The value as `read` shows it without a time.
  package var text: String { ValueText.result(event.value, of: meaning.uuid, formats: meaning.description.formats, as: format) }

  /// The JSON object of the notification, as `--json` writes it.
  package var value: JSONTree { RecordWriter.value { write(&$0) } }

  package func write(_ json: inout RecordWriter) {
    json.string("event", isRead ? "value" : event.isIndication ? "indication" : "notification")
    json.time("time", event.wallClock)
    json.uuid("uuid", uuid)
    json.integer("handle", event.handle.number)
    json.hex("value", event.value)
    ValueText.write(&json, event.value, meaning, as: format)
    json.members(connection.identity)
  }

  private var valueText: String { format == .auto ? ValueText.displayText(event.value, meaning) : format.render(event.value) }

  /// Returns a short line with the time of day, the name of the attribute and the value.
  private func brief(of device: String?, _ output: Output) -> String {
    let time = output.timeText(event.wallClock).map { output.paint(String($0.split(separator: "T").last ?? ""), .dim) + "  " } ?? ""
    let assigned = meaning.uuid.flatMap { AssignedNumbers.snakeName(of: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    let own = meaning.index == nil && assigned == nil ? meaning.description.userDescription.map { " " + DisplayText.quote($0) } ?? "" : ""
    let what = (assigned ?? meaning.uuid?.description ?? event.handle.description) + own + meaning.distinction
    let whose = device.map { output.displayText($0) + "  " } ?? ""
    return "  \(time)\(whose)\(output.paint(output.displayText(what), .bold))  \(output.displayText(valueText))"
  }
}
