import BluetoothLE
import Presentation
import Terminal
import Traces

/// The output of `decode trace`, which shows the packets of a trace and a summary.
@LoopActor
struct TraceListing {
  private let output: Output
  private var reader: TraceReader
  private var decoder: TraceDecoder
  /// The time of the first packet, in nanoseconds since 1970-01-01T00:00:00Z. Nil before the first packet.
  private var start: Int64?
  private var end: Int64 = 0
  private let showsAdapter: Bool
  /// The number of records that are not packets, by kind.
  private var notes: [String: Int] = [:]

  /// Reads the whole trace to learn the attributes of its devices. Yields to other tasks on the event loop.
  /// - Throws: MalformedPacket for a file that is not a trace; CancellationError.
  init(_ file: [UInt8], _ output: Output) async throws {
    self.output = output
    reader = try TraceReader(try await PackedCapture.unpack(file))
    var (ahead, databases, adapters) = (reader, LearnedDatabases(), Set<UInt16>())
    var isFirst = true
    // A file without a valid packet is not a trace. `show` reports later errors after the packets before them.
    while let record = isFirst ? try ahead.next() : try? ahead.next() {
      isFirst = false
      databases.learn(record)
      adapters.insert(record.adapter)
      EventLoop.shared.spendStep()
      if EventLoop.shared.isShareSpent { try await EventLoop.shared.waitForTurn() }
    }
    databases.finish(drops: ahead.drops)
    decoder = TraceDecoder(databases)
    showsAdapter = adapters.count > 1
  }

  /// Shows the trace and returns the number of malformed packets.
  /// - Parameter packets: Whether to show each packet before the summary.
  /// - Throws: MalformedPacket for an invalid file, after showing everything before the error.
  mutating func show(packets: Bool) async throws -> Int {
    var problem: MalformedPacket?
    while true {
      let record: Snoop.Record?
      do throws(MalformedPacket) { record = try reader.next(notes: true) } catch {
        problem = error
        break
      }
      guard let record else { break }
      if let note = record.note {
        notes[note.kind, default: 0] += 1
        if packets, !note.text.isEmpty { try await show(note, record) }
        continue
      }
      if start == nil { (start, end) = (record.wallClock, record.wallClock) }
      end = max(end, record.wallClock)
      let item = decoder.decode(record)
      if packets {
        try await show(item)
      } else {
        EventLoop.shared.spendStep()
        if EventLoop.shared.isShareSpent { try await EventLoop.shared.waitForTurn() }
      }
    }
    let (since, _) = end.subtractingReportingOverflow(start ?? end)
    let text = TraceSummaryText(decoder, duration: max(0, since), lost: reader.drops, leftOut: reader.leftOut, notes: notes)
    if output.style.json {
      try await text.records(output)
    } else {
      if packets { try await output.line("") }
      let columns = output.outIsTerminal ? output.width : nil
      for line in text.totals(columns: columns) { try await output.line(line) }
      for link in text.links { for line in text.lines(of: link, columns: columns) { try await output.line(line) } }
    }
    if let problem { throw problem }
    return decoder.summary.malformed
  }

  /// Shows a record that is no packet. It has no number.
  private func show(_ note: Snoop.Note, _ record: Snoop.Record) async throws {
    if output.style.json {
      return try await output.record { json in
        json.string("event", "trace_note")
        json.time("time", record.wallClock)
        json.string("kind", note.kind)
        json.string("text", String(decoding: note.text, as: UTF8.self))
      }
    }
    let time = start == nil ? "" : PacketText.seconds(sinceStart(record))
    let text = "\(note.kind.replacing("_", with: " ")): \(DisplayText.escape(note.text))"
    try await output.line("".padded(to: 5) + time.padded(to: 13) + " # " + text)
  }

  private func show(_ item: TraceDecoder.Item) async throws {
    let names: LearnedAttribute.Source = { [decoder] handle in item.server.flatMap { decoder.name(handle, of: $0) } }
    if output.style.json {
      return try await output.record { json in
        json.string("event", "packet")
        json.integer("number", item.number)
        json.time("time", item.record.wallClock)
        json.number("seconds", Double(sinceStart(item.record) / 1000) / 1_000_000)
        if showsAdapter { json.integer("adapter", item.record.adapter) }
        if let air = item.record.air {
          json.string("access_address", PacketText.hex(UInt64(air.accessAddress), 4))
          json.integer("channel", air.channel)
          json.integer("rssi", air.rssi)
          json.string("phy", air.phy?.name)
          if air.sender != nil || air.isOfConnection && item.link != nil {
            json.string("sender", item.record.direction == .hostToController ? "central" : "peripheral")
          }
        } else {
          json.string("direction", item.record.direction == .hostToController ? "sent" : "received")
        }
        if let link = item.link {
          if case .handle(let handle) = link.identity { json.integer("connection_handle", handle.rawValue) }
          json.address("address", link.peer?.address)
        }
        PacketRecord.write(&json, item.packet, item.bytes ?? item.record.packet, layer: item.layer.rawValue, names: names)
        if let (number, after) = item.answers {
          json.integer("answers", number)
          json.number("after_ms", Double(after / 1000) / 1000)
        }
        if !item.record.comments.isEmpty {
          json.strings("comments", item.record.comments.map { String(decoding: $0, as: UTF8.self) })
        }
      }
    }
    var packet = item.packet
    // The packet that completes the frame shows the data of its fragments.
    packet.fields.removeAll { $0.name == "fragment" }
    var lines = PacketText.lines(packet, names: names)
    if let (_, after) = item.answers { lines[0] += "  (after \(PacketText.milliseconds(after)))" }
    var head =
      "\(item.number)".padded(to: 5) + PacketText.seconds(sinceStart(item.record)).padded(to: 13)
      + (item.record.direction == .hostToController ? " < " : " > ")
    if showsAdapter { head += "hci\(item.record.adapter) " }
    if let air = item.record.air {
      head += [air.channel.map { "ch \($0)" }, air.rssi.map { "\($0) dBm" }].compactMap { $0.map { $0 + " " } }.joined()
    }
    if let link = item.link { head += link.text + " " }
    try await output.line(head + lines[0])
    lines += item.record.comments.map { "# " + DisplayText.escape($0) }
    for line in lines.dropFirst() { try await output.line(String(repeating: " ", count: 18) + line) }
  }

  /// Returns the nanoseconds from the first packet to the record. Negative for a record with a timestamp before that of the first packet.
  private func sinceStart(_ record: Snoop.Record) -> Int64 { record.wallClock.subtractingReportingOverflow(start ?? 0).partialValue }
}
