import BluetoothLE

/// The link-layer header type of a pcap or pcapng file (tcpdump's list), which determines the form of its HCI or air packets.
enum CaptureLink: UInt32, Sendable {
  /// An H4 packet, which starts with the packet indicator.
  case h4 = 187
  /// An H4 packet after a four-byte direction, most significant byte first. 0 means sent by the host, and 1 received by the host.
  case h4WithDirection = 201
  /// A packet after a header of its own (PPI), which names the packet's link type. Older sniffers write it.
  case perPacket = 192
  /// A packet of the Linux monitor. It starts with adapter and opcode, two bytes each, most significant byte first.
  case monitor = 254
  /// A Link Layer packet of LINKTYPE_BLUETOOTH_LE_LL, without a header of the sniffer.
  case air = 251
  case airWithHeader = 256
  case nordic = 272

  /// Finds the form of a header type. Errors name `offset`, the position of the type in the file, in bytes.
  /// - Throws: `MalformedPacket` for an unsupported type, with advice on how to record.
  init(_ type: UInt32, at offset: Int) throws(MalformedPacket) {
    guard let link = Self(rawValue: type) else {
      let reason =
        switch type {
        case 255: "unsupported link type 255 (BR/EDR from a sniffer). Record with btmon -w"
        case 1, 113, 276: "link type \(type) is a network capture without Bluetooth. Record with btmon -w"
        case 105, 119, 127: "link type \(type) is Wi-Fi without Bluetooth. Record with btmon -w"
        case 195, 215, 230, 283: "link type \(type) is IEEE 802.15.4 without Bluetooth. Set the sniffer to Bluetooth LE"
        case 189, 220, 249:
          "unsupported link type \(type) (USB). Record hciN or bluetooth-monitor instead"
        default: "unsupported link type \(type). Record with btmon -w, or use link type 187, 192, 201, 251, 254, 256 or 272"
        }
      throw MalformedPacket(reason, at: offset)
    }
    self = link
  }

  /// Converts a captured packet to a record.
  /// - Parameters:
  ///   - bytes: The captured bytes.
  ///   - direction: The direction in the file. Nil if the file has no directions.
  ///   - notes: Whether to convert also a note of the monitor.
  /// - Returns: The record. Nil for a note without `notes`, and for a packet that is too short.
  func record(
    _ bytes: ArraySlice<UInt8>, at wallClock: Int64, direction: Direction?, guess: inout DirectionGuess, notes: Bool = false
  ) -> Snoop.Record? {
    var reader = ByteReader(bytes)
    switch self {
    case .h4:
      let packet = reader.rest()
      guard !packet.isEmpty else { return nil }
      return Snoop.Record(packet: packet, direction: direction ?? guess.direction(of: packet), wallClock: wallClock)
    case .h4WithDirection:
      guard let word = try? reader.slice(4, "direction") else { return nil }
      let packet = reader.rest()
      guard !packet.isEmpty else { return nil }
      return Snoop.Record(
        packet: packet, direction: (word.last ?? 0) & 1 == 0 ? .hostToController : .controllerToHost, wallClock: wallClock)
    case .monitor:
      guard let adapter = try? reader.slice(2, "adapter"), let opcode = try? reader.slice(2, "opcode") else { return nil }
      let kind = Snoop.monitorKind(Self.number(opcode))
      guard kind != nil || notes else { return nil }
      let rest = reader.rest()
      var record =
        kind.map { Snoop.Record(packet: [$0.indicator] + rest, direction: $0.direction, wallClock: wallClock) }
        ?? Snoop.monitorNote(Self.number(opcode), rest[...]).record(at: wallClock)
      record.adapter = UInt16(truncatingIfNeeded: Self.number(adapter))
      return record
    case .perPacket: return Self.perPacketRecord(&reader, at: wallClock, direction: direction, guess: &guess)
    case .air: return Self.record(try? AirPacket.plain(bytes), wallClock)
    case .airWithHeader: return Self.record(try? AirPacket.withHeader(bytes), wallClock)
    case .nordic: return Self.record((try? AirPacket.nordic(bytes)).flatMap(\.self), wallClock)
    }
  }

  /// Converts a sniffer's packet to a record. Packets of the central count as packets that the host sent.
  private static func record(_ packet: AirPacket?, _ wallClock: Int64) -> Snoop.Record? {
    guard let packet else { return nil }
    var record = Snoop.Record(
      packet: [], direction: packet.sender == .central ? .hostToController : .controllerToHost, wallClock: wallClock)
    record.air = packet
    return record
  }

  /// Finds the form of the packets after PPI headers. Before BLUETOOTH_LE_LL had a number, sniffers used the user's type 147.
  init?(perPacket type: UInt32) { self.init(rawValue: type == 147 ? Self.air.rawValue : type) }

  /// Reads a PPI header, and the packet after it. Version, flags, length and link type precede the header's fields.
  private static func perPacketRecord(
    _ reader: inout ByteReader, at wallClock: Int64, direction: Direction?, guess: inout DirectionGuess
  ) -> Snoop.Record? {
    guard (try? reader.uint8("version")) == 0, let flags = try? reader.uint8("flags"), let length = try? reader.uint16("length"),
      let type = try? reader.uint32("link type"), let link = Self(perPacket: type), link != .perPacket,
      let bytes = try? reader.slice(Int(length) - 8, "fields")
    else { return nil }
    var record = link.record(reader.rest()[...], at: wallClock, direction: direction, guess: &guess)
    var fields = ByteReader(bytes)
    while let type = try? fields.uint16("type"), let length = try? fields.uint16("length"),
      let field = try? fields.slice(Int(length), "field")
    {
      if type == AirPacket.perPacketField { record?.air?.add(perPacketField: field) }
      // Flag 0: each field is padded to four bytes.
      if flags & 1 != 0 { _ = try? fields.slice((4 - Int(length) % 4) % 4, "padding") }
    }
    return record
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }
}

/// A guess of the direction of each packet in a file without directions.
/// Commands go to the controller, and events come from the controller. The first fragment of data shows its direction
/// (Vol 4 Part E §5.4.2). A continuing fragment belongs to the direction with an incomplete frame, or to the later of two such frames.
struct DirectionGuess: Sendable {
  private struct Frames {
    /// The number of bytes that the current L2CAP frame of each direction still lacks.
    var missing: [Direction: Int] = [:]
    var last = Direction.controllerToHost
  }

  private var frames: [UInt16: Frames] = [:]

  mutating func direction(of packet: [UInt8]) -> Direction {
    guard packet[0] == Packet.aclIndicator, packet.count >= 5 else {
      return packet[0] == Packet.eventIndicator ? .controllerToHost : .hostToController
    }
    let word = UInt16(packet[1]) | UInt16(packet[2]) << 8
    let payload = packet[5...]
    var frames = self.frames.removeValue(forKey: word & 0x0FFF) ?? Frames()
    defer { self.frames[word & 0x0FFF] = frames }
    if (word >> 12) & 3 == 1 {
      let open = frames.missing.filter { $0.value > 0 }
      let direction = open.count == 1 ? open.keys.first ?? frames.last : frames.last
      frames.missing[direction] = max(0, (frames.missing[direction] ?? 0) - payload.count)
      return direction
    }
    let direction: Direction = (word >> 12) & 3 == 0 ? .hostToController : .controllerToHost
    // L2CAP header: payload length, then channel ID, 2 bytes each.
    let length = payload.prefix(2).reversed().reduce(0) { $0 << 8 | Int($1) }
    frames.missing[direction] = max(payload.count < 2 ? 1 : 0, 4 + length - payload.count)
    frames.last = direction
    return direction
  }
}
