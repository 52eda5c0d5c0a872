import TestSupport
import Traces

/// Tests HCI packets against the decoder's tables.
@Suite(.timeLimit(.minutes(15))) struct HCIPacketTests {
  /// Packets with some of their fields, from the specification's tables (Vol 4 Part E §7) and from captures.
  static let vectors: [(String, String, [String: PacketField.Value])] = [
    ("01030c00", "Reset", ["opcode": .mask(0x0C03, bytes: 2)]),
    ("0106040340" + "0013", "Disconnect", ["handle": .mask(0x40, bytes: 2), "reason": .status(.remoteUserTerminated)]),
    (
      "010b2007011000200001" + "00", "LE Set Scan Parameters",
      [
        "scan_type": .choice(1, "active"), "scan_interval": .quantity(16, factor: 0.625, unit: "ms"),
        "scan_window": .quantity(32, factor: 0.625, unit: "ms"), "own_address_type": .choice(1, "random"), "filter_policy": .number(0),
      ]
    ),
    (
      "0141200d000005016000300000" + "60003000", "LE Set Extended Scan Parameters",
      [
        "items": .list([
          [
            PacketField("scan_type", .choice(1, "active")), PacketField("scan_interval", .quantity(96, factor: 0.625, unit: "ms")),
            PacketField("scan_window", .quantity(48, factor: 0.625, unit: "ms")),
          ],
          [
            PacketField("scan_type", .choice(0, "passive")), PacketField("scan_interval", .quantity(96, factor: 0.625, unit: "ms")),
            PacketField("scan_window", .quantity(48, factor: 0.625, unit: "ms")),
          ],
        ])
      ]
    ),
    (
      "0108202003020106" + String(repeating: "00", count: 28), "LE Set Advertising Data", ["advertising_data": .advertising([2, 1, 6])]
    ),
    ("0101fc020102", "Vendor Specific command 0xfc01", ["parameters": .bytes([1, 2])]),
    (
      "040e0a01091000665544332211", "Command Complete",
      ["command": .code(0x1009, "Read BD_ADDR"), "status": .status(.success), "address": .address(Address(rawValue: 0x1122_3344_5566))]
    ),
    // Parameters after an error are meaningless; fields that later versions add are not wrong.
    ("040e06010910" + "0c00ff", "Command Complete", ["status": .status(.commandDisallowed), "returned": .bytes([0, 0xFF])]),
    ("040e06010620" + "000102", "Command Complete", ["status": .status(.success), "returned": .bytes([1, 2])]),
    ("040e03030000", "Command Complete", ["credits": .number(3), "command": .code(0, "No Operation")]),
    ("040f040c010d20", "Command Status", ["status": .status(.commandDisallowed), "command": .code(0x200D, "LE Create Connection")]),
    (
      "043e13010040000101665544332211180000009001" + "00", "LE Connection Complete",
      [
        "role": .choice(1, "peripheral"), "peer_address_type": .choice(1, "random"), "interval": .quantity(24, factor: 1.25, unit: "ms"),
        "supervision_timeout": .quantity(400, factor: 10, unit: "ms"),
      ]
    ),
    (
      "043e0f0201030066554433221103020106c4", "LE Advertising Report",
      [
        "items": .list([
          [
            PacketField("event_type", .choice(3, "adv_nonconn_ind")), PacketField("address_type", .choice(0, "public")),
            PacketField("address", .address(Address(rawValue: 0x1122_3344_5566))), PacketField("data", .advertising([2, 1, 6])),
            PacketField("rssi", .quantity(-60, factor: 1, unit: "dBm")),
          ]
        ])
      ]
    ),
    ("0440020102", "Event 0x40", ["parameters": .bytes([1, 2])]),
    (
      "0240200300" + "010203", "ACL Data",
      ["handle": .mask(0x40, bytes: 2), "boundary": .choice(2, "first_flushable"), "fragment": .bytes([1, 2, 3])]
    ),
    ("0240100300" + "010004", "ACL Data", ["boundary": .choice(1, "continuing"), "fragment": .bytes([1, 0, 4])]),
    ("0240000500" + "0100040" + "01e", "ACL Data", ["payload": .packet(DecodedPacket("Handle Value Confirmation"), .att, [0x1E])]),
    (
      "0240000500" + "0100400" + "0ff", "ACL Data",
      [
        "payload": .packet(
          DecodedPacket("L2CAP frame", [PacketField("channel", .mask(0x40, bytes: 2)), PacketField("data", .bytes([0xFF]))]), .l2cap,
          [0xFF])
      ]
    ),
  ]

  @Test func saysWhatFieldsSay() throws {
    for (hex, name, fields) in Self.vectors {
      let packet = DecodedPacket(hci: try #require(Hex.decode(hex)))
      #expect(packet.name == name && packet.problem == nil, "\(hex): \(packet)")
      for (key, value) in fields { #expect(packet[key] == value, "\(hex): \(key) is \(String(describing: packet[key]))") }
    }
  }

  /// A packet that is cut or too long still shows the fields before the fault.
  @Test func tellsWhatIsWrong() throws {
    for (hex, field, mention) in [
      ("010b2006011000200001", "scan_window", "truncated filter_policy"), ("010c2003010000", "enable", "1 trailing byte"),
      ("010c20030100", "opcode", "length 3, but 2 bytes left"), ("010c", nil, "truncated header"), ("043e", nil, "truncated header"),
      ("043e00", nil, "no subevent"), ("043e0402020001", "num_reports", "truncated address"),
      ("0240200400010203", "length", "length 4, but 3"),
      ("0240000600" + "010004001e1e", "fragment", "longer than its L2CAP frame"),
      ("", nil, "empty packet"), ("aa00", "octets", "unknown H4 packet type 0xaa"), ("040e0101", "credits", "truncated command"),
    ] as [(String, String?, String)] {
      let packet = DecodedPacket(hci: Hex.decode(hex) ?? [])
      #expect(packet.problem?.reason.contains(mention) ?? false, "\(hex): \(String(describing: packet.problem))")
      if let field {
        let isThere = packet[field] != nil || packet[list: field]
        #expect(isThere, "\(hex): \(packet)")
      }
    }
  }

  /// The decoder names the host's commands and their answers as the host does, and follows the tables.
  @Test func knowsTheHostsCommands() {
    let handle: ConnectionHandle = 0x40
    let commands: [any Command] = [
      Reset(), SetEventMask(1), Disconnect(handle: handle, reason: .remoteUserTerminated), ReadRemoteVersion(handle: handle),
      ReadLocalVersion(), ReadLocalSupportedCommands(), ReadLocalSupportedFeatures(), ReadBufferSize(), ReadBDADDR(),
      ReadRSSI(handle: handle), LESetEventMask(1), LEReadBufferSize(), LEReadLocalSupportedFeatures(),
      LESetRandomAddress(Address(rawValue: 1)), LESetScanEnable(true, filterDuplicates: false), LECreateConnectionCancel(),
      LEReadRemoteFeatures(handle: handle), LESetDataLength(handle: handle, txOctets: 251, txTime: 2120),
      LEReadSuggestedDefaultDataLength(), LEWriteSuggestedDefaultDataLength(txOctets: 251, txTime: 2120), LEReadMaximumDataLength(),
      LEReadPHY(handle: handle), LESetExtendedScanEnable(true, filterDuplicates: 0, duration: 0, period: 0),
      LERemoteConnectionParameterRequestNegativeReply(handle: handle, reason: .unacceptableParameters),
    ]
    for command in commands {
      let packet = DecodedPacket(hci: command.encoded)
      #expect(packet.name == command.opcode.name && packet.problem == nil && packet["parameters"] == nil, "\(packet)")
    }
  }

  @Test func survivesHostileBytes() {
    hostile(Self.vectors.compactMap { Hex.decode($0.0) }, mutations: 20_000) { _ = DecodedPacket(hci: $0) }
  }
}

extension DecodedPacket {
  /// Whether the packet has a list with this field.
  fileprivate subscript(list name: String) -> Bool {
    fields.contains { if case .list(let items) = $0.value { items.contains { $0.contains { $0.name == name } } } else { false } }
  }
}
