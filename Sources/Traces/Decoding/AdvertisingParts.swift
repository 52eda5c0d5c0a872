import BluetoothLE

/// Joins advertising data that the events and commands of a trace have in several parts.
/// Pass the whole trace to `learn` before `join`, so that the last part shows the data even if its end is missing.
package struct AdvertisingParts: Sendable {
  /// The key of a part is its sender and advertising set. The number of a part is 256 times the number of its packet, counted from 1, plus
  /// its zero-based place among the reports of the packet.
  fileprivate typealias Joiner = PartJoiner<[Int64], Int>
  private var reports = Joiner()
  /// The parts in commands of the host, which has no time limit.
  private var commands = Joiner()
  /// The numbers of the parts after which the end of the data is missing.
  private var lastParts: Set<Int> = []
  /// The number of packets that `learn` has read.
  private var learned = 0

  /// Reads the next packet of the trace ahead.
  package mutating func learn(_ record: Snoop.Record) {
    learned += 1
    lastParts.formUnion(reset(record).map(\.last))
    guard mayHaveParts(record) else { return }
    var packet = DecodedPacket(hci: record.packet, missing: record.missing)
    packet.mapParts(record, learned) { part in
      for one in add(part, record) where one.isTruncated && one.last != part.number { lastParts.insert(one.last) }
      return nil
    }
  }

  /// Ends the learning. Data without its end then ends with its last part.
  package mutating func finish() { lastParts.formUnion((reports.expire(at: nil) + commands.expire(at: nil)).map(\.last)) }

  /// Adds the joined data to each last part in a packet of the trace. `number` is the number of the packet, counted from 1.
  mutating func join(_ packet: inout DecodedPacket, _ record: Snoop.Record, _ number: Int) {
    _ = reset(record)
    guard mayHaveParts(record) else { return }
    packet.mapParts(record, number) { part in
      let whole = add(part, record).last { $0.last == part.number }
      guard let whole = whole ?? (lastParts.contains(part.number) ? giveUp(part.key, record) : nil),
        whole.isTruncated || whole.first != part.number
      else { return nil }
      let first = whole.first == part.number ? nil : whole.first / 256
      return .part(part.data, of: .init(data: whole.data, isTruncated: whole.isTruncated, firstPacket: first))
    }
  }

  private mutating func add(_ part: DecodedPacket.Part, _ record: Snoop.Record) -> [Joiner.Joined] {
    guard record.isCommand else { return reports.add(part.number, part.data, part.status, of: part.key, at: record.wallClock) }
    // The first part replaces what the host sent before.
    let before = part.isFirst ? commands.giveUp(part.key).map { [$0] } ?? [] : []
    return before + commands.add(part.number, part.data, part.status, of: part.key, at: 0)
  }

  /// Ends all parts of an adapter at its Reset.
  private mutating func reset(_ record: Snoop.Record) -> [Joiner.Joined] {
    guard record.packet.starts(with: [Packet.commandIndicator, 0x03, 0x0C]) else { return [] }
    let isOfAdapter = { (key: [Int64]) in key.first == Int64(record.adapter) }
    return reports.giveUp(where: isOfAdapter) + commands.giveUp(where: isOfAdapter)
  }

  private mutating func giveUp(_ key: [Int64], _ record: Snoop.Record) -> Joiner.Joined? {
    record.isCommand ? commands.giveUp(key) : reports.giveUp(key)
  }

  /// Returns whether the packet is an event or a command whose advertising data may be a part.
  private func mayHaveParts(_ record: Snoop.Record) -> Bool {
    let packet = record.packet
    guard packet.count > 4 else { return false }
    if record.isCommand { return [0x2037, 0x2038, 0x203F].contains(packet.uint16(at: 1)) }
    guard packet[0] == Packet.eventIndicator, packet[1] == 0x3E, [0x0D, 0x0F, 0x25].contains(packet[3]) else { return false }
    // Most reports are whole. Decoding them for this would take as long as all else.
    return packet[3] != 0x0D || reports.count > 0 || record.missing > 0 || !Self.areWhole(packet)
  }

  /// Returns whether all reports of an LE Extended Advertising Report event are whole (Vol 4 Part E §7.7.65.13).
  private static func areWhole(_ packet: [UInt8]) -> Bool {
    var offset = 5
    // The data status is in bits 5 and 6 of the event type. The length of the data is in byte 23.
    while offset + 23 < packet.count {
      if packet[offset] & 0x60 != 0 { return false }
      offset += 24 + Int(packet[offset + 23])
    }
    return true
  }
}

extension Snoop.Record {
  fileprivate var isCommand: Bool { packet.first == Packet.commandIndicator }
}

extension DecodedPacket {
  fileprivate struct Part {
    let number: Int
    let data: [UInt8]
    let key: [Int64]
    let status: ExtendedAdvertisingReport.DataStatus
    /// Whether the host says that the part is the first one.
    let isFirst: Bool
  }

  private static let keys = ["address_type", "sid", "sync_handle", "advertising_handle", "subevent"]

  /// Replaces the advertising data of each report, or of the packet itself, with the result of a function. Keeps it if the result is nil.
  fileprivate mutating func mapParts(_ record: Snoop.Record, _ number: Int, _ body: (Part) -> PacketField.Value?) {
    func key(_ fields: [PacketField]) -> [Int64] {
      fields.compactMap { field in
        if case ("address", .address(let address)) = (field.name, field.value) { return Int64(address.rawValue) }
        // A scan response has data of its own.
        if case ("event_type", .bits(let bits, _)) = (field.name, field.value) { return Int64(bits & 0x08) }
        return Self.keys.contains(field.name) ? field.value.number ?? 0 : nil
      }
    }
    func map(_ fields: inout [PacketField], _ index: Int, _ beginning: [Int64]) {
      var (status, isFirst): (ExtendedAdvertisingReport.DataStatus?, Bool) = (nil, false)
      for field in fields {
        switch (field.name, field.value) {
        // A legacy PDU is never a part.
        case ("event_type", .bits(let bits, _)) where bits & 0x10 != 0: return
        case ("data_status", .named(let code, _)): status = .init(rawValue: code)
        // 0 is a part in the middle, 1 the first one, 2 the last one, 3 all data (Vol 4 Part E §7.8.54).
        case ("operation", .choice(let code, _)): (status, isFirst) = (code < 2 ? .more : code < 4 ? .complete : nil, code % 2 == 1)
        default: break
        }
      }
      guard let place = fields.lastIndex(where: { $0.value.advertisingData != nil }), let data = fields[place].value.advertisingData,
        let status
      else { return }
      let part = Part(
        number: number << 8 | index & 0xFF, data: data, key: beginning + key(fields), status: record.missing > 0 ? .truncated : status,
        isFirst: isFirst)
      if let value = body(part) { fields[place].value = value }
    }
    let kind = [Int64(record.adapter), record.isCommand ? Int64(record.packet.uint16(at: 1)) : Int64(record.packet[3])]
    guard let place = fields.firstIndex(where: { $0.name == "items" }), case .list(var items) = fields[place].value else {
      return map(&fields, 0, kind)
    }
    let beginning = kind + key(fields)
    for index in items.indices { map(&items[index], index, beginning) }
    fields[place].value = .list(items)
  }
}

extension PacketField.Value {
  fileprivate var advertisingData: [UInt8]? {
    switch self {
    case .advertising(let data), .part(let data, of: _): data
    default: nil
    }
  }
}
