import BluetoothLE

extension DecodedPacket {
  /// Decodes a Link Layer packet from a sniffer (Vol 6 Part B §2.3, §2.4, §2.6).
  /// - Parameter isEncrypted: Whether the sniffer captured the payload encrypted and did not decrypt it.
  package init(air packet: AirPacket, isEncrypted: Bool) {
    var reader = ByteReader(packet.pdu)
    guard let header = try? reader.uint8("header"), let length = try? reader.uint8("length") else {
      self.init("Link Layer PDU", problem: MalformedPacket("Link Layer PDU: truncated header", at: 0))
      return
    }
    if packet.isAdvertising || packet.auxiliary != nil {
      self.init(advertising: packet, header, Int(length), &reader)
    } else if let stream = packet.stream {
      self.init(stream, header, Int(length), &reader)
    } else {
      self.init(data: header, Int(length), &reader, isEncrypted: isEncrypted)
    }
    if packet.isIntact == false { fields.append(PacketField("crc", .choice(0, "wrong"))) }
  }

  // MARK: Advertising physical channels (§2.3)

  private init(advertising packet: AirPacket, _ header: UInt8, _ length: Int, _ reader: inout ByteReader) {
    let isPrimary = packet.auxiliary == nil && packet.channel.map { $0 >= 37 } ?? true
    let type = header & 0x0F
    self.init(Self.advertisingName(type, isPrimary: isPrimary, packet.auxiliary))
    guard reader.remaining == length else {
      fail(length: length, &reader)
      return
    }
    let (transmitter, receiver) = (header >> 6 & 1, header >> 7)
    switch type {
    case 0, 2, 4, 6:
      address("advertiser", transmitter, &reader)
      if problem == nil { fields.append(PacketField("data", .advertising(reader.rest()))) }
    case 1:
      address("advertiser", transmitter, &reader)
      address("target", receiver, &reader)
      read(PacketFormat(""), &reader, else: "octets")
    case 3:
      address("scanner", transmitter, &reader)
      address("advertiser", receiver, &reader)
      read(PacketFormat(""), &reader, else: "octets")
    case 5:
      address("initiator", transmitter, &reader)
      address("advertiser", receiver, &reader)
      read(Self.connectData, &reader, else: "octets")
    case 7, 8: extended(&reader)
    default: read(nil, &reader, else: "octets")
    }
  }

  /// Decodes the device address of a role such as `advertiser`, and the type of the address.
  /// - Parameter isRandom: The TxAdd or RxAdd bit: 1 for a random address, 0 for a public one.
  private mutating func address(_ role: String, _ isRandom: UInt8, _ reader: inout ByteReader) {
    guard problem == nil else { return }
    fields.append(PacketField("\(role)_address_type", .choice(isRandom, isRandom == 0 ? "public" : "random")))
    problem = PacketFormat("\(role)_address:addr").read(&reader, name, into: &fields)
  }

  private static func advertisingName(_ type: UInt8, isPrimary: Bool, _ auxiliary: AirPacket.Auxiliary?) -> String {
    switch (type, isPrimary) {
    case (0, _): "ADV_IND"
    case (1, _): "ADV_DIRECT_IND"
    case (2, _): "ADV_NONCONN_IND"
    case (3, true): "SCAN_REQ"
    case (3, false): "AUX_SCAN_REQ"
    case (4, _): "SCAN_RSP"
    case (5, true): "CONNECT_IND"
    case (5, false): "AUX_CONNECT_REQ"
    case (6, _): "ADV_SCAN_IND"
    case (7, true): "ADV_EXT_IND"
    case (7, false):
      switch auxiliary {
      case .chain: "AUX_CHAIN_IND"
      case .scanResponse: "AUX_SCAN_RSP"
      case .sync: "AUX_SYNC_IND"
      // Some sniffers do not report the type, and nothing in the packet does.
      case .advertising, nil: "AUX_ADV_IND"
      }
    case (8, _): "AUX_CONNECT_RSP"
    default: "Advertising PDU 0x\(Hex.encode([type]))"
    }
  }

  private static let connectData = PacketFormat(
    "access_address:x32 crc_init:x24 window_size:ms1.25x8 window_offset:ms1.25 interval:ms1.25 latency:u16 timeout:ms10 channel_map:hex5 "
      + "hop_and_sleep_clock_accuracy:x8")

  /// Decodes the Common Extended Advertising Payload (Vol 6 Part B §2.3.4).
  private mutating func extended(_ reader: inout ByteReader) {
    do throws(MalformedPacket) {
      let first = try reader.uint8("extended header length")
      let modes = ["neither", "connectable", "scannable", "-"]
      fields.append(PacketField("mode", .choice(first >> 6, first >> 6 < 3 ? modes[Int(first >> 6)] : nil)))
      var header = ByteReader(try reader.slice(Int(first & 0x3F), "extended header"))
      if let flags = try? header.uint8("flags") {
        let formats = [
          "advertiser_address:addr", "target_address:addr", "cte_info:x8", "advertising_data_info:x16", "aux_pointer:x24",
          "sync_info:hex18",
          "tx_power:dbm",
        ]
        for (bit, format) in formats.enumerated() where flags >> UInt8(bit) & 1 == 1 && problem == nil {
          problem = PacketFormat(format).read(&header, name, into: &fields)
        }
        if !header.isAtEnd, problem == nil { fields.append(PacketField("additional_controller_data", .bytes(header.rest()))) }
      }
    } catch { problem = MalformedPacket("\(name): truncated extended header, \(reader.remaining.counted("byte")) left", at: reader.offset) }
    if !reader.isAtEnd { fields.append(PacketField("data", .advertising(reader.rest()))) }
  }

  // MARK: Data physical channels (§2.4)

  private init(data header: UInt8, _ length: Int, _ reader: inout ByteReader, isEncrypted: Bool) {
    let kind = header & 3
    let sequence = Self.sequence(header) + [PacketField("md", .flag(header & 0x10 != 0))]
    var extra: [PacketField] = []
    if header & 0x20 != 0 { _ = PacketFormat("cte_info:x8").read(&reader, "header", into: &extra) }
    guard isEncrypted || kind != 3 || length == 0 else {
      self.init(control: length, &reader)
      fields += extra + sequence
      return
    }
    self.init(
      length == 0 && kind == 1 ? "Empty PDU" : isEncrypted ? "Encrypted PDU" : kind == 0 ? "Reserved PDU" : "LL Data PDU")
    if length > 0 { fields.append(PacketField("kind", .choice(kind, ["reserved", "continuation", "start", "control"][Int(kind)]))) }
    fields += extra + sequence
    guard reader.remaining == length else {
      fail(length: length, &reader)
      return
    }
    if length > 0 { fields.append(PacketField(isEncrypted ? "encrypted" : "fragment", .bytes(reader.rest()))) }
  }

  // MARK: Isochronous physical channels (§2.6)

  private init(_ stream: AirPacket.IsochronousStream, _ header: UInt8, _ length: Int, _ reader: inout ByteReader) {
    self.init(stream == .connected ? "CIS PDU" : "BIS PDU")
    let kinds = ["unframed, end of its SDU", "unframed", "framed", stream == .connected ? nil : "control"]
    fields = [PacketField("kind", .choice(header & 3, kinds[Int(header & 3)]))]
    switch stream {
    case .connected:
      fields += Self.sequence(header)
      fields += [PacketField("cie", .flag(header & 0x10 != 0)), PacketField("npi", .flag(header & 0x40 != 0))]
    case .broadcast:
      fields += [PacketField("cssn", .number(Int64(header >> 2 & 7))), PacketField("cstf", .flag(header & 0x20 != 0))]
    }
    if reader.remaining == length { rest(&reader, "octets") } else { fail(length: length, &reader) }
  }

  private static func sequence(_ header: UInt8) -> [PacketField] {
    [PacketField("nesn", .number(Int64(header >> 2 & 1))), PacketField("sn", .number(Int64(header >> 3 & 1)))]
  }

  private init(control length: Int, _ reader: inout ByteReader) {
    guard let opcode = try? reader.uint8("opcode") else {
      self.init("LL Control PDU", problem: MalformedPacket("LL Control PDU: no opcode", at: reader.offset))
      return
    }
    let known = Self.control[opcode]
    self.init(known?.name ?? "LL Control PDU 0x\(Hex.encode([opcode]))")
    if reader.remaining == length - 1 { read(known?.format, &reader, else: "octets") } else { fail(length: length - 1, &reader) }
  }
}
