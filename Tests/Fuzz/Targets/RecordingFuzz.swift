import Terminal
import TestSupport
import Traces

@testable import Program

extension FuzzTarget {
  /// A recording, whose devices are asked for recorded and for unknown values.
  static let recording = FuzzTarget("recording", seeds: [session(.h4), session(.monitor)], words: []) { bytes in
    guard let recording = try? Recording(parsing: bytes) else { return }
    for link in recording.links.prefix(4) {
      for isStrict in [true, false] {
        var answerer = Answerer(link, others: Array(recording.links.prefix(4)), isStrict: isStrict)
        for item in link.requests.prefix(16) { _ = answerer.answer(item.pdu) }
        for pdu in questions {
          _ = answerer.answer(pdu)
          _ = answerer.refusal(of: pdu)
        }
      }
    }
  }

  /// A trace in each format, as `decode` prints it: text or JSON, with packets or as a summary.
  static let trace = FuzzTarget(
    "trace",
    seeds: [session(.h4), session(.monitor), capture(session(.h4)), pcap(187), pcap(201), pcap(254)]
      + files("Tests/Vectors", [".btsnoop", ".pcap"]),
    words: ["\u{A}\r\r\n", "\u{4}\u{3E}", "\0\0\0"]
  ) { bytes in
    await VirtualTime.run {
      var style = Output.Style()
      style.json = bytes.count & 1 == 1
      let output = Output(style) { _ in nil }
      output.hidesResults = true
      output.onResult = { shown in
        expect(shown.last == 0x0A && !shown.contains { $0 < 0x20 && $0 != 0x0A }, "a terminal obeys \(shown)")
        if style.json, bytes.count & 12 == 12 { expect((try? JSONTree.parse(shown)) != nil, "our own JSON is not read") }
      }
      var listing = try await TraceListing(bytes, output)
      _ = try await listing.show(packets: bytes.count & 2 == 2)
    }
  }

  /// A capture in a file of another form: gzip, ZIP, PacketLogger, or the log of a bug report. The first byte may add the outer form.
  static let packed = FuzzTarget(
    "packed",
    seeds: packedFiles.map { [0] + $0 } + [
      [1] + PackedFiles.stored(session(.h4)), [2, 2] + PackedFiles.number(1_000_000, 8) + [0x78, 1],
    ],
    words: ["PK\u{1}\u{2}", "PK\u{5}\u{6}", "--- BEGIN:BTSNOOP_LOG_SUMMARY\n"]
  ) { bytes in
    let file =
      switch bytes.first {
      case 1: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + bytes.dropFirst()
      case 2: PackedFiles.report(Array(bytes.dropFirst()))
      default: Array(bytes.dropFirst())
      }
    guard let unpacked = try? await PackedCapture.unpack(file), var reader = try? TraceReader(unpacked) else { return }
    while let record = try? reader.next() { expect(!record.packet.isEmpty || record.air != nil, "an empty packet") }
  }

  private static let packedFiles: [[UInt8]] = {
    let packets = ((try? Snoop.parse(session(.h4))) ?? []).map { ($0.packet, $0.direction, $0.wallClock / 1000) }
    let report = PackedFiles.report(packets, version: 2)
    return [
      PackedFiles.packetLogger(packets, isLittle: false), PackedFiles.packetLogger(packets, isLittle: true), report,
      PackedFiles.report(packets, version: 1), PackedFiles.gzip(session(.h4)), PackedFiles.zip([("a", report), ("b", session(.h4))]),
    ] + files("Tests/Vectors", [".gz", ".pklg", ".txt"])
  }()

  /// Returns the same packets as pcapng.
  private static func capture(_ file: [UInt8]) -> [UInt8] {
    Pcapng.header + ((try? Snoop.parse(file)) ?? []).flatMap { Pcapng.packet($0) }
  }

  /// Returns the same packets as pcap: H4 (187), with the direction (201), or with the Linux monitor header (254).
  private static func pcap(_ link: UInt8) -> [UInt8] {
    func number(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
    var file: [UInt8] = [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0] + number(0) + number(0) + number(0xFFFF) + number(Int(link))
    for (index, record) in ((try? Snoop.parse(session(.h4))) ?? []).enumerated() {
      let isSent = record.direction == .hostToController
      let before: [UInt8] =
        switch link {
        case 201: [0, 0, 0, isSent ? 0 : 1]
        case 254: [0, 0, 0, record.packet.first == Packet.aclIndicator ? (isSent ? 4 : 5) : isSent ? 2 : 3]
        default: []
        }
      let bytes = before + (link == 254 ? Array(record.packet.dropFirst()) : record.packet)
      file += number(index) + number(0) + number(bytes.count) + number(bytes.count) + bytes
    }
    return file
  }

  private static let questions: [[UInt8]] = [
    [0x02, 0, 0], [0x04, 1, 0, 0xFF, 0xFF], [0x08, 1, 0, 0xFF, 0xFF, 3, 0x28], [0x08, 1, 0, 0xFF, 0xFF, 0xE1, 0xFF],
    [0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], [0x06, 1, 0, 0xFF, 0xFF, 0, 0x28, 0xE0, 0xFF], [0x0A, 6, 0], [0x0C, 6, 0, 0xFF, 0xFF],
    [0x12, 7, 0, 0, 0], [0x08, 1, 0, 0xFF, 0xFF, 2, 0x29], [0x1E],
  ]

  /// Returns a session: connection, discovery, a fragmented value, a subscription, a notification, the end.
  private static func session(_ datalink: Snoop.Datalink) -> [UInt8] {
    var file = Snoop.header(datalink)
    func add(_ packet: [UInt8], _ direction: Direction) {
      var record = Snoop.Record(packet: packet, direction: direction, wallClock: Int64(file.count) * 1_000_000).encoded
      if datalink == .monitor {
        let isSent = direction == .hostToController
        record[11] = packet.first == Packet.aclIndicator ? (isSent ? 4 : 5) : isSent ? 2 : 3
        record.remove(at: 24)
        (record[3], record[7]) = (record[3] - 1, record[7] - 1)
      }
      file += record
    }
    func send(_ pdu: [UInt8], _ direction: Direction) {
      let first: ACLData.Boundary = direction == .hostToController ? .firstNonFlushable : .firstFlushable
      for data in L2CAPFrame(channel: .att, payload: pdu).fragments(handle: 0x40, length: 27, first: first) { add(data.encoded, direction) }
    }
    let peer = PeerAddress(Address(rawValue: 0xC0FF_EE00_0007), .public)
    let parameters = ConnectionParameters(intervalMin: 12, intervalMax: 24, latency: 0, supervisionTimeout: 400)
    add(
      LECreateConnection(scanInterval: 96, scanWindow: 96, peer: peer, ownAddressType: 0, parameters: parameters).encoded, .hostToController
    )
    add(Event.commandStatus(.init(status: .success, opcode: LECreateConnection.opcode)).encoded, .controllerToHost)
    let complete = Event.ConnectionComplete(status: .success, handle: 0x40, peer: peer, interval: 12, latency: 0, supervisionTimeout: 400)
    add(Event.leConnectionComplete(complete).encoded, .controllerToHost)
    let exchanges: [([UInt8], [UInt8])] = [
      ([0x02, 0x05, 0x02], [0x03, 100, 0]),
      ([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], [0x11, 6, 1, 0, 3, 0, 0x00, 0x18, 4, 0, 0xFF, 0xFF, 0xE0, 0xFF]),
      ([0x08, 1, 0, 0xFF, 0xFF, 3, 0x28], [0x09, 7, 2, 0, 2, 3, 0, 0x00, 0x2A, 5, 0, 0x12, 6, 0, 0xE1, 0xFF]),
      ([0x04, 7, 0, 0xFF, 0xFF], [0x05, 1, 7, 0, 2, 0x29]), ([0x0A, 6, 0], [0x0B] + Array(1...60)), ([0x12, 7, 0, 1, 0], [0x13]),
      ([0x0A, 3, 0], [0x01, 0x0A, 3, 0, 0x02]),
    ]
    for (request, response) in exchanges {
      send(request, .hostToController)
      send(response, .controllerToHost)
    }
    send([0x1B, 6, 0, 0xAA], .controllerToHost)
    add(Event.numberOfCompletedPackets([.init(handle: 0x40, count: 3)]).encoded, .controllerToHost)
    add(Event.disconnectionComplete(status: .success, handle: 0x40, reason: .connectionTimeout).encoded, .controllerToHost)
    return file
  }
}
