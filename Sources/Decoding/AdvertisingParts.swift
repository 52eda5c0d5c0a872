import Bluetooth
package import Captures
import HCI
import HostCommon

/// Joins advertising data that the events and commands of a trace have in several parts.
/// Pass the whole trace to `learn` before `join`, so that the last part shows the data even if its end is missing.
package struct AdvertisingParts: Sendable {
  /// The key of a part is its sender and advertising set. The number of a part is 256 times the number of its packet, counted from 1, plus
  /// its zero-based place among the reports of the packet.
  private var joiner = PartJoiner<[String], Int>()
  /// The numbers of the parts after which the end of the data is missing.
  private var lastParts: Set<Int> = []
  /// The number of packets that `learn` has read.
  private var learned = 0

  package init() {}

  /// Reads the next packet of the trace ahead.
  package mutating func learn(_ record: Snoop.Record) {
    learned += 1
    guard Self.mayHaveParts(record) else { return }
    var packet = DecodedPacket(hci: record.packet, missing: record.missing)
    packet.mapParts(record, learned) { part, data, key, status in
      for one in joiner.add(part, data, status, of: key, at: record.wallClock) where one.isTruncated && one.last != part {
        lastParts.insert(one.last)
      }
      return nil
    }
  }

  /// Ends the learning. Data without its end then ends with its last part.
  package mutating func finish() { lastParts.formUnion(joiner.expire(at: nil).map(\.last)) }

  /// Adds the joined data to each last part in a packet of the trace. `number` is the number of the packet, counted from 1.
  mutating func join(_ packet: inout DecodedPacket, _ record: Snoop.Record, _ number: Int) {
    guard Self.mayHaveParts(record) else { return }
    packet.mapParts(record, number) { part, data, key, status in
      let whole = joiner.add(part, data, status, of: key, at: record.wallClock).last { $0.last == part }
      guard let whole = whole ?? (lastParts.contains(part) ? joiner.giveUp(key) : nil), whole.isTruncated || whole.first != part else {
        return nil
      }
      let first = whole.first == part ? nil : whole.first / 256
      return .part(data, of: .init(data: whole.data, isTruncated: whole.isTruncated, firstPacket: first))
    }
  }

  /// Returns whether the packet is an event or a command whose advertising data may be a part.
  private static func mayHaveParts(_ record: Snoop.Record) -> Bool {
    let packet = record.packet
    guard packet.count > 4 else { return false }
    if packet[0] == Packet.eventIndicator { return packet[1] == 0x3E && [0x0D, 0x0F, 0x25].contains(packet[3]) }
    return packet[0] == Packet.commandIndicator && [0x2037, 0x2038, 0x203F].contains(packet.uint16(at: 1))
  }
}

extension DecodedPacket {
  private static let keys = ["address_type", "sid", "sync_handle", "advertising_handle", "subevent"]

  /// Replaces the advertising data of each report, or of the packet itself, with the result of a function. Keeps it if the result is nil.
  fileprivate mutating func mapParts(
    _ record: Snoop.Record, _ number: Int,
    _ body: (_ part: Int, _ data: [UInt8], _ key: [String], _ status: ExtendedAdvertisingReport.DataStatus) -> PacketField.Value?
  ) {
    func mapped(_ fields: [PacketField], _ index: Int) -> [PacketField] {
      var key = ["\(record.adapter) \(name)"]
      var status: ExtendedAdvertisingReport.DataStatus?
      for field in fields {
        switch (field.name, field.value) {
        // A legacy PDU is never a part. A scan response has data of its own.
        case ("event_type", .bits(let bits, _)):
          if bits & 0x10 != 0 { return fields }
          key.append("\(bits & 0x08)")
        case ("data_status", .named(let code, _)): status = .init(rawValue: code)
        case ("operation", .choice(let code, _)): status = code < 2 ? .more : code == 2 ? .complete : nil
        case ("address", .address(let address)): key.append("\(address)")
        case (let name, let value): if Self.keys.contains(name) { key.append("\(value.number ?? 0)") }
        }
      }
      guard let last = fields.last, let data = last.value.advertisingData, let status else { return fields }
      guard let value = body(number << 8 | index & 0xFF, data, key, record.missing > 0 ? .truncated : status) else { return fields }
      return fields.dropLast() + [PacketField(last.name, value)]
    }
    guard let place = fields.firstIndex(where: { $0.name == "items" }), case .list(let items) = fields[place].value else {
      fields = mapped(fields, 0)
      return
    }
    fields[place].value = .list(items.enumerated().map { mapped($1, $0) })
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
