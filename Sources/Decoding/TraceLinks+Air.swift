import Bluetooth
import HCI
import L2CAP

/// What is known of a connection whose packets a sniffer hears.
struct AirConnection: Sendable {
  let link: Int
  /// The last packet: whose, and when it was heard, nanoseconds since 1970.
  var sender: AirPacket.Sender?
  var time: Int64 = 0
  /// Microseconds that it took.
  var duration: Int64 = 0
  var channel: UInt8?
  /// The last packet was heard before.
  var isRepeated = false
  /// Nanoseconds between its events; where the sniffer has not heard it, what is common.
  var interval: Int64 = 50_000_000
  /// The last PDU of each side, without what a repetition may change, and when it was heard.
  var last: [AirPacket.Sender: (pdu: [UInt8], time: Int64)] = [:]
  /// What comes next is encrypted.
  var startsEncryption = false
}

extension TraceLinks {
  /// - Returns: the connection that a packet belongs to, if any, and the frame that it completes.
  mutating func add(air packet: AirPacket, _ record: Snoop.Record) -> (link: Int?, frame: Frame?) {
    let isIntact = packet.isIntact != false
    if packet.isAdvertising { return (isIntact ? begin(packet, record) : nil, nil) }
    // Noise has any access address.
    let known = connections[packet.accessAddress]
    guard packet.isOfConnection, isIntact || known != nil else { return (nil, nil) }
    var connection = known ?? AirConnection(link: append(.accessAddress(packet.accessAddress), record))
    defer { connections[packet.accessAddress] = connection }
    let sender = packet.sender ?? connection.sender(of: packet, at: record.wallClock)
    (connection.sender, connection.time, connection.duration, connection.channel) = (
      sender, record.wallClock, packet.duration, packet.channel
    )
    links[connection.link].end = max(links[connection.link].end, record.wallClock)
    connection.isRepeated = false
    guard isIntact else { return (connection.link, nil) }
    if connection.startsEncryption {
      connection.startsEncryption = false
      links[connection.link].isEncrypted = true
    }
    guard packet.isWhole else { return (connection.link, nil) }
    connection.isRepeated = connection.repeats(packet, from: sender, at: record.wallClock)
    guard !connection.isRepeated, packet.pdu[1] > 0,
      !links[connection.link].isEncrypted || packet.isDecrypted
    else { return (connection.link, nil) }
    return (connection.link, take(packet, from: sender, &connection))
  }

  private mutating func take(_ packet: AirPacket, from sender: AirPacket.Sender, _ connection: inout AirConnection) -> Frame? {
    let kind = packet.pdu[0] & 3
    var payload = Array(packet.pdu.dropFirst(packet.headerLength))
    switch kind {
    case 3:
      switch (payload.first, payload.count) {
      case (0x00, 12): connection.setInterval(payload[4...])
      case (0x02, 2): links[connection.link].reason = ControllerErrorCode(rawValue: payload[1])
      case (0x05, 1): connection.startsEncryption = true
      case (0x0B, 1): links[connection.link].isEncrypted = false
      default: break
      }
      return nil
    case 1, 2:
      let isStart = kind == 2
      // Some sniffers leave the MIC behind what they have decrypted.
      if packet.isDecrypted, isStart, payload.count >= 8, Int(payload[0]) | Int(payload[1]) << 8 == payload.count - 8 {
        payload.removeLast(4)
      }
      return recombine(connection.link, payload, isStart: isStart, isFromHost: sender == .central)
    default: return nil
    }
  }

  /// CONNECT_IND and AUX_CONNECT_REQ say what the connection's access address will be (Vol 6 Part B §2.3.3.1).
  private mutating func begin(_ packet: AirPacket, _ record: Snoop.Record) -> Int? {
    guard packet.pdu.count == 2 + 34, packet.pdu[0] & 0x0F == 5 else { return nil }
    var reader = ByteReader(packet.pdu[2...])
    guard let initiator = try? reader.address("initiator"), let advertiser = try? reader.address("advertiser"),
      let address = try? reader.uint32("access address")
    else { return nil }
    let index = append(.accessAddress(address), record)
    links[index].central = PeerAddress(initiator, packet.pdu[0] & 0x40 == 0 ? .public : .random)
    links[index].peer = PeerAddress(advertiser, packet.pdu[0] & 0x80 == 0 ? .public : .random)
    var connection = AirConnection(link: index)
    // Behind the CRC's beginning, the window's size and its offset.
    connection.setInterval(packet.pdu[24...])
    connections[address] = connection
    return index
  }
}

extension AirConnection {
  /// - Parameter octets: two or more: units of 1.25 ms, least significant first.
  fileprivate mutating func setInterval(_ octets: ArraySlice<UInt8>) {
    interval = octets.prefix(2).reversed().reduce(0) { $0 << 8 | Int64($1) } * 1_250_000
  }

  /// Who gets no acknowledgement sends the same again, with the same sequence number, in this event or the next one. A sniffer misses packets: what comes
  /// later may well be another one.
  fileprivate mutating func repeats(_ packet: AirPacket, from sender: AirPacket.Sender, at time: Int64) -> Bool {
    // LLID and sequence number.
    let pdu = [packet.pdu[0] & 0x0B] + packet.pdu.dropFirst()
    guard let before = last.updateValue((pdu, time), forKey: sender), before.pdu == pdu else { return false }
    let (since, overflow) = time.subtractingReportingOverflow(before.time)
    return !overflow && since <= interval + interval / 2
  }

  /// Where the sniffer does not say: the central begins on each channel, and whoever is heard T_IFS after a packet, 150 µs, is the other one
  /// (Vol 6 Part B §4.1.1, §4.5.1).
  fileprivate func sender(of packet: AirPacket, at time: Int64) -> AirPacket.Sender {
    let (since, overflow) = time.subtractingReportingOverflow(self.time)
    guard let sender, !overflow, (0...100_000_000).contains(since), channel == packet.channel else { return .central }
    // Some sniffers say when a packet begins, some when it has ended, and all in their own microseconds.
    let isReply = [duration, packet.duration].contains { (0...250_000).contains(since - $0 * 1000) }
    return isReply ? (sender == .central ? .peripheral : .central) : .central
  }
}
