package import BluetoothLE

/// A filter that zeroes secrets in packets: keys, audio, and the parameters of commands and events whose format no table has.
/// The filter keeps lengths, codes and statuses. The caller must pass every packet of a trace, because L2CAP frames can span packets.
package struct TraceRedaction: Sendable {
  /// An L2CAP frame whose last fragment the filter has not received yet.
  private struct Frame: Sendable {
    /// The first 5 bytes of the frame, as far as received: the header and the first byte of the payload.
    var head: [UInt8] = []
    var length = 0

    /// The length of the frame with its header, in bytes. Nil before the header is complete.
    var end: Int? { head.count < 4 ? nil : 4 + Int(head[0]) + Int(head[1]) << 8 }

    /// The number of bytes of the frame that a trace may hold. Nil before the header is complete.
    var kept: Int? {
      guard let end, head.count > 4 else { return end }
      let channel = ChannelIdentifier(rawValue: head.uint16(at: 2))
      guard channel == .securityManager || channel == .classicSecurityManager else { return end }
      return DecodedPacket.pairing[head[4]] == nil || Secrets.pairing.contains(head[4]) ? min(5, end) : end
    }
  }

  /// The incomplete frames by connection handle, plus 0x1000 for frames from the host.
  private var frames: [UInt16: Frame] = [:]

  package init() {}

  /// Returns a copy of the packet with zeros in place of its secrets. The length stays the same.
  /// - Parameter packet: The packet in H4 form. It may be malformed.
  package mutating func redacted(_ packet: [UInt8], _ direction: Direction) -> [UInt8] {
    switch packet.first {
    case Packet.commandIndicator: Self.command(packet)
    case Packet.eventIndicator: Self.event(packet)
    case Packet.aclIndicator: data(packet, direction)
    // Audio may be a conversation, and nothing reads it.
    case Packet.synchronousIndicator: Self.zeroed(packet, from: 4)
    case Packet.isochronousIndicator: Self.zeroed(packet, from: 5)
    default: Self.zeroed(packet, from: 1)
    }
  }

  private static func zeroed(_ packet: [UInt8], from start: Int) -> [UInt8] {
    packet.count > start ? packet[..<start] + [UInt8](repeating: 0, count: packet.count - start) : packet
  }

  private static func command(_ packet: [UInt8]) -> [UInt8] {
    guard packet.count > 4, packet.count == 4 + Int(packet[3]) else { return zeroed(packet, from: 4) }
    let opcode = packet.uint16(at: 1)
    let isKept = HCITable.commands[opcode]?.parameters != nil && !Secrets.commands.contains(opcode)
    return isKept ? packet : zeroed(packet, from: 4)
  }

  private static func event(_ packet: [UInt8]) -> [UInt8] {
    guard packet.count > 3, packet.count == 3 + Int(packet[2]) else { return zeroed(packet, from: 3) }
    switch packet[1] {
    case 0x0E:
      guard packet.count > 6 else { return packet }
      let opcode = packet.uint16(at: 4)
      let isKept = HCITable.commands[opcode]?.returned != nil && !Secrets.returns.contains(opcode)
      return isKept ? packet : zeroed(packet, from: 7)
    case 0x0F: return zeroed(packet, from: 7)
    case 0x3E:
      let isKept = HCITable.subevents[packet[3]]?.format != nil && !Secrets.subevents.contains(packet[3])
      return isKept ? packet : zeroed(packet, from: 4)
    case let code:
      let isKept = HCITable.events[code]?.format != nil && !Secrets.events.contains(code)
      return isKept ? packet : zeroed(packet, from: 3)
    }
  }

  private mutating func data(_ packet: [UInt8], _ direction: Direction) -> [UInt8] {
    guard packet.count >= 5 else { return packet }
    let word = packet.uint16(at: 1)
    let key = word & 0x0FFF | (direction == .hostToController ? 0x1000 : 0)
    let open = frames.removeValue(forKey: key)
    let isStart = word >> 12 & 3 != 1
    // A fragment whose frame starts before the trace may contain anything.
    guard packet.count == 5 + Int(packet.uint16(at: 3)), var frame = isStart ? Frame() : open else {
      return Self.zeroed(packet, from: 5)
    }
    let start = frame.length
    frame.head += packet[5...].prefix(5 - frame.head.count)
    frame.length += packet.count - 5
    if frame.length < frame.end ?? .max { frames[key] = frame }
    return frame.kept.map { Self.zeroed(packet, from: 5 + max(0, $0 - start)) } ?? packet
  }
}
