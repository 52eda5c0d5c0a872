import TestSupport
import Traces

/// Tests ATT PDUs and the other channels of L2CAP.
@Suite(.timeLimit(.minutes(15))) struct ATTPacketTests {
  private static let vectors: [(String, String, [String: PacketField.Value])] = [
    ("02f700", "Exchange MTU Request", ["client_rx_mtu": .number(247)]),
    ("0a1200", "Read Request", ["handle": .attribute(0x12)]),
    ("0b64", "Read Response", ["value": .value([0x64], of: nil, isWhole: true)]),
    ("01100c000a", "Error Response", ["request": .code(0x10, "Read By Group Type Request"), "error": .attError(.attributeNotFound)]),
    (
      "0801000500" + "0328", "Read By Type Request",
      ["start_handle": .mask(1, bytes: 2), "end_handle": .mask(5, bytes: 2), "type": .uuid(UUID(0x2803))]
    ),
    ("5210000102", "Write Command", ["handle": .attribute(0x10), "value": .value([1, 2], of: 0x10, isWhole: true)]),
    ("1b12000648", "Handle Value Notification", ["value": .value([6, 0x48], of: 0x12, isWhole: true)]),
    ("1e", "Handle Value Confirmation", [:]), ("4001", "Opcode 0x40", ["parameters": .bytes([1])]),
    (
      "1106" + "0100" + "0500" + "0018", "Read By Group Type Response",
      [
        "items": .list([
          [
            PacketField("handle", .attribute(1)), PacketField("end_handle", .mask(5, bytes: 2)),
            PacketField("declares", .uuid(UUID(0x1800))),
          ]
        ])
      ]
    ),
  ]

  @Test func saysWhatFieldsSay() throws {
    for (hex, name, fields) in Self.vectors {
      let packet = DecodedPacket(att: try #require(Hex.decode(hex)))
      #expect(packet.name == name && packet.problem == nil, "\(hex): \(packet)")
      for (key, value) in fields { #expect(packet[key] == value, "\(hex): \(key) is \(String(describing: packet[key]))") }
    }
  }

  /// A request that finds nothing names the start of its range. A request that an attribute refuses names the attribute.
  @Test func errorsNameRanges() throws {
    for (hex, request, fields) in [
      (
        "0108" + "0100" + "0a", Request.readByType(.all, type: UUID(0x2803)),
        ["start_handle": .mask(1, bytes: 2), "end_handle": .mask(0xFFFF, bytes: 2)]
      ),
      ("0104" + "0900" + "0a", nil, ["start_handle": .mask(9, bytes: 2)]),
      ("0106" + "0000" + "01", .findByTypeValue(.all, type: 0x2800, value: []), ["start_handle": .mask(0, bytes: 2)]),
      ("0110" + "0100" + "10", nil, ["start_handle": .mask(1, bytes: 2)]),
      ("0108" + "0500" + "05", .readByType(.all, type: UUID(0x2803)), ["handle": .attribute(5)]),
      ("010a" + "0500" + "0a", .read(5), ["handle": .attribute(5)]),
    ] as [(String, Request?, [String: PacketField.Value])] {
      let packet = DecodedPacket(att: try #require(Hex.decode(hex)), answering: request)
      let found = packet.fields.filter { $0.name.hasSuffix("handle") }
      #expect(Dictionary(uniqueKeysWithValues: found.map { ($0.name, $0.value) }) == fields, "\(hex): \(packet)")
    }
  }

  /// A response does not name its attribute, but its request does.
  @Test func theRequestSaysWhatAResponseIsAbout() {
    let read = DecodedPacket(att: [0x0B, 0x64], answering: .read(0x12))
    #expect(read["handle"] == .attribute(0x12) && read["value"] == .value([0x64], of: 0x12, isWhole: true))
    let declaration: [UInt8] = [0x09, 0x07, 0x02, 0x00, 0x12, 0x03, 0x00, 0x37, 0x2A]
    let characteristics = DecodedPacket(att: declaration, answering: .readByType(.all, type: UUID(0x2803)))
    #expect(
      characteristics["items"]
        == .list([
          [
            PacketField("handle", .attribute(2)), PacketField("properties", .mask(0x12, bytes: 1)),
            PacketField("value_handle", .mask(3, bytes: 2)), PacketField("declares", .uuid(UUID(0x2A37))),
          ]
        ]))
    // Without the request, the form of the items is unknown.
    #expect(DecodedPacket(att: declaration)["items"] != characteristics["items"])
  }

  @Test func readsSignallingAndPairing() throws {
    let update = DecodedPacket(signalling: try #require(Hex.decode("12010800" + "0c0018000000" + "9001")))
    #expect(update.name == "Connection Parameter Update Request" && update.problem == nil)
    #expect(update["interval_max"] == .quantity(24, factor: 1.25, unit: "ms") && update["identifier"] == .number(1))
    #expect(DecodedPacket(signalling: [0x13, 1, 3, 0, 0, 0]).problem?.reason.contains("length 3, but 2 bytes") ?? false)
    let pairing = DecodedPacket(securityManager: [1, 3, 0, 1, 16, 7, 7])
    #expect(pairing.name == "Pairing Request" && pairing["io_capability"] == .choice(3, "no_input_no_output"))
    #expect(DecodedPacket(securityManager: [5]).problem != nil && DecodedPacket(securityManager: []).problem != nil)
  }

  @Test func survivesHostileBytes() {
    let seeds = Self.vectors.compactMap { Hex.decode($0.0) } + [[0x12, 1, 8, 0, 12, 0, 24, 0, 0, 0, 0x90, 1], [1, 3, 0, 1, 16, 7, 7]]
    hostile(seeds, mutations: 20_000) {
      _ = DecodedPacket(att: $0)
      _ = DecodedPacket(signalling: $0)
      _ = DecodedPacket(securityManager: $0)
    }
  }
}
