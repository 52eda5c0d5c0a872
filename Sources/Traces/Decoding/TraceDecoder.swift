package import BluetoothLE

/// A decoder that finds the type and the link of each packet in a trace, and the request and delay of each response. It collects a summary.
package struct TraceDecoder: Sendable {
  /// A packet of a trace, decoded at the highest protocol layer at which it completes a packet.
  package struct Item: Sendable {
    /// The number of the packet in the trace, counted from 1.
    package let number: Int
    package let record: Snoop.Record
    package let layer: PacketLayer
    package let packet: DecodedPacket
    /// The bytes of the packet at `layer`. Nil for HCI, whose bytes are the record's packet.
    package let bytes: [UInt8]?
    package let link: TraceLinks.Link?
    /// The owner of the attributes that the packet names. Nil for a packet without ATT.
    package let server: LearnedDatabases.Server?
    /// The number of the packet that this response or confirmation answers, and the nanoseconds since that packet. Nil for other packets.
    package let answers: (number: Int, after: Int64)?
  }

  private let databases: LearnedDatabases
  private var links = TraceLinks()
  private var parts: AdvertisingParts
  private var number = 0
  private var pending: [Asker: Pending] = [:]
  package private(set) var summary = TraceSummary()

  /// A side of a link that waits for a response, or for a confirmation if `isIndication` is true (Vol 3 Part F §3.3.2).
  private struct Asker: Hashable {
    let link: Int
    let isHost: Bool
    let isIndication: Bool
  }

  /// A request or an indication that waits for its answer.
  private struct Pending {
    let number: Int
    let time: Int64
    let request: Request?
    let attribute: TraceSummary.Subject
  }

  package init(_ databases: LearnedDatabases) {
    (self.databases, parts) = (databases, databases.parts)
    links.vendorHandles = databases.vendorHandles
  }

  package mutating func decode(_ record: Snoop.Record) -> Item {
    number += 1
    let (index, frame) = links.add(record)
    var record = record
    if let air = record.air {
      let connection = links.connections[air.accessAddress]
      if let sender = air.sender ?? connection?.sender { record.direction = sender == .central ? .hostToController : .controllerToHost }
      if air.isDecrypted, connection?.keepsMIC == true { record.air = air.withoutMIC }
    }
    let isVendorData = links.isVendorData(record)
    summary.count(record, isVendorData: isVendorData)
    let link = index.map { links.links[$0] }
    if let air = record.air, frame == nil { return item(air: air, record, index) }
    guard let frame, let index, let link else {
      var packet = DecodedPacket(hci: record.packet, isVendorData: isVendorData, missing: record.missing)
      parts.join(&packet, record, number)
      summary.add(packet, record, index)
      return Item(number: number, record: record, layer: .hci, packet: packet, bytes: nil, link: link, server: nil, answers: nil)
    }
    let bytes = frame.frame.payload
    if frame.frame.channel == .att { return decode(att: bytes, record, index, isHost: frame.isFromHost) }
    let (layer, carried) = DecodedPacket.carried(by: frame.frame)
    var packet = carried
    packet.cut(record.missing, bytes)
    summary.add(packet, record, index)
    return Item(number: number, record: record, layer: layer, packet: packet, bytes: bytes, link: link, server: nil, answers: nil)
  }

  private mutating func item(air: AirPacket, _ record: Snoop.Record, _ index: Int?) -> Item {
    let link = index.map { links.links[$0] }
    var packet = DecodedPacket(air: air, isEncrypted: link?.isEncrypted == true && !air.isDecrypted)
    if links.connections[air.accessAddress]?.isRepeated == true { packet.fields.append(PacketField("repeated", .flag(true))) }
    if record.missing > 0 { (packet.problem, packet.missing) = (nil, record.missing) }
    summary.add(packet, record, index)
    return Item(number: number, record: record, layer: .ll, packet: packet, bytes: air.pdu, link: link, server: nil, answers: nil)
  }

  private mutating func decode(att bytes: [UInt8], _ record: Snoop.Record, _ index: Int, isHost: Bool) -> Item {
    let opcode = bytes.first.map { ATTOpcode(rawValue: $0) }
    var answered: Pending?
    let isServers: Bool
    switch opcode {
    case .response, .error:
      isServers = true
      answered = pending.removeValue(forKey: Asker(link: index, isHost: !isHost, isIndication: false))
    case .unsolicited: isServers = true
    case .confirmation:
      isServers = false
      answered = pending.removeValue(forKey: Asker(link: index, isHost: !isHost, isIndication: true))
    case .request, .command, .unknown, nil: isServers = false
    }
    let link = links.links[index]
    let server = LearnedDatabases.server(link, isHost: isServers == isHost)
    var packet = DecodedPacket(att: bytes, answering: answered?.request)
    packet.cut(record.missing, bytes)
    summary.add(packet, record, index)
    if let opcode {
      let request = try? Request(parsing: bytes)
      let subject = TraceSummary.Subject(packet, opcode, server)
      switch opcode {
      case .request, .unsolicited(.indication):
        summary.asked(index, subject, isHost, at: record.wallClock, packet)
        // Only one of each may be outstanding, so the answer to an earlier one is missing.
        pending[Asker(link: index, isHost: isHost, isIndication: opcode == .unsolicited(.indication))] = Pending(
          number: number, time: record.wallClock, request: request, attribute: subject)
      case .command, .unsolicited: summary.asked(index, subject, isHost, at: record.wallClock, packet)
      case .response, .error, .confirmation:
        if let answered { summary.answered(index, answered.attribute, !isHost, after: max(0, record.wallClock &- answered.time), packet) }
      case .unknown: break
      }
    }
    return Item(
      number: number, record: record, layer: .att, packet: packet, bytes: bytes, link: link, server: server,
      answers: answered.map { ($0.number, max(0, record.wallClock &- $0.time)) })
  }

  package func name(_ handle: AttributeHandle, of server: LearnedDatabases.Server) -> LearnedAttribute? {
    databases.name(handle.rawValue, of: server)
  }

  /// The links of all packets decoded so far. The summary refers to a link by its zero-based index in this list.
  package var allLinks: [TraceLinks.Link] { links.links }
}
