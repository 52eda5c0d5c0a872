import BluetoothLE
import Presentation
import Scripts

/// A log of the ATT PDUs that blectl and the device exchange during a test.
@LoopActor
final class PacketLog {
  /// The maximum number of packets that the log keeps for a test. Beyond this limit, the log drops the oldest packets.
  static let limit = 20_000
  /// The number of packets that the report of a failed test shows.
  static let shown = 20

  private struct Entry {
    let at: Duration
    let direction: PDUDirection
    let pdu: [UInt8]
    /// The zero-based index in `tables` of the attribute table that names the packet's attribute.
    var table: Int
  }

  private var packets: [Entry] = []
  private var omitted = 0
  private var start: LoopClock.Instant
  private weak var client: Client?
  /// The attribute tables of the connections, in order of time. The last table is nil until discovery finds the attributes.
  private var tables: [AttributeTable?] = []

  init() { start = EventLoop.shared.now }

  /// Removes all packets and restarts the clock for a new test.
  func begin() {
    (packets, omitted) = ([], 0)
    tables = tables.suffix(1)
    start = EventLoop.shared.now
  }

  func add(_ direction: PDUDirection, _ pdu: [UInt8], _ client: Client) {
    if packets.count >= 2 * Self.limit {
      packets.removeFirst(Self.limit)
      omitted += Self.limit
      if let unused = packets.first?.table, unused > 0 {
        tables.removeFirst(unused)
        for index in packets.indices { packets[index].table -= unused }
      }
    }
    follow(client)
    packets.append(Entry(at: start.duration(to: EventLoop.shared.now), direction: direction, pdu: pdu, table: tables.count - 1))
  }

  /// Adds a table after a reconnect or Service Changed.
  private func follow(_ client: Client) {
    if self.client !== client || tables.isEmpty {
      self.client = client
      tables.append(client.table)
    } else if let table = client.table, table != tables.last {
      if tables.last == .some(nil) { tables[tables.count - 1] = table } else { tables.append(table) }
    }
  }

  private func shown(_ entries: some Sequence<Entry>) -> [TestPacket] {
    // Discovery may have ended without another packet.
    if let client { follow(client) }
    var names: [Int: String?] = [:]
    return entries.map { entry in
      let text = PDUText.name(entry.pdu) { handle in
        let key = entry.table << 16 | Int(handle.rawValue)
        if let name = names[key] { return name }
        let name = tables[entry.table]?.name(at: handle)
        names[key] = .some(name)
        return name
      }
      return TestPacket(at: entry.at, direction: entry.direction, bytes: entry.pdu, text: text)
    }
  }

  /// The number of packets since the start of the test, including dropped packets.
  var count: Int { omitted + packets.count }

  var last: [TestPacket] { shown(packets.suffix(Self.shown)) }

  /// Returns the latest packets of the test, at most `limit`, and the number of packets before them.
  func taken() -> (packets: [TestPacket], omitted: Int) {
    let kept = packets.suffix(Self.limit)
    return (shown(kept), omitted + packets.count - kept.count)
  }
}
