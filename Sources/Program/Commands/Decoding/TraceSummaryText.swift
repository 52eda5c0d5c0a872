import BluetoothLE
import Presentation
import Terminal
import Traces

/// The summary of a trace: packets, refused commands, and the requests, timing and errors of each connection.
struct TraceSummaryText {
  private let decoder: TraceDecoder
  private let duration: Int64
  private let lost: Int
  private let leftOut: Int
  private let notes: [(kind: String, count: Int)]
  private let showsAdapter: Bool

  /// Creates the summary. `duration` is the time from the first packet to the last in nanoseconds, and `notes` the number of records
  /// that are not packets, by kind.
  init(_ decoder: TraceDecoder, duration: Int64, lost: Int, leftOut: Int, notes: [String: Int]) {
    (self.decoder, self.duration, self.lost, self.leftOut) = (decoder, duration, lost, leftOut)
    self.notes = notes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    showsAdapter = Set(decoder.allLinks.map(\.adapter)).count > 1
  }

  private var summary: TraceSummary { decoder.summary }
  private var refusals: [(TraceSummary.Refusal, Int)] {
    summary.refusals.sorted { ($0.key.opcode, $0.key.status.rawValue) < ($1.key.opcode, $1.key.status.rawValue) }.map { ($0.key, $0.value) }
  }

  // MARK: Text

  /// The indices of the LE connections, for `lines(of:)`. A long trace may have too many connections for one array of lines.
  var links: [Int] { decoder.allLinks.indices.filter { !decoder.allLinks[$0].isClassic } }

  func lines(of link: Int, columns: Int?) -> [String] {
    fit(["", head(decoder.allLinks[link], link)] + table(link, columns), columns)
  }

  /// Folds lines to `columns` columns and indents the later lines of each by 4 columns.
  private func fit(_ lines: [String], _ columns: Int?) -> [String] {
    guard let columns else { return lines }
    return lines.flatMap { line in
      line.isEmpty ? [""] : DisplayText.fold(line, to: columns, later: columns - 4).enumerated().map { $0 == 0 ? $1 : "    " + $1 }
    }
  }

  /// Returns the lines with the totals of the trace.
  /// - Parameter columns: The width of the terminal in columns. Nil disables folding.
  func totals(columns: Int?) -> [String] {
    var counts: [String] = []
    if summary.packets > summary.air || summary.air == 0 {
      counts = [summary.commands.counted("command"), summary.events.counted("event"), summary.data.counted("data packet")]
      counts.append(summary.reports.counted("advertising report"))
    }
    if summary.air > 0 {
      let rest = summary.air - summary.advertising - summary.isochronous - summary.damaged
      counts += ["\(summary.advertising) advertising", "\(rest) connection"]
      if summary.isochronous > 0 { counts.append("\(summary.isochronous) isochronous") }
      counts.append("\(summary.damaged) with a wrong CRC")
    }
    var lines = ["\(summary.packets.counted("packet")) in \(PacketText.seconds(duration)) s: " + counts.joined(separator: ", ")]
    if summary.malformed > 0 { lines.append(summary.malformed.counted("malformed packet")) }
    if summary.cut > 0 { lines.append("\(summary.cut.counted("packet")) cut by the recorder") }
    if !notes.isEmpty {
      let kinds = notes.map { "\($0.count) \($0.kind.replacing("_", with: " "))" }
      lines.append("\(notes.reduce(0) { $0 + $1.count }.counted("record")) other than packets: " + kinds.joined(separator: ", "))
    }
    if summary.vendorData > 0 {
      lines.append("\(summary.vendorData.counted("vendor-specific data packet")), on handles without a connection")
    }
    if leftOut > 0 { lines.append("\(leftOut.counted("packet")) of unsupported interfaces skipped") }
    if lost > 0 { lines.append("\(lost.counted("packet")) lost during the recording") }
    for (refusal, count) in refusals {
      let command = HCITable.commands[refusal.opcode]?.name ?? PacketText.hex(UInt64(refusal.opcode), 2)
      lines.append("\(count) × \(command) refused: \(refusal.status)")
    }
    return fit(lines, columns)
  }

  private func head(_ link: TraceLinks.Link, _ index: Int) -> String {
    let unknown = "an unknown device"
    var facts = [link.peer.map { "\($0)" } ?? unknown]
    if link.isOfAir { facts = ["\(facts[0]) as peripheral", "\(link.central.map { "\($0)" } ?? unknown) as central"] }
    if showsAdapter { facts.append("on hci\(link.adapter)") }
    if let isCentral = link.isCentral { facts.append(isCentral ? "as central" : "as peripheral") }
    facts.append("\(PacketText.seconds(Self.length(link))) s")
    facts.append(summary.mtu(index, link).map { "MTU \($0)" } ?? "MTU not seen")
    if link.isEncrypted { facts.append("encrypted") }
    let open = link.wasReset ? "ended: the controller was reset" : link.isOfAir ? "end not captured" : "open at the end"
    facts.append(link.reason.map { "ended: \($0)" } ?? open)
    return "Connection \(link.text) with " + facts.joined(separator: ", ")
  }

  private func table(_ link: Int, _ columns: Int?) -> [String] {
    let conversations = summary.conversations(link)
    guard !conversations.isEmpty else { return ["  no ATT PDUs"] }
    let rows = conversations.map { conversation -> Row in
      let entry = conversation.entry
      let mean = entry.answers > 0 ? PacketText.milliseconds(entry.time / Int64(entry.answers)) : "-"
      return Row(
        about: about(conversation.subject), failures: failures(conversation).joined(separator: ", "),
        what: ["  " + who(conversation, link).replacing("peer", with: "device"), conversation.subject.opcode.description],
        numbers: [
          String(entry.count), String(entry.bytes), mean, entry.answers > 0 ? PacketText.milliseconds(entry.longest) : "-",
        ])
    }
    let numbers = ["COUNT", "BYTES", "MEAN", "LONGEST"]
    var whole = Table(["  FROM", "PDU", "ATTRIBUTE"] + numbers + ["ERRORS"])
    for row in rows { whole.add(row.what + [row.about] + row.numbers + [row.failures]) }
    let lines = whole.lines(width: nil)
    guard let columns, lines.contains(where: { DisplayText.width($0) > columns }) else { return lines }
    return folded(rows, numbers, columns)
  }

  /// Returns the table with attributes and errors on lines below each row. Also moves the numbers below if a row is still too wide.
  private func folded(_ rows: [Row], _ numbers: [String], _ columns: Int) -> [String] {
    var narrow = Table(["  FROM", "PDU"] + numbers)
    for row in rows { narrow.add(row.what + row.numbers) }
    let heads = narrow.lines(width: nil)
    let fits = heads.allSatisfy { DisplayText.width($0) <= columns }
    var folded = fits ? [heads[0]] : []
    for (row, head) in zip(rows, heads.dropFirst()) {
      let figures = zip(numbers, row.numbers).map { "\($0.lowercased()) \($1)" }.joined(separator: ", ")
      folded += fits ? [head] : DisplayText.fold(row.what.joined(separator: "  "), to: columns, later: columns - 4)
      for text in [row.about, fits ? "" : figures, row.failures] where !text.isEmpty && text != "-" {
        folded += DisplayText.fold(text, to: columns - 8).map { "        " + $0 }
      }
    }
    return folded
  }

  private func who(_ conversation: TraceSummary.Conversation, _ link: Int) -> String {
    switch (decoder.allLinks[link].isOfAir, conversation.isFromHost) {
    case (false, true): "host"
    case (false, false): "peer"
    case (true, true): "central"
    case (true, false): "peripheral"
    }
  }

  private struct Row {
    let about: String
    let failures: String
    let what: [String]
    let numbers: [String]
  }

  private static func length(_ link: TraceLinks.Link) -> Int64 { max(0, link.end.subtractingReportingOverflow(link.begin).partialValue) }

  private func failures(_ conversation: TraceSummary.Conversation) -> [String] {
    let entry = conversation.entry
    var texts = entry.errors.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.value) × \($0.key)" }
    let missing = Self.unanswered(conversation)
    if missing > 0 { texts.append("\(missing) × no answer") }
    return texts
  }

  private static func unanswered(_ conversation: TraceSummary.Conversation) -> Int {
    switch conversation.subject.opcode {
    case .request, .unsolicited(.indication): conversation.entry.count - conversation.entry.answers
    default: 0
    }
  }

  private func about(_ subject: TraceSummary.Subject) -> String {
    if let handle = subject.handle {
      guard let name = decoder.name(handle, of: subject.server) else { return "handle \(handle)" }
      return "\(handle) \(name.characteristic.map { "\($0)@" } ?? "")\(PacketText.named(name.type))"
    }
    return subject.type.map { PacketText.named($0) } ?? "-"
  }

  // MARK: JSON

  private var air: [(String, Int)] {
    [("air", summary.air), ("advertising", summary.advertising), ("isochronous", summary.isochronous), ("damaged", summary.damaged)]
  }

  @LoopActor
  func records(_ output: Output) async throws {
    try await output.record { json in
      json.string("event", "trace")
      for (name, count) in [
        ("packets", summary.packets), ("commands", summary.commands), ("events", summary.events), ("data", summary.data),
        ("vendor", summary.vendorData),
        ("reports", summary.reports), ("malformed", summary.malformed), ("cut", summary.cut), ("lost", lost), ("left_out", leftOut),
      ] + (summary.air > 0 ? air : []) {
        json.integer(.init(name), count)
      }
      json.number("seconds", Double(duration / 1000) / 1_000_000)
      json.object("notes") { json in for note in notes { json.integer(.init(note.kind), note.count) } }
      json.objects("refused", refusals) { json, item in
        json.integer("command", item.0.opcode)
        json.string("command_name", HCITable.commands[item.0.opcode]?.name)
        json.integer("status", item.0.status.rawValue)
        json.string("status_name", item.0.status.snakeName)
        json.integer("count", item.1)
      }
    }
    for (index, link) in decoder.allLinks.enumerated() where !link.isClassic { try await output.record { write(&$0, link, index) } }
  }

  private func write(_ json: inout RecordWriter, _ link: TraceLinks.Link, _ index: Int) {
    json.string("event", "link")
    json.integer("adapter", link.adapter)
    switch link.identity {
    case .handle(let handle): json.integer("connection_handle", handle.rawValue)
    case .accessAddress(let address):
      json.string("access_address", PacketText.hex(UInt64(address), 4))
      json.peer("central_address", "central_address_type", link.central)
      json.bool("encrypted", link.isEncrypted)
    }
    json.peer("address", "address_type", link.peer)
    json.string("role", link.isCentral.map { $0 ? "central" : "peripheral" })
    json.time("time", link.begin)
    json.number("seconds", Double(Self.length(link) / 1000) / 1_000_000)
    json.integer("mtu", summary.mtu(index, link))
    json.integer("reason", link.reason?.rawValue)
    json.string("reason_name", link.reason?.snakeName)
    json.objects("conversations", summary.conversations(index)) { json, conversation in
      let (subject, entry) = (conversation.subject, conversation.entry)
      json.string("from", who(conversation, index))
      json.string("name", subject.opcode.description)
      if let handle = subject.handle {
        json.integer("handle", handle.rawValue)
        let name = decoder.name(handle, of: subject.server)
        json.uuid("uuid", name?.type)
        if let characteristic = name?.characteristic { json.string("characteristic", characteristic.description) }
      }
      if let type = subject.type { json.uuid("type", type) }
      json.integer("count", entry.count)
      json.integer("octets", entry.bytes)
      json.integer("answers", entry.answers)
      json.integer("unanswered", Self.unanswered(conversation))
      json.number("mean_ms", entry.answers > 0 ? Double(entry.time / Int64(entry.answers) / 1000) / 1000 : nil)
      json.number("longest_ms", entry.answers > 0 ? Double(entry.longest / 1000) / 1000 : nil)
      json.objects("errors", entry.errors.sorted { $0.key.rawValue < $1.key.rawValue }) { json, item in
        json.integer("code", item.key.rawValue)
        json.string("name", item.key.snakeName)
        json.integer("count", item.value)
      }
    }
  }
}

extension TraceLinks.Link {
  var text: String {
    switch identity {
    case .handle(let handle): PacketText.hex(UInt64(handle.rawValue), 2)
    case .accessAddress(let address): PacketText.hex(UInt64(address), 4)
    }
  }
}
