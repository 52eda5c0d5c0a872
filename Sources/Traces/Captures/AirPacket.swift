package import BluetoothLE

/// A Link Layer packet from a sniffer (Vol 6 Part B §2.1, §2.2), without preamble and CRC.
package struct AirPacket: Sendable, Equatable {
  package enum Sender: String, Sendable { case central, peripheral }

  package var accessAddress: UInt32
  /// The header and payload. The sniffer may have kept fewer bytes than the length in the header.
  package var pdu: [UInt8]
  /// The channel index, 0–36 for data or 37–39 for primary advertising (Vol 6 Part B §1.4.1). Nil if the sniffer does not report it.
  package var channel: UInt8?
  /// The RSSI in dBm. Nil if the sniffer does not report it.
  package var rssi: Int8?
  package var phy: PHY?
  /// Whether the coded PHY used S=2 instead of S=8.
  package var isS2 = false
  /// The role of the sender in a connection. Nil for a packet outside a connection, or if the sniffer does not report the role.
  package var sender: Sender?
  /// The kind of an extended advertising PDU on a secondary channel. Nil for other PDUs.
  package var auxiliary: Auxiliary?
  /// The kind of an isochronous stream. Nil for other packets.
  package var stream: IsochronousStream?
  package var isIntact: Bool?
  /// Whether the sniffer decrypted the packet.
  package var isDecrypted = false

  package enum Auxiliary: UInt8, Sendable { case advertising, chain, sync, scanResponse }

  package enum IsochronousStream: Sendable { case connected, broadcast }

  /// The access address that all advertising uses except periodic advertising (Vol 6 Part B §2.1.2).
  package static let advertisingAccessAddress: UInt32 = 0x8E89_BED6

  package var isAdvertising: Bool { accessAddress == Self.advertisingAccessAddress }

  /// Whether the packet belongs to a connection. Periodic advertising and isochronous streams also have access addresses of their own.
  package var isOfConnection: Bool { !isAdvertising && auxiliary == nil && stream == nil }

  /// The length of the header in bytes. Data may have a CTEInfo byte, which the length field does not count (Vol 6 Part B §2.4).
  package var headerLength: Int { isOfConnection && pdu.first.map { $0 & 0x20 != 0 } == true ? 3 : 2 }

  /// The bytes after the header, including the MIC of encrypted data.
  package var payload: ArraySlice<UInt8> { pdu.dropFirst(headerLength) }

  /// Whether the PDU has the length that its header gives.
  package var isWhole: Bool { pdu.count >= 2 && pdu.count == headerLength + Int(pdu[1]) }

  /// The duration of the transmission in µs, including preamble and CRC (Vol 6 Part B §2.1, §2.2).
  package var duration: Int64 {
    switch phy {
    case .le2M: Int64(2 + 4 + pdu.count + 3) * 4
    // Preamble, access address, Coding Indicator and TERM1 always have S=8; TERM2 has three bits.
    case .coded: 80 + 256 + 16 + 24 + Int64(pdu.count + 3) * (isS2 ? 16 : 64) + (isS2 ? 6 : 24)
    case .le1M, nil: Int64(1 + 4 + pdu.count + 3) * 8
    }
  }

  /// The packet without the four-byte MIC that follows encrypted data. A packet that is incomplete or too short stays unchanged.
  package var withoutMIC: AirPacket {
    guard isWhole, pdu[1] > 4 else { return self }
    var packet = self
    packet.pdu[1] -= 4
    packet.pdu.removeLast(4)
    return packet
  }

  /// Reads access address, PDU and CRC. `pdu` includes the CRC until `trim` removes it.
  /// - Parameter isCoded: Whether the Coding Indicator follows the access address.
  private init(_ reader: inout ByteReader, isCoded: Bool) throws(MalformedPacket) {
    accessAddress = try reader.uint32("access address")
    if isCoded { isS2 = try reader.uint8("coding indicator") & 3 == 1 }
    pdu = reader.rest()
  }

  /// Removes the CRC from `pdu`. The caller must set the kind of packet first, which determines the length of the header.
  private mutating func trim() { if pdu.count >= 2 { pdu = Array(pdu.prefix(headerLength + Int(pdu[1]))) } }
}

// MARK: Formats of sniffers

extension AirPacket {
  /// Parses a packet of LINKTYPE_BLUETOOTH_LE_LL (251), which has no header of the sniffer.
  static func plain(_ bytes: ArraySlice<UInt8>) throws(MalformedPacket) -> AirPacket {
    var reader = ByteReader(bytes)
    var packet = try AirPacket(&reader, isCoded: false)
    packet.trim()
    return packet
  }

  /// Parses a packet of LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR (256). Its header has RF channel, signal, noise, offenses, address and flags.
  static func withHeader(_ bytes: ArraySlice<UInt8>) throws(MalformedPacket) -> AirPacket {
    var reader = ByteReader(bytes)
    let channel = try reader.uint8("RF channel")
    let signal = try reader.int8("signal power")
    _ = try reader.slice(6, "noise power")
    let flags = try reader.uint16("flags")
    let phy: PHY? = PHY(rawValue: UInt8(flags >> 14) + 1)
    var packet = try AirPacket(&reader, isCoded: phy == .coded)
    (packet.channel, packet.phy) = (index(ofRF: channel), phy)
    if flags & 0x0002 != 0 { packet.rssi = signal }
    packet.isDecrypted = flags & 0x0008 != 0
    if flags & 0x0400 != 0 { packet.isIntact = flags & 0x0800 != 0 }
    switch flags >> 7 & 7 {
    case 1: packet.auxiliary = Auxiliary(rawValue: UInt8(flags >> 12 & 3))
    case 2: packet.sender = .central
    case 3: packet.sender = .peripheral
    case 4: (packet.sender, packet.stream) = (.central, .connected)
    case 5: (packet.sender, packet.stream) = (.peripheral, .connected)
    case 6: packet.stream = .broadcast
    default: break
    }
    packet.trim()
    return packet
  }

  /// Parses LINKTYPE_NORDIC_BLE (272) from version 1 of its protocol. A record has the board, a header, and the data of an event.
  /// - Returns: The packet. Nil for an event without a packet.
  static func nordic(_ bytes: ArraySlice<UInt8>) throws(MalformedPacket) -> AirPacket? {
    var reader = ByteReader(bytes)
    _ = try reader.slice(3, "lengths")
    let version = try reader.uint8("version")
    _ = try reader.uint16("counter")
    let kind = try reader.uint8("kind")
    guard version >= 1, kind == 6 || kind == 2 && version > 1 else { return nil }
    let length = try reader.uint8("length")
    let flags = try reader.uint8("flags")
    let channel = try reader.uint8("channel")
    let rssi = try reader.uint8("RSSI")
    _ = try reader.slice(max(0, Int(length) - 4), "event counter and time")
    let phy = PHY(rawValue: (flags >> 4 & 7) + 1)
    var packet = try AirPacket(&reader, isCoded: phy == .coded)
    (packet.channel, packet.phy, packet.isIntact) = (channel, phy, flags & 1 != 0)
    // The file has the value without its sign.
    packet.rssi = Int8(exactly: -Int(rssi))
    // Before version 3, only the access address tells the kind of packet.
    if version >= 3 ? kind == 6 : !packet.isAdvertising {
      packet.sender = flags & 2 != 0 ? .central : .peripheral
      packet.isDecrypted = flags & 0x0C == 0x0C
    } else if channel < 37 {
      packet.auxiliary = Auxiliary(rawValue: flags >> 1 & 3)
    }
    packet.trim()
    return packet
  }

  /// The type of the PPI field that describes a packet's reception.
  static let perPacketField: UInt16 = 30006

  /// Adds the channel and the signal from a field of a PPI header: version, frequency in MHz, time, and the most, least and mean signal.
  mutating func add(perPacketField field: ArraySlice<UInt8>) {
    var reader = ByteReader(field)
    guard (try? reader.uint8("version")) == 0, let frequency = try? reader.uint16("frequency"), (try? reader.slice(5, "time")) != nil,
      let most = try? reader.int8("RSSI"), (try? reader.int8("RSSI")) != nil, let mean = try? reader.int8("RSSI"),
      let count = try? reader.uint8("count")
    else { return }
    if frequency >= 2402, frequency % 2 == 0 { channel = UInt8(exactly: (frequency - 2402) / 2).flatMap(Self.index) }
    rssi = count > 0 ? mean : most
  }

  /// Returns the channel index of an RF channel (Vol 6 Part B §1.4.1, Table 1.2). Returns nil for an invalid channel.
  /// - Parameter channel: The RF channel, 0–39, from 2402 MHz in steps of 2 MHz.
  private static func index(ofRF channel: UInt8) -> UInt8? {
    switch channel {
    case 0: 37
    case 12: 38
    case 39: 39
    case 1...11: channel - 1
    case 13...38: channel - 2
    default: nil
    }
  }
}
