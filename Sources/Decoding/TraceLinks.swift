package import Bluetooth
package import HCI
package import L2CAP
import Replay

/// The links of a trace, and the L2CAP frames that went over them. Of an adapter in the middle of a link whose beginning is not in the trace, the link
/// begins with its first data.
package struct TraceLinks: Sendable {
  package struct Link: Sendable {
    package let adapter: UInt16
    package let identity: Identity
    /// Nil where the trace does not have its beginning. Of what a sniffer has heard, the peripheral.
    package var peer: PeerAddress?
    /// Of what a sniffer has heard.
    package var central: PeerAddress?
    /// Nobody but the two can read what goes over it now.
    package var isEncrypted = false
    /// The adapter's role; nil where nobody knows.
    package var isCentral: Bool?
    /// It is BR/EDR's: what its channels carry is not looked at.
    package var isClassic = false
    /// Of its first and its last packet, nanoseconds since 1970.
    package var begin: Int64
    package var end: Int64
    /// Why it ended; nil while the trace has no end of it.
    package var reason: ControllerErrorCode?
    /// The controller was reset, which ends every link without a word.
    package var wasReset = false
    /// The first packet, counted from 0.
    package let firstPacket: Int

    /// A sniffer has heard it: it has two sides, neither of which is ours.
    package var isOfAir: Bool { if case .accessAddress = identity { true } else { false } }
  }

  /// What its packets say that they belong to.
  package enum Identity: Sendable, Equatable {
    case handle(ConnectionHandle)
    /// Of what a sniffer has heard.
    case accessAddress(UInt32)
  }

  package struct Frame: Sendable {
    package let link: Int
    package let isFromHost: Bool
    package let frame: L2CAPFrame
  }

  package internal(set) var links: [Link] = []
  /// By access address.
  var connections: [UInt32: AirConnection] = [:]
  /// Data under them belong to no link.
  var vendorHandles = VendorHandles()
  private var live: [UInt32: Int] = [:]
  private var streams: [Int: (out: Recombination, in: Recombination)] = [:]
  private var count = 0

  package init() {}

  /// - Returns: the link that a packet is about, if any, and the frame that it completes.
  package mutating func add(_ record: Snoop.Record) -> (link: Int?, frame: Frame?) {
    defer { count += 1 }
    guard record.missing == 0 else { return (nil, nil) }
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

  func isVendorData(_ record: Snoop.Record) -> Bool {
    record.packet.first == Packet.aclIndicator
      && RecordedEvent.handle(record.packet).map { vendorHandles.contains($0, record.adapter) } == true
  }

  mutating func recombine(_ index: Int, _ fragment: [UInt8], isStart: Bool, isFromHost: Bool) -> Frame? {
    var stream = streams.removeValue(forKey: index) ?? (Recombination(), Recombination())
    let frame = isFromHost ? stream.out.add(fragment, isStart: isStart) : stream.in.add(fragment, isStart: isStart)
    streams[index] = stream
    return frame.map { Frame(link: index, isFromHost: isFromHost, frame: $0) }
  }

  /// - Returns: its index.
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

  /// Over USB data may overtake the event that says whose they are.
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
      // Of a stream, or of a link without a packet in the trace.
      guard let index = known(handle, record) else { return nil }
      links[index].reason = reason
      live[VendorHandles.key(handle, record.adapter)] = nil
      streams[index] = nil
      return index
    // Connection Complete of BR/EDR: status, handle, address.
    case .other(code: 0x03, let octets) where octets.count >= 9 && octets[0] == 0:
      let index = begin(ConnectionHandle(UInt16(octets[1]) | UInt16(octets[2]) << 8), record)
      links[index].isClassic = true
      links[index].peer = PeerAddress(Address(rawValue: octets[3..<9].reversed().reduce(0) { $0 << 8 | UInt64($1) }), .public)
      return index
    case .commandComplete(let complete) where complete.opcode.rawValue == Reset.opcode.rawValue && complete.parameters.first == 0:
      reset(record.adapter)
      return nil
    default: return RecordedEvent.handle(record.packet).flatMap { known($0, record) }
    }
  }

  private mutating func command(_ record: Snoop.Record) -> Int? {
    let octets = record.packet
    guard octets.count >= 6 else { return nil }
    let opcode = UInt16(octets[1]) | UInt16(octets[2]) << 8
    guard RecordedEvent.linkCommands.contains(opcode) else { return nil }
    return known(ConnectionHandle(UInt16(octets[4]) | UInt16(octets[5]) << 8), record)
  }
}
