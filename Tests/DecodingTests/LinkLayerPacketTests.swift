import TestSupport
import Traces

/// Tests Link Layer PDUs against the decoder's tables (Vol 6 Part B §2.3, §2.4).
@Suite(.timeLimit(.minutes(15))) struct LinkLayerPacketTests {
  private static func air(_ hex: String, data: Bool, _ change: (inout AirPacket) -> Void = { _ in }) throws -> AirPacket {
    // A pcap file with one Link Layer packet, without a CRC.
    let pdu = try #require(Hex.decode(hex))
    let bytes = (data ? [0x21, 0x43, 0x65, 0x50] : [0xD6, 0xBE, 0x89, 0x8E]) + pdu
    let length = [UInt8(bytes.count), 0, 0, 0]
    let file =
      [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0] + [UInt8](repeating: 0, count: 8) + [0, 0, 1, 0, 251, 0, 0, 0] + [UInt8](repeating: 0, count: 8)
    var reader = try TraceReader(file + length + length + bytes)
    var packet = try #require(try reader.next()?.air)
    change(&packet)
    return packet
  }

  private static let address = "0700 00ee ffc0"

  @Test(
    arguments: [
      ("0009" + address + "020106", "ADV_IND", ["advertiser_address_type": .choice(0, "public"), "data": .advertising([2, 1, 6])]),
      (
        "410c" + address + "665544332211", "ADV_DIRECT_IND",
        ["advertiser_address_type": .choice(1, "random"), "target_address_type": .choice(0, "public")]
      ),
      (
        "830c665544332211" + address, "SCAN_REQ",
        ["scanner_address_type": .choice(0, "public"), "advertiser_address_type": .choice(1, "random")]
      ),
      (
        "4522665544332211" + address + "21436550" + "563412" + "02" + "0300" + "1800" + "0000" + "4800" + "ffffffff1f" + "25",
        "CONNECT_IND",
        [
          "access_address": .mask(0x5065_4321, bytes: 4), "crc_init": .mask(0x12_3456, bytes: 3),
          "window_size": .quantity(2, factor: 1.25, unit: "ms"),
          "interval": .quantity(24, factor: 1.25, unit: "ms"), "timeout": .quantity(72, factor: 10, unit: "ms"),
        ]
      ),
      // AdvA, ADI and transmit power, then data.
      (
        "070e" + "0a49" + address + "3412" + "f4" + "020106", "ADV_EXT_IND",
        ["advertising_data_info": .mask(0x1234, bytes: 2), "tx_power": .quantity(-12, factor: 1, unit: "dBm")]
      ),
      ("0f0101", "Advertising PDU 0x0f", ["octets": .bytes([1])]),
    ] as [(String, String, [String: PacketField.Value])])
  func advertising(_ hex: String, _ name: String, _ fields: [String: PacketField.Value]) throws {
    let packet = DecodedPacket(air: try Self.air(hex.filter { $0 != " " }, data: false), isEncrypted: false)
    #expect(packet.name == name && packet.problem == nil, "\(packet)")
    for (field, value) in fields { #expect(packet[field] == value, "\(field): \(packet)") }
  }

  @Test(
    arguments: [
      ("0100", false, "Empty PDU", ["nesn": .number(0), "sn": .number(0), "md": .flag(false)]),
      ("1d00", false, "Empty PDU", ["nesn": .number(1), "sn": .number(1), "md": .flag(true)]),
      ("0e03010203", false, "LL Data PDU", ["kind": .choice(2, "start"), "fragment": .bytes([1, 2, 3])]),
      ("0103010203", true, "Encrypted PDU", ["kind": .choice(1, "continuation"), "encrypted": .bytes([1, 2, 3])]),
      ("03050102030405", true, "Encrypted PDU", ["encrypted": .bytes([1, 2, 3, 4, 5])]),
      ("03020213", false, "LL_TERMINATE_IND", ["reason": .status(.remoteUserTerminated)]),
      ("0305180202" + "2800", false, "LL_PHY_UPDATE_IND", ["phy_c_to_p": .mask(2, bytes: 1), "instant": .number(40)]),
      ("03060c0c59003412", false, "LL_VERSION_IND", ["version": .code(12, "5.3"), "subversion": .number(0x1234)]),
      // The header has CTEInfo, which the length does not include.
      ("2302140213", false, "LL_TERMINATE_IND", ["cte_info": .mask(0x14, bytes: 1), "reason": .status(.remoteUserTerminated)]),
      ("0302ff01", false, "LL Control PDU 0xff", ["octets": .bytes([1])]),
    ] as [(String, Bool, String, [String: PacketField.Value])])
  func data(_ hex: String, _ isEncrypted: Bool, _ name: String, _ fields: [String: PacketField.Value]) throws {
    let packet = DecodedPacket(air: try Self.air(hex, data: true), isEncrypted: isEncrypted)
    #expect(packet.name == name, "\(packet)")
    for (field, value) in fields { #expect(packet[field] == value, "\(field): \(packet)") }
  }

  @Test(
    arguments: [
      (
        "4903010203", .connected, "CIS PDU",
        ["kind": .choice(1, "unframed"), "sn": .number(1), "npi": .flag(true), "octets": .bytes([1, 2, 3])]
      ),
      (
        "2b020102", .broadcast, "BIS PDU",
        ["kind": .choice(3, "control"), "cssn": .number(2), "cstf": .flag(true), "octets": .bytes([1, 2])]
      ),
    ] as [(String, AirPacket.IsochronousStream, String, [String: PacketField.Value])])
  func isochronous(_ hex: String, _ stream: AirPacket.IsochronousStream, _ name: String, _ fields: [String: PacketField.Value]) throws {
    let packet = DecodedPacket(air: try Self.air(hex, data: true) { $0.stream = stream }, isEncrypted: false)
    #expect(packet.name == name && packet.problem == nil, "\(packet)")
    for (field, value) in fields { #expect(packet[field] == value, "\(field): \(packet)") }
    let cut = DecodedPacket(air: try Self.air(hex, data: true) { ($0.stream, $0.pdu[1]) = (stream, 9) }, isEncrypted: false)
    #expect(cut.problem?.description.contains("length 9") == true, "\(cut)")
  }

  /// A periodic train and its chained packets have their own access address.
  @Test func periodicAdvertisingIsNoData() throws {
    for (auxiliary, name) in [(.sync, "AUX_SYNC_IND"), (.chain, "AUX_CHAIN_IND")] as [(AirPacket.Auxiliary, String)] {
      let packet = DecodedPacket(
        air: try Self.air("0706" + "0200" + "020105ff", data: true) { $0.auxiliary = auxiliary }, isEncrypted: false)
      #expect(packet.name == name && packet["mode"] != nil, "\(packet)")
    }
  }

  private static func heard(_ hex: String, _ milliseconds: Int64, from sender: AirPacket.Sender = .central, isDecrypted: Bool = false)
    throws -> Snoop.Record
  {
    var record = Snoop.Record(packet: [], direction: .hostToController, wallClock: milliseconds * 1_000_000)
    record.air = try air(hex, data: true) { ($0.sender, $0.isDecrypted) = (sender, isDecrypted) }
    return record
  }

  private static func names(_ packets: [(String, AirPacket.Sender)], isDecrypted: Bool = false) throws -> (
    names: [String], decoder: TraceDecoder
  ) {
    var decoder = TraceDecoder(LearnedDatabases())
    let names = try packets.enumerated().map { index, packet in
      decoder.decode(try heard(packet.0, Int64(index), from: packet.1, isDecrypted: isDecrypted)).packet.name
    }
    return (names, decoder)
  }

  private static let response = "030d04" + "0102030405060708" + "0a0b0c0d", start = "030105", encrypted = "0f05aabbccddee"

  /// A link counts as encrypted even if the sniffer misses packets. The PDUs of the start procedure are plain.
  @Test(
    arguments: [
      (
        [(response, .peripheral), (start, .peripheral), (start, .peripheral), (encrypted, .central)],
        ["LL_ENC_RSP", "LL_START_ENC_REQ", "LL_START_ENC_REQ", "Encrypted PDU"]
      ),
      ([(response, .peripheral), (encrypted, .central)], ["LL_ENC_RSP", "Encrypted PDU"]),
      ([(start, .peripheral), (encrypted, .central)], ["LL_START_ENC_REQ", "Encrypted PDU"]),
      // The peripheral refuses, so the next PDU is plain.
      ([(response, .peripheral), ("03020d06", .peripheral), ("03020213", .central)], ["LL_ENC_RSP", "LL_REJECT_IND", "LL_TERMINATE_IND"]),
      // The key changes.
      (
        [(start, .peripheral), (encrypted, .central), ("03010b", .central), (response, .peripheral), (encrypted, .central)],
        ["LL_START_ENC_REQ", "Encrypted PDU", "LL_PAUSE_ENC_RSP", "LL_ENC_RSP", "Encrypted PDU"]
      ),
    ] as [([(String, AirPacket.Sender)], [String])])
  func whenALinkIsEncrypted(_ packets: [(String, AirPacket.Sender)], _ wanted: [String]) throws {
    let (names, decoder) = try Self.names(packets)
    #expect(names == wanted && decoder.allLinks.first?.isEncrypted == (wanted.last == "Encrypted PDU"), "\(names)")
  }

  /// Some sniffers leave the MIC after decrypted data: LL_START_ENC_RSP or the length of a frame reveals it.
  @Test func theMICIsNoPartOfWhatWasSaid() throws {
    let packets: [(String, AirPacket.Sender)] = [
      ("03050601020304", .central), ("0a09070004001b01020304", .peripheral), ("09080600aabb01020304", .peripheral),
      ("09060c0d01020304", .peripheral), ("0306021301020304", .central),
    ]
    let (names, decoder) = try Self.names(packets, isDecrypted: true)
    #expect(names == ["LL_START_ENC_RSP", "LL Data PDU", "LL Data PDU", "Handle Value Notification", "LL_TERMINATE_IND"], "\(names)")
    #expect(decoder.allLinks.first?.reason == .remoteUserTerminated && decoder.summary.malformed == 0)
    let frame = try Self.names([("0a0c" + "04000400" + "1b0600aa" + "01020304", .peripheral)], isDecrypted: true)
    #expect(frame.names == ["Handle Value Notification"])
  }

  /// A PDU that a sniffer could not decrypt stays encrypted between decrypted ones.
  @Test func whatWasNotDecryptedStaysEncrypted() throws {
    var decoder = TraceDecoder(LearnedDatabases())
    let notification = "0a08" + "04000400" + "1b0600aa"
    let names = try [(notification, true), ("0f05aabbccddee", false), ("0208" + "04000400" + "1b0600ab", true)].enumerated().map {
      decoder.decode(try Self.heard($1.0, Int64($0), from: .peripheral, isDecrypted: $1.1)).packet.name
    }
    #expect(names == ["Handle Value Notification", "Encrypted PDU", "Handle Value Notification"])
  }

  /// A new interval takes effect at a later instant.
  @Test func aRepetitionWhileTheIntervalChanges() throws {
    var decoder = TraceDecoder(LearnedDatabases())
    let notification = "0a08" + "04000400" + "1b0600aa"
    let packets: [(String, Int64)] = [
      ("030c00020000060000004800" + "2800", 0), (notification, 10), (notification, 60), (notification, 1000), (notification, 1050),
    ]
    let layers = try packets.map { hex, time in decoder.decode(try Self.heard(hex, time, from: .peripheral)).layer }
    #expect(layers == [.ll, .att, .ll, .att, .att])
  }

  /// Checks durations in microseconds.
  @Test func howLongAPacketTakes() throws {
    for (phy, isS2, duration) in [(.le1M, false, 80), (.le2M, false, 44), (.coded, false, 720), (.coded, true, 462)] as [(PHY, Bool, Int64)]
    {
      #expect(try Self.air("0100", data: true) { ($0.phy, $0.isS2) = (phy, isS2) }.duration == duration)
    }
  }

  @Test func whatIsCutIsSaid() throws {
    var reader = try TraceReader(Array(Vectors.own("sniffer.pcap")))
    var count = 0
    while let air = try reader.next()?.air {
      for length in 0..<air.pdu.count {
        var cut = air
        cut.pdu = Array(air.pdu.prefix(length))
        #expect(DecodedPacket(air: cut, isEncrypted: false).problem != nil, "\(cut)")
        count += 1
      }
    }
    #expect(count > 500)
  }

  @Test func aWrongCRCIsSaid() throws {
    let packet = try Self.air("0009" + Self.address.filter { $0 != " " } + "020106", data: false) { $0.isIntact = false }
    #expect(DecodedPacket(air: packet, isEncrypted: false)["crc"] == .choice(0, "wrong"))
  }

  /// An equal PDU in the next event (50 ms here) is a repetition. A later one is new data.
  @Test func whatComesLaterIsNoRepetition() throws {
    var decoder = TraceDecoder(LearnedDatabases())
    let layers = try [Int64(0), 40, 440].map { milliseconds -> PacketLayer in
      var record = Snoop.Record(packet: [], direction: .controllerToHost, wallClock: milliseconds * 1_000_000)
      record.air = try Self.air("0a08" + "04000400" + "1b0600aa", data: true) { $0.sender = .peripheral }
      let item = decoder.decode(record)
      #expect((item.packet["repeated"] != nil) == (item.layer == .ll), "\(item.packet)")
      return item.layer
    }
    #expect(layers == [.att, .ll, .att])
  }
}
