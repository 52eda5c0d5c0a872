import BluetoothLE

/// Converts a sniffer's packets to the HCI packets that the central's host would have recorded: reports, connections and ACL data.
package struct SniffedHost: Sendable {
  private var links = TraceLinks()
  private var begun = 0

  package init() {}

  /// Returns the HCI packets for the next packet of the trace. Returns an HCI packet unchanged.
  package mutating func records(_ record: Snoop.Record) -> [Snoop.Record] {
    guard let air = record.air else { return [record] }
    let (index, frame) = links.add(record)
    var records: [Snoop.Record] = []
    func add(_ packet: [UInt8], isSent: Bool = false) {
      records.append(Snoop.Record(packet: packet, direction: isSent ? .hostToController : .controllerToHost, wallClock: record.wallClock))
    }
    if air.isAdvertising, air.isIntact != false, let report = Self.report(air) { add(report) }
    while begun < links.links.count {
      begun += 1
      guard let peer = links.links[begun - 1].peer else { continue }
      add(
        Event.leConnectionComplete(
          .init(status: .success, handle: Self.handle(begun - 1), peer: peer, interval: 24, latency: 0, supervisionTimeout: 400)
        ).encoded)
    }
    if let frame {
      let first: ACLData.Boundary = frame.isFromHost ? .firstNonFlushable : .firstFlushable
      for data in frame.frame.fragments(handle: Self.handle(frame.link), length: 0xFFFF, first: first) {
        add(data.encoded, isSent: frame.isFromHost)
      }
    }
    // LL_TERMINATE_IND of the peripheral.
    if let index, let reason = links.links[index].reason, air.pdu.count == 4, air.pdu[0] & 3 == 3, air.pdu[2] == 2,
      links.connections[air.accessAddress]?.sender == .peripheral
    {
      add(Event.disconnectionComplete(status: .success, handle: Self.handle(index), reason: reason).encoded)
    }
    return records
  }

  private static func handle(_ link: Int) -> ConnectionHandle { ConnectionHandle(UInt16(link % 0x0EFF) + 1) }

  /// Returns the event that reports a legacy advertising PDU. Returns nil for other PDUs.
  private static func report(_ air: AirPacket) -> [UInt8]? {
    // ADV_IND, ADV_DIRECT_IND, ADV_NONCONN_IND, SCAN_RSP and ADV_SCAN_IND.
    let types: [UInt8: UInt8] = [0: 0, 1: 1, 2: 3, 4: 4, 6: 2]
    guard air.isWhole, let type = types[air.pdu[0] & 15] else { return nil }
    var reader = ByteReader(air.payload)
    guard let address = try? reader.address("sender"), reader.remaining <= 31 else { return nil }
    let peer = PeerAddress(address, air.pdu[0] & 0x40 == 0 ? .public : .random)
    let report = LegacyAdvertisingReport(eventType: type, peer: peer, data: type == 1 ? [] : reader.rest(), rssi: air.rssi ?? 127)
    return Event.leAdvertisingReports(AdvertisingReports([report])).encoded
  }
}
