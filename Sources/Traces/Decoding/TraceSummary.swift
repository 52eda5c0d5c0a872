package import BluetoothLE

/// The statistics of a trace: the number of packets of each kind, and the commands that controllers refused.
/// For each link, they contain the requests of both sides, with durations and errors.
package struct TraceSummary: Sendable {
  /// The opcode and the attribute of a request, or of another PDU that answers no request.
  package struct Subject: Hashable, Sendable {
    package let opcode: ATTOpcode
    package let handle: AttributeHandle?
    /// The attribute type for which a request searches. Nil for other PDUs.
    package let type: UUID?
    package let server: LearnedDatabases.Server

    init(_ packet: DecodedPacket, _ opcode: ATTOpcode, _ server: LearnedDatabases.Server) {
      (self.opcode, self.server) = (opcode, server)
      if case .attribute(let handle)? = packet["handle"] { self.handle = handle } else { handle = nil }
      if case .uuid(let type)? = packet["type"] { self.type = type } else { type = nil }
    }
  }

  /// The statistics of one subject on a link.
  package struct Entry: Sendable {
    package var count = 0
    /// The number of value bytes in the subject's packets and their answers.
    package var bytes = 0
    package var answers = 0
    /// The total time of all answers, in nanoseconds. `longest` is the time of the slowest answer.
    package var time: Int64 = 0
    package var longest: Int64 = 0
    package var errors: [ErrorCode: Int] = [:]
  }

  package struct Conversation: Sendable {
    package var isFromHost: Bool
    package var subject: Subject
    package var entry: Entry
    /// The zero-based position of the conversation on its link, by the time of its first packet.
    fileprivate var order: Int
  }

  package private(set) var packets = 0
  package private(set) var commands = 0
  package private(set) var events = 0
  package private(set) var data = 0
  /// The number of data packets with vendor data, which belong to no link.
  package private(set) var vendorData = 0
  /// The number of packets that a sniffer heard.
  package private(set) var air = 0
  /// The number of a sniffer's packets with a wrong CRC. `advertising` and `isochronous` count intact packets of these kinds.
  package private(set) var damaged = 0
  package private(set) var advertising = 0
  package private(set) var isochronous = 0
  package private(set) var reports = 0
  /// The number of packets that do not follow their format.
  package private(set) var malformed = 0
  /// The number of packets whose end the recorder cut.
  package private(set) var cut = 0
  /// The number of commands that a controller refused, by opcode and status.
  package private(set) var refusals: [Refusal: Int] = [:]
  /// The ATT_MTU that both sides agreed on, in bytes, by the zero-based index of the link.
  package private(set) var mtus: [Int: Int] = [:]
  private var entries: [Int: [Key: Conversation]] = [:]

  /// Returns the ATT_MTU of a link in bytes. Nil if the sides may have exchanged MTUs before the trace, or under encryption.
  package func mtu(_ index: Int, _ link: TraceLinks.Link) -> Int? { mtus[index] ?? (link.peer != nil && !link.isEncrypted ? 23 : nil) }
  private var offered: [Int: Int64] = [:]

  package struct Refusal: Hashable, Sendable {
    package let opcode: UInt16
    package let status: ControllerErrorCode
  }

  private struct Key: Hashable {
    let isFromHost: Bool
    let subject: Subject
  }

  /// Returns the conversations of the link with this zero-based index, in the order of their first packets.
  package func conversations(_ link: Int) -> [Conversation] { (entries[link] ?? [:]).values.sorted { $0.order < $1.order } }

  mutating func count(_ record: Snoop.Record, isVendorData: Bool) {
    packets += 1
    if isVendorData { vendorData += 1 }
    if let packet = record.air {
      air += 1
      if packet.isIntact == false {
        damaged += 1
      } else if packet.stream != nil {
        isochronous += 1
      } else if !packet.isOfConnection {
        advertising += 1
      }
      return
    }
    switch record.packet.first {
    case Packet.commandIndicator: commands += 1
    case Packet.eventIndicator: events += 1
    default: data += 1
    }
  }

  mutating func add(_ packet: DecodedPacket, _ record: Snoop.Record, _ link: Int?) {
    if packet.missing > 0 { cut += 1 }
    if packet.problem != nil, record.air?.isIntact != false { malformed += 1 }
    guard record.packet.first == Packet.eventIndicator else { return }
    if packet["num_reports"] != nil, case .list(let items)? = packet["items"] { reports += items.count }
    if case .code(let opcode, _)? = packet["command"], case .status(let status)? = packet["status"], status != .success {
      refusals[Refusal(opcode: UInt16(clamping: opcode), status: status), default: 0] += 1
    }
  }

  mutating func asked(_ link: Int, _ subject: Subject, _ isFromHost: Bool, at time: Int64, _ packet: DecodedPacket) {
    if let mtu = packet["client_rx_mtu"]?.number { offered[link] = mtu }
    change(link, subject, isFromHost) {
      $0.count += 1
      $0.bytes += Self.bytes(packet)
    }
  }

  mutating func answered(_ link: Int, _ subject: Subject, _ isFromHost: Bool, after time: Int64, _ packet: DecodedPacket) {
    if let mtu = packet["server_rx_mtu"]?.number, let client = offered[link] { mtus[link] = max(23, Int(min(mtu, client))) }
    change(link, subject, isFromHost) {
      $0.answers += 1
      $0.time = $0.time.addingReportingOverflow(time).partialValue
      $0.longest = max($0.longest, time)
      if case .attError(let code)? = packet["error"] { $0.errors[code, default: 0] += 1 }
      // A Prepare Write Response repeats its request.
      if subject.opcode != .request(.prepareWrite) { $0.bytes += Self.bytes(packet) }
    }
  }

  private mutating func change(_ link: Int, _ subject: Subject, _ isFromHost: Bool, _ body: (inout Entry) -> Void) {
    let order = entries[link]?.count ?? 0
    body(
      &entries[link, default: [:]][
        Key(isFromHost: isFromHost, subject: subject),
        default: Conversation(isFromHost: isFromHost, subject: subject, entry: Entry(), order: order)
      ].entry)
  }

  private static func bytes(_ packet: DecodedPacket) -> Int {
    // A Read By Type Response has several values.
    guard case .list(let items)? = packet["items"] else { return bytes(packet["value"]) }
    return items.reduce(0) { $0 + bytes($1.first { $0.name == "value" }?.value) }
  }

  private static func bytes(_ value: PacketField.Value?) -> Int {
    if case .value(let bytes, _, _)? = value { bytes.count } else { 0 }
  }
}
