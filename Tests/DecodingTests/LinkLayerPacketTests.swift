import Bluetooth
import Decoding
import HCI
import TestSupport
import Testing
import Text

/// PDUs of the Link Layer as the tables read them (Vol 6 Part B §2.3, §2.4).
@Suite struct LinkLayerPacketTests {
  private static func air(_ hex: String, data: Bool, _ change: (inout AirPacket) -> Void = { _ in }) throws -> AirPacket {
    // A pcap file with one packet of the air in it, without a CRC.
    let pdu = try #require(Hex.decode(hex))
    let octets = (data ? [0x21, 0x43, 0x65, 0x50] : [0xD6, 0xBE, 0x89, 0x8E]) + pdu
    let length = [UInt8(octets.count), 0, 0, 0]
    let file =
      [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0] + [UInt8](repeating: 0, count: 8) + [0, 0, 1, 0, 251, 0, 0, 0] + [UInt8](repeating: 0, count: 8)
    var reader = try TraceReader(file + length + length + octets)
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
          "access_address": .mask(0x5065_4321, octets: 4), "crc_init": .mask(0x12_3456, octets: 3),
          "window_size": .quantity(2, factor: 1.25, unit: "ms"),
          "interval": .quantity(24, factor: 1.25, unit: "ms"), "timeout": .quantity(72, factor: 10, unit: "ms"),
        ]
      ),
      // AdvA, ADI and the transmit power; then data.
      (
        "070e" + "0a49" + address + "3412" + "f4" + "020106", "ADV_EXT_IND",
        ["advertising_data_info": .mask(0x1234, octets: 2), "tx_power": .quantity(-12, factor: 1, unit: "dBm")]
      ),
      ("0f0101", "Advertising PDU 0x0f", ["octets": .octets([1])]),
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
      ("0e03010203", false, "LL Data PDU", ["kind": .choice(2, "start"), "fragment": .octets([1, 2, 3])]),
      ("0103010203", true, "Encrypted PDU", ["kind": .choice(1, "continuation"), "encrypted": .octets([1, 2, 3])]),
      ("03050102030405", true, "Encrypted PDU", ["encrypted": .octets([1, 2, 3, 4, 5])]),
      ("03020213", false, "LL_TERMINATE_IND", ["reason": .status(.remoteUserTerminated)]),
      ("0305180202" + "2800", false, "LL_PHY_UPDATE_IND", ["phy_c_to_p": .mask(2, octets: 1), "instant": .number(40)]),
      ("03060c0c59003412", false, "LL_VERSION_IND", ["version": .code(12, "5.3"), "subversion": .number(0x1234)]),
      // The header has CTEInfo, of which the length knows nothing.
      ("2302140213", false, "LL_TERMINATE_IND", ["cte_info": .mask(0x14, octets: 1), "reason": .status(.remoteUserTerminated)]),
      ("0302ff01", false, "LL Control PDU 0xff", ["octets": .octets([1])]),
    ] as [(String, Bool, String, [String: PacketField.Value])])
  func data(_ hex: String, _ isEncrypted: Bool, _ name: String, _ fields: [String: PacketField.Value]) throws {
    let packet = DecodedPacket(air: try Self.air(hex, data: true), isEncrypted: isEncrypted)
    #expect(packet.name == name, "\(packet)")
    for (field, value) in fields { #expect(packet[field] == value, "\(field): \(packet)") }
  }

  @Test(
    arguments: [
      ("4903010203", .connected, "CIS PDU", ["kind": .choice(1, "unframed"), "sn": .number(1), "npi": .flag(true), "octets": .octets([1, 2, 3])]),
      ("2b020102", .broadcast, "BIS PDU", ["kind": .choice(3, "control"), "cssn": .number(2), "cstf": .flag(true), "octets": .octets([1, 2])]),
    ] as [(String, AirPacket.IsochronousStream, String, [String: PacketField.Value])])
  func isochronous(_ hex: String, _ stream: AirPacket.IsochronousStream, _ name: String, _ fields: [String: PacketField.Value]) throws {
    let packet = DecodedPacket(air: try Self.air(hex, data: true) { $0.stream = stream }, isEncrypted: false)
    #expect(packet.name == name && packet.problem == nil, "\(packet)")
    for (field, value) in fields { #expect(packet[field] == value, "\(field): \(packet)") }
    let cut = DecodedPacket(air: try Self.air(hex, data: true) { ($0.stream, $0.pdu[1]) = (stream, 9) }, isEncrypted: false)
    #expect(cut.problem?.description.contains("length 9") == true, "\(cut)")
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

  /// The same again is a repetition in the next event, here of 50 ms; later it is what a sniffer has heard of what is new.
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
