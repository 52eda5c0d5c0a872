package import BluetoothLE
import BluetoothLEText

/// The links of a trace and their L2CAP frames. If the trace lacks the start of a link, the link begins with its first data.
package struct TraceLinks: Sendable {
  package struct Link: Sendable {
    package let adapter: UInt16
    package let identity: Identity
    /// The peer, or the peripheral in a sniffer's trace. Nil if the trace lacks the start of the link.
    package var peer: PeerAddress?
    /// The central in a sniffer's trace. Nil in other traces, or if the trace lacks the start of the link.
    package var central: PeerAddress?
    /// Whether the two sides currently encrypt the link. Always false outside of a sniffer's trace.
    package var isEncrypted = false
    /// Whether the adapter is the central. Nil if unknown.
    package var isCentral: Bool?
    /// Whether the link is BR/EDR, whose channels blectl does not decode.
    package var isClassic = false
    /// The time of the first packet, in nanoseconds since 1970-01-01T00:00:00Z. `end` is the time of the last packet.
    package var begin: Int64
    package var end: Int64
    /// The reason for the end of the link. Nil if the trace lacks the end of the link.
    package var reason: ControllerErrorCode?
    /// Whether a reset of the controller ended the link, without an event.
    package var wasReset = false
    /// The zero-based index of the link's first packet in the trace.
    package let firstPacket: Int

    /// Whether a sniffer captured the link, so that no side of the link is the adapter.
    package var isOfAir: Bool { if case .accessAddress = identity { true } else { false } }
  }

  /// The identifier of the link in its packets.
  package enum Identity: Sendable, Equatable {
    case handle(ConnectionHandle)
    /// The access address of a link in a sniffer's trace.
    case accessAddress(UInt32)
  }

  package struct Frame: Sendable {
    package let link: Int
    package let isFromHost: Bool
    package let frame: L2CAPFrame
    /// The number of bytes at the end of the frame that the recorder cut.
    package var missing = 0
  }

  package internal(set) var links: [Link] = []
  /// The connections that a sniffer heard, by access address.
  var connections: [UInt32: AirConnection] = [:]
  /// The handles whose data belongs to no link.
  var vendorHandles = VendorHandles()
  private var live: [UInt32: Int] = [:]
  private var streams: [Int: (out: Recombination, in: Recombination)] = [:]
  private var count = 0

  /// Adds a packet. Returns the zero-based index of its link, if any, and the L2CAP frame that the packet completes.
  package mutating func add(_ record: Snoop.Record) -> (link: Int?, frame: Frame?) {
    defer { count += 1 }
    guard record.missing == 0 else { return cut(record) }
    if let air = record.air { return add(air: air, record) }
    switch record.packet.first {
    case Packet.eventIndicator: return (event(record), nil)
    case Packet.commandIndicator: return (command(record), nil)
    case Packet.aclIndicator:
      guard case .acl(let data)? = try? Packet(record.packet), !isVendorData(record) else { return (nil, nil) }
      let index = link(data.handle, record)
      let isFromHost = record.direction == .hostToController
      if links[index].isClassic { return (index, nil) }
      return (index, recombine(index, data.payload, isStart: data.boundary != .continuing, isFromHost: isFromHost))
    default: return (nil, nil)
    }
  }

  /// Adds a packet that the recorder cut. Returns its link, and the beginning of the frame that the packet starts.
  private mutating func cut(_ record: Snoop.Record) -> (link: Int?, frame: Frame?) {
    guard let handle = LinkPacket.handle(record.packet) else { return (nil, nil) }
    guard record.packet[0] == Packet.aclIndicator, !isVendorData(record) else { return (known(handle, record), nil) }
    let (index, isFromHost) = (link(handle, record), record.direction == .hostToController)
    // The later fragments of the frame lack their beginning.
    if isFromHost { streams[index]?.out = Recombination() } else { streams[index]?.in = Recombination() }
    guard !links[index].isClassic, record.packet.count > 9, record.packet[2] >> 4 & 3 != 1 else { return (index, nil) }
    let frame = L2CAPFrame(channel: ChannelIdentifier(rawValue: record.packet.uint16(at: 7)), payload: Array(record.packet[9...]))
    return (index, Frame(link: index, isFromHost: isFromHost, frame: frame, missing: record.missing))
  }

  func isVendorData(_ record: Snoop.Record) -> Bool {
    record.packet.first == Packet.aclIndicator
      && LinkPacket.handle(record.packet).map { vendorHandles.contains($0, record.adapter) } == true
  }

  mutating func recombine(_ index: Int, _ fragment: [UInt8], isStart: Bool, isFromHost: Bool) -> Frame? {
    var stream = streams.removeValue(forKey: index) ?? (Recombination(), Recombination())
    let frame = isFromHost ? stream.out.add(fragment, isStart: isStart) : stream.in.add(fragment, isStart: isStart)
    streams[index] = stream
    return frame.map { Frame(link: index, isFromHost: isFromHost, frame: $0) }
  }

  /// Adds a link that starts with this packet, and returns the zero-based index of the link.
  mutating func append(_ identity: Identity, _ record: Snoop.Record) -> Int {
    links.append(Link(adapter: record.adapter, identity: identity, begin: record.wallClock, end: record.wallClock, firstPacket: count))
    return links.count - 1
  }

  private mutating func begin(_ handle: ConnectionHandle, _ record: Snoop.Record) -> Int {
    let index = append(.handle(handle), record)
    live[VendorHandles.key(handle, record.adapter)] = index
    return index
  }

  private mutating func link(_ handle: ConnectionHandle, _ record: Snoop.Record) -> Int {
    let index = live[VendorHandles.key(handle, record.adapter)] ?? begin(handle, record)
    links[index].end = max(links[index].end, record.wallClock)
    return index
  }

  private mutating func known(_ handle: ConnectionHandle, _ record: Snoop.Record) -> Int? {
    guard let index = live[VendorHandles.key(handle, record.adapter)] else { return nil }
    links[index].end = max(links[index].end, record.wallClock)
    return index
  }

  /// Finds a link whose first data precedes the event that opens the link by at most 100 ms. A USB adapter can reorder them.
  private mutating func early(_ handle: ConnectionHandle, _ record: Snoop.Record) -> Int? {
    guard let index = known(handle, record), links[index].peer == nil, !links[index].isClassic else { return nil }
    let (since, overflow) = record.wallClock.subtractingReportingOverflow(links[index].begin)
    return !overflow && (0...100_000_000).contains(since) ? index : nil
  }

  private mutating func reset(_ adapter: UInt16) {
    for (key, index) in live where UInt16(truncatingIfNeeded: key >> 16) == adapter {
      links[index].wasReset = true
      (live[key], streams[index]) = (nil, nil)
    }
  }

  private mutating func event(_ record: Snoop.Record) -> Int? {
    guard case .event(let event)? = try? Packet(record.packet) else { return nil }
    switch event {
    case .leConnectionComplete(let complete) where complete.status == .success:
      let index = early(complete.handle, record) ?? begin(complete.handle, record)
      links[index].peer = complete.peer
      links[index].isCentral = complete.role == 0
      return index
    case .disconnectionComplete(.success, let handle, let reason):
      // The handle may be that of a stream, or of a link without a packet in the trace.
      guard let index = known(handle, record) else { return nil }
      links[index].reason = reason
      live[VendorHandles.key(handle, record.adapter)] = nil
      streams[index] = nil
      return index
    // Connection Complete of BR/EDR: status, handle, address.
    case .other(code: 0x03, let bytes) where bytes.count >= 9 && bytes[0] == 0:
      let index = begin(ConnectionHandle(bytes.uint16(at: 1)), record)
      links[index].isClassic = true
      links[index].peer = PeerAddress(Address(rawValue: ByteOrder.little.number(bytes[3..<9])), .public)
      return index
    case .commandComplete(let complete) where complete.opcode == Reset.opcode && complete.parameters.first == 0:
      reset(record.adapter)
      return nil
    default: return LinkPacket.handle(record.packet).flatMap { known($0, record) }
    }
  }

  private mutating func command(_ record: Snoop.Record) -> Int? {
    LinkPacket.handle(ofCommand: record.packet).flatMap { known($0, record) }
  }
}

/// The state of a connection whose packets a sniffer hears.
struct AirConnection: Sendable {
  let link: Int
  /// The sender of the last packet. `time` is the time of that packet in nanoseconds since 1970-01-01T00:00:00Z.
  var sender: AirPacket.Sender?
  var time: Int64 = 0
  /// The duration of the last packet in microseconds.
  var duration: Int64 = 0
  var channel: UInt8?
  /// Whether the last packet repeats an earlier one.
  var isRepeated = false
  /// The connection interval in nanoseconds: 50 ms until the sniffer captures the real interval.
  fileprivate(set) var interval: Int64 = 50_000_000
  /// The interval before a change, and the latest time at which this interval may still apply, both in nanoseconds.
  private var other: (interval: Int64, until: Int64) = (0, .min)
  /// The last PDU of each side, without the bits that a repetition may change, and its time in nanoseconds.
  private var last: [AirPacket.Sender: (pdu: [UInt8], time: Int64)] = [:]
  fileprivate var encryption = Encryption.off
  /// Whether the sniffer left the MIC after decrypted data. Nil until a packet shows whether the sniffer did so.
  fileprivate(set) var keepsMIC: Bool?

  init(link: Int) { self.link = link }

  /// The progress of encryption. In `begins`, only the packets that start encryption are unencrypted (Vol 6 Part B §5.1.3.1).
  fileprivate enum Encryption { case off, begins, on }
}

extension TraceLinks {
  /// Adds a packet from a sniffer. Returns the zero-based index of its connection, if any, and the L2CAP frame that the packet completes.
  mutating func add(air packet: AirPacket, _ record: Snoop.Record) -> (link: Int?, frame: Frame?) {
    let isIntact = packet.isIntact != false
    if packet.isAdvertising { return (isIntact ? begin(packet, record) : nil, nil) }
    // Noise may have any access address.
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
    guard packet.isWhole else { return (connection.link, nil) }
    connection.isRepeated = connection.repeats(packet, from: sender, at: record.wallClock)
    guard packet.pdu[1] > 0 else { return (connection.link, nil) }
    if packet.isDecrypted { connection.noteDecryption(packet) } else if !connection.isRepeated { connection.noteEncryption(packet) }
    links[connection.link].isEncrypted = connection.encryption == .on
    guard !connection.isRepeated, !links[connection.link].isEncrypted || packet.isDecrypted else { return (connection.link, nil) }
    let plain = packet.isDecrypted && connection.keepsMIC == true ? packet.withoutMIC : packet
    return (connection.link, take(plain, from: sender, at: record.wallClock, &connection))
  }

  private mutating func take(_ packet: AirPacket, from sender: AirPacket.Sender, at time: Int64, _ connection: inout AirConnection)
    -> Frame?
  {
    let payload = Array(packet.payload)
    switch packet.pdu[0] & 3 {
    case 3:
      switch (payload.first, payload.count) {
      case (0x00, 12): connection.change(interval: payload[4...], at: time)
      case (0x02, 2): links[connection.link].reason = ControllerErrorCode(rawValue: payload[1])
      default: break
      }
      return nil
    case let kind where kind > 0: return recombine(connection.link, payload, isStart: kind == 2, isFromHost: sender == .central)
    default: return nil
    }
  }

  /// Opens the connection whose access address CONNECT_IND or AUX_CONNECT_REQ contains (Vol 6 Part B §2.3.3.1).
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
    // The interval follows the CRC's start, the window's size and its offset.
    connection.interval = AirConnection.interval(packet.pdu[24...])
    connections[address] = connection
    return index
  }
}

extension AirConnection {
  /// Converts an encoded connection interval to nanoseconds.
  /// - Parameter bytes: At least two bytes. The first two hold units of 1.25 ms, least significant byte first.
  fileprivate static func interval(_ bytes: ArraySlice<UInt8>) -> Int64 {
    Int64(ByteOrder.little.number(bytes.prefix(2))) * 1_250_000
  }

  /// Sets a new interval. The old interval may apply for 12 more events, because a change takes at least six (Vol 6 Part B §5.1.1).
  fileprivate mutating func change(interval bytes: ArraySlice<UInt8>, at time: Int64) {
    other = (interval, time.addingReportingOverflow(interval * 12).partialValue)
    interval = Self.interval(bytes)
  }

  /// Updates the state of encryption. LL_ENC_RSP or LL_START_ENC_REQ starts encryption, and a rejection ends the start.
  /// The central's LL_PAUSE_ENC_RSP ends encryption: it is unencrypted, and too short to be encrypted (Vol 6 Part B §5.1.3).
  /// - Parameter packet: A packet with a payload.
  fileprivate mutating func noteEncryption(_ packet: AirPacket) {
    let isControl = packet.pdu[0] & 3 == 3
    switch (isControl ? packet.payload.first : nil, packet.payload.count) {
    case (0x0B, 1): encryption = .off
    case (0x04, 13) where encryption == .off, (0x05, 1) where encryption == .off: encryption = .begins
    case (0x0D, 2) where encryption == .begins, (0x11, 3) where encryption == .begins: encryption = .off
    case (0x02, 2) where encryption == .begins, (0x04, 13) where encryption == .begins, (0x05, 1) where encryption == .begins: break
    default: if encryption == .begins { encryption = .on }
    }
  }

  /// Detects whether the sniffer leaves the MIC after decrypted data, and sets `keepsMIC`.
  /// The length of LL_START_ENC_RSP, one byte without a MIC, shows whether a MIC follows. Else the first whole L2CAP frame shows it.
  fileprivate mutating func noteDecryption(_ packet: AirPacket) {
    encryption = .on
    let payload = Array(packet.payload)
    switch packet.pdu[0] & 3 {
    case 3 where payload.first == 0x06: keepsMIC = payload.count == 5
    case 2 where payload.count >= 4 && keepsMIC == nil:
      let behind = payload.count - 4 - Int(payload.uint16(at: 0))
      if behind == 0 || behind == 4 { keepsMIC = behind == 4 }
    default: break
    }
  }

  /// Returns whether the packet is a retransmission: the same PDU with the same sequence number within 1.5 connection intervals.
  /// A later packet may be a new one with the same content, because a sniffer misses packets.
  fileprivate mutating func repeats(_ packet: AirPacket, from sender: AirPacket.Sender, at time: Int64) -> Bool {
    // Compare only the LLID and the sequence number of the first header byte.
    let pdu = [packet.pdu[0] & 0x0B] + packet.pdu.dropFirst()
    guard let before = last.updateValue((pdu, time), forKey: sender), before.pdu == pdu else { return false }
    let (since, overflow) = time.subtractingReportingOverflow(before.time)
    let longest = time < other.until ? max(interval, other.interval) : interval
    return !overflow && since <= longest + longest / 2
  }

  /// Infers the sender of a packet if the sniffer does not name the sender. The central sends first on each channel.
  /// A packet that follows another after T_IFS (150 µs) comes from the other side (Vol 6 Part B §4.1.1, §4.5.1).
  fileprivate func sender(of packet: AirPacket, at time: Int64) -> AirPacket.Sender {
    let (since, overflow) = time.subtractingReportingOverflow(self.time)
    guard let sender, !overflow, (0...100_000_000).contains(since), channel == packet.channel else { return .central }
    // Some sniffers report the start of a packet, some its end, and each in its own microseconds.
    let isReply = [duration, packet.duration].contains { (0...250_000).contains(since - $0 * 1000) }
    return isReply ? (sender == .central ? .peripheral : .central) : .central
  }
}
