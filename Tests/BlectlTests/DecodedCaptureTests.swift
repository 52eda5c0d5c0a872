import TestSupport
import Traces

/// `decode trace` of captures that other decoders read differently. Each row names who is right.
@Suite(.timeLimit(.minutes(15))) struct DecodedCaptureTests {
  /// Rows: file, exit code, texts of our output, texts that it must not have, and who else is right (btmon 5.66, tshark 4.0.17, Bumble 0.0.236).
  @Test(
    arguments: [
      // Nobody joins the parts. tshark calls them malformed, and btmon shows their bytes. Both name the data status.
      (
        "chain.btsnoop", 0,
        [
          "> LE Extended Advertising Report  event type connectable (0x0021), data status more to come, ",
          "data 2d0941206e616d652074686174206e6565647320 (part)\n",
          #"data Complete Local Name  "A name that needs two reports to be complete"; Manufacturer Specific Data  0059 Nordic Semiconductor ASA"#,
          "  0102 (joined from packet 1 on)\n",
        ], ["malformed", "(empty)"], "nobody"
      ),
      (
        "chain2.btsnoop", 0,
        [
          "event type connectable (0x0041), data status truncated, ",
          #"data Complete Local Name  "A name that needs two reports to be co" (cut: 40 of 46 bytes) (joined from packet 1 on)"#,
        ], ["malformed", "(empty)"], "nobody"
      ),
      (
        "chain3.btsnoop", 0,
        [
          "event type scannable (0x0002), address", "event type scannable scan-response (0x002a), data status more to come, ",
          #"be complete"; Manufacturer"#,
        ], ["malformed"], "nobody"
      ),
      // The last part never comes, so the first part is the last.
      (
        "chainlost.btsnoop", 0, [#"data Complete Local Name  "TestAdv"; Manufacturer Specific Data  "#, "(cut: 191 of 256 bytes)\n"],
        ["malformed", "(part)"], "nobody"
      ),
      (
        "ext.btsnoop", 0,
        [
          "event type non-connectable (0x0020), data status more to come", "event type connectable scannable legacy (0x0013), ",
          "event type connectable scannable scan-response legacy (0x001b)", "event type connectable directed legacy (0x0015)",
          "address type anonymous, address 00:00:00:00:00:00", "primary phy coded s2, secondary phy coded",
          "direct address type unresolved, direct address C0:FF:EE:00:00:01",
          #"data Complete Local Name  "Part"; Complete Local Name  "Trunc" (cut) (joined from packet 1 on)"#,
        ], ["0xff", "0xfe", "0x04,"], "btmon and tshark: event types and data status; nobody: PHY 4, address types 0xFE and 0xFF"
      ),
      // Only Bumble knows 0x24 to 0x26. The rest is from the Core Specification and Zephyr's structures.
      (
        "newsub.btsnoop", 0,
        [
          "LE Periodic Advertising Sync Established [v2]  status Success, sync handle 5, sid 3, advertiser address type random, "
            + "advertiser address C0:FF:EE:00:00:01, advertiser phy 2m, periodic interval 100 ms, advertiser clock accuracy 0, "
            + "num subevents 4, subevent interval 12.5 ms, response slot delay 6.25 ms, response slot spacing 1 ms\n",
          "LE Periodic Advertising Report [v2]  sync handle 5, tx power not available, rssi -60 dBm, cte type none, "
            + "periodic event counter 7, subevent 1, data status complete, data Flags",
          "Sync Transfer Received [v2]  status Success, handle 0x0001, service data 0x0002, sync handle 5, ",
          "LE Periodic Advertising Subevent Data Request  advertising handle 1, subevent start 0, subevent data count 1, later 020a\n",
          "LE Periodic Advertising Response Report  advertising handle 1, subevent 0, subevent transmitted yes, num responses 1, ",
          "rssi -50 dBm, cte type none, response slot 2, data aa\n",
          "LE Read All Remote Features Complete  status Success, handle 0x0040, max remote page 1, max valid page 1, le features 0000",
          "LE Frame Space Update Complete  status Success, handle 0x0040, initiator local host, frame space ",
          "LE Transmit Power Reporting  status Success, handle 0x0040, reason local transmit power changed, phy 1m, tx power -8 dBm, "
            + "tx power flag 0x01, delta 0 dB\n",
        ], ["parameters", "malformed"], "Bumble: 0x24, 0x25, 0x26"
      ),
      ("lost.btsnoop", 0, ["< 0x0040 Read Request  handle 0x0005", "> 0x0040 Read Response  "], ["Vendor", "vendor"], "btmon"),
      (
        "ad.btsnoop", 0,
        [
          "Resolvable Set Identifier  0001", "Periodic Advertising Response Timing Information  01020304", "Electronic Shelf Label  0a",
          #"Broadcast_Name  "\x01\x02\x03""#, "LE Supported Features  LE Encryption, LE 2M PHY, ",
        ], ["AD type 0x"], "nobody; the names are of the Assigned Numbers"
      ),
      // tshark says that the size was limited. btmon decodes bytes that the file does not have.
      (
        "snap.btsnoop", 0,
        [
          "> Command Complete  credits 1, command Read Local Supported Commands, status Success, supported commands 20008000",
          "  (cut: the recording lacks the last 39 bytes)\n", " cut by the recorder\n",
          "address C0:FF:EE:00:00:07, primary phy 1m, rssi -67 dBm, data Flags  LE General Discoverable, BR/EDR Not Supported (06) (cut)",
        ], ["malformed"], "tshark"
      ),
      (
        "notes.pklg", 0,
        [
          " # note: note text\n", " # power: cfg\n", " # kernel: cfg\n", "3 records other than packets: 1 kernel, 1 note, 1 power\n",
          "< 0x0001 Read Request  handle 0x0003", "> 0x0001 Read Response  ",
        ], ["Vendor"], "tshark: the notes"
      ),
    ] as [(String, Int32, [String], [String], String)])
  func captures(_ file: String, _ status: Int32, _ mentions: [String], _ others: [String], _ judges: String) throws {
    let result = try Blectl.run("decode", "trace", Vectors.path(file))
    #expect(result.status == status, "\(result.errors)")
    for mention in mentions { #expect(result.text.contains(mention), "\(file): \(mention) is not in \(result.text)") }
    for other in others { #expect(!result.text.contains(other), "\(file): \(other) is in \(result.text)") }
  }

  /// In JSON, each packet keeps its own bytes. The last part has the structures of the whole.
  @Test func partsInRecords() throws {
    let packets = try Blectl.run("decode", "trace", Vectors.path("chain.btsnoop"), "--json").records.filter { $0.int("number") != nil }
    let items = packets.compactMap { $0["fields"]?.records("items").first }
    #expect(items.map { $0.int("data_status") } == [1, 0, 0] && items.map { $0.string("data_status_name") }.first == "more_to_come")
    #expect(items.map { $0.int("event_type") } == [0x21, 1, 1] && items[0].strings("event_type_names") == ["connectable"])
    #expect(items[0].records("structures").isEmpty && items[0].string("data") == "2d0941206e616d652074686174206e6565647320")
    #expect(items[2].records("structures").compactMap { $0.int("type") } == [9, 0xFF] && items[2].int("first_packet") == 1)
    #expect(items[2].string("joined") == (items[0].string("data") ?? "") + (items[2].string("data") ?? "?"))
    #expect(items.allSatisfy { $0.isNull("error") || $0.string("error") == nil })
    let cut = try Blectl.run("decode", "trace", Vectors.path("chain2.btsnoop"), "--json").records.compactMap {
      $0["fields"]?.records("items").first
    }
    #expect(cut.map { $0.bool("truncated") } == [nil, true] && cut[1].records("structures").isEmpty)
  }

  /// A fragment is not malformed in a single packet either: of a report, or of the host's own data.
  @Test(arguments: [
    ("043e2e0d0121000101 0000eeffc0 0102037fba 0000 00 000000000000 14 2d0941206e616d652074686174206e6565647320", " (part)"),
    ("01372008 00 01 01 04 14094162", "operation first fragment, fragment preference 1, advertising data 14094162 (part)"),
    ("043e0c0f 0500 7fc4ff 01 04 14094162", "cte type none, data status more to come, data 14094162 (part)"),
    (
      "043e0c0f 0500 7fc402 02 04 14094162",
      #"cte type aod 2us, data status truncated, data Complete Local Name  "Ab" (cut: 4 of 21 bytes)"#
    ),
  ]) func aFragment(_ packet: String, _ mention: String) throws {
    let result = try Blectl.run("decode", "hci", packet.replacing(" ", with: ""))
    #expect(result.status == 0 && result.text.contains(mention) && !result.text.contains("malformed"), "\(result.text)\(result.errors)")
  }

  /// Parts of periodic advertisements and of the host's data, and parts whose senders take turns.
  @Test func otherParts() throws {
    func report(_ sync: UInt8, _ status: UInt8, _ data: String) -> [UInt8] {
      let data = Hex.decode(data) ?? []
      return [4, 0x3E, UInt8(8 + data.count), 0x0F, sync, 0, 0x7F, 0xC4, 0xFF, status, UInt8(data.count)] + data
    }
    let packets: [[UInt8]] = [
      report(1, 1, "0509"), report(2, 1, "0409"), report(1, 1, "41"), report(2, 2, "58"), report(1, 0, "424344"),
      [1, 0x37, 0x20, 6, 0, 1, 1, 2, 4, 9], [1, 0x37, 0x20, 7, 0, 2, 1, 3, 0x41, 0x42, 0x43],
    ]
    let records = packets.enumerated().map {
      Snoop.Record(packet: $1, direction: $1[0] == 1 ? .hostToController : .controllerToHost, wallClock: Int64($0) * 1_000_000)
    }
    let result = try Blectl.run(["decode", "trace", "-"], input: Snoop.header(.h4) + records.flatMap(\.encoded))
    for mention in [
      "data 0509 (part)\n", "data 41 (part)\n", #"data Complete Local Name  "X" (cut: 3 of 5 bytes) (joined from packet 2 on)"#,
      #"data Complete Local Name  "ABCD" (joined from packet 1 on)"#,
      #"advertising data Complete Local Name  "ABC" (joined from packet 6 on)"#,
    ] { #expect(result.text.contains(mention), "\(mention) is not in \(result.text)") }
    #expect(result.status == 0 && !result.text.contains("malformed"), "\(result.text)\(result.errors)")
  }

  /// Complete data of the host ends what it sent before in parts. The host may take its time.
  @Test func partsOfTheHost() throws {
    func part(_ operation: UInt8, _ data: [UInt8]) -> [UInt8] {
      [1, 0x37, 0x20, UInt8(4 + data.count), 0, operation, 1, UInt8(data.count)] + data
    }
    func decoded(_ packets: [[UInt8]]) throws -> String {
      let records = packets.enumerated().map {
        Snoop.Record(packet: $1, direction: .hostToController, wallClock: Int64($0) * 3_000_000_000)
      }
      return try Blectl.run(["decode", "trace", "-"], input: Snoop.header(.h4) + records.flatMap(\.encoded)).text
    }
    let joined = #"advertising data Complete Local Name  "ABC" (joined from packet "#
    let whole = part(3, [2, 9, 0x58])
    let texts = [
      try decoded([part(1, [9, 9]), whole, part(1, [4, 9]), part(2, [0x41, 0x42, 0x43])]),
      try decoded([part(1, [9, 9]), part(1, [4, 9]), part(0, [0x41]), part(2, [0x42, 0x43])]),
    ]
    #expect(texts[0].contains(joined + "3 on)") && !texts[0].contains("malformed"), "\(texts[0])")
    #expect(texts[1].contains(joined + "2 on)") && !texts[1].contains("malformed"), "\(texts[1])")
  }

  /// A Reset ends advertising, so the next part is the first one.
  @Test func partsEndAtAReset() throws {
    func report(_ status: UInt8, _ data: [UInt8]) -> [UInt8] {
      [4, 0x3E, UInt8(8 + data.count), 0x0F, 1, 0, 0x7F, 0xC4, 0xFF, status, UInt8(data.count)] + data
    }
    let packets = [report(1, [4, 9, 0x41]), [1, 3, 0x0C, 0], report(0, [2, 9, 0x42])]
    let file = packets.map {
      Snoop.Record(packet: $0, direction: $0[0] == 1 ? .hostToController : .controllerToHost, wallClock: 0).encoded
    }
    let text = try Blectl.run(["decode", "trace", "-"], input: Snoop.header(.h4) + file.flatMap { $0 }).text
    #expect(text.contains(#"Local Name  "A" (cut: 3 of 5 bytes)"#) && text.contains(#"Local Name  "B"\#n"#), "\(text)")
  }

  /// The host sends no diagnostics, so its fragment of a frame shows that there is a link.
  @Test func aFragmentAfterAReset() throws {
    let records: [[UInt8]] = [
      [1, 3, 0x0C, 0], [2, 0x40, 0, 5, 0, 3, 0, 4, 0, 0x0A], [2, 0x40, 0x10, 2, 0, 3, 0], [2, 0x40, 0x20, 6, 0, 2, 0, 4, 0, 0x0B, 0x41],
    ]
    let file = records.enumerated().map {
      Snoop.Record(packet: $1, direction: $0 < 3 ? .hostToController : .controllerToHost, wallClock: 0).encoded
    }
    let text = try Blectl.run(["decode", "trace", "-"], input: Snoop.header(.h4) + file.flatMap { $0 }).text
    #expect(text.contains("Read Request  handle 0x0003") && text.contains("> 0x0040 Read Response") && !text.contains("Vendor"), "\(text)")
  }

  /// A cut value keeps its attribute.
  @Test func aCutNotification() throws {
    let packet: [UInt8] = [2, 0x40, 0x20, 24, 0, 20, 0, 4, 0, 0x1B, 0x12, 0, 0x41, 0x41]
    var record = Snoop.Record(packet: packet, direction: .controllerToHost, wallClock: 0)
    record.missing = 15
    let text = try Blectl.run(["decode", "trace", "-"], input: Snoop.header(.h4) + record.encoded).text
    #expect(text.contains("Handle Value Notification  handle 0x0012, octets 1b12004141  (cut"), "\(text)")
  }

  /// A cut response is an answer, and what a cut hides is not learned. A packet of a wrong length stays malformed.
  @Test func cutData() throws {
    func data(_ payload: [UInt8], isSent: Bool, kept: Int? = nil) -> Snoop.Record {
      let length = UInt8(payload.count)
      let packet = [2, 0x40, isSent ? 0 : 0x20, length + 4, 0, length, 0, 4, 0] + payload
      var record = Snoop.Record(
        packet: Array(packet.prefix(kept ?? packet.count)), direction: isSent ? .hostToController : .controllerToHost, wallClock: 0)
      record.missing = packet.count - record.packet.count
      return record
    }
    var wrong = Snoop.Record(packet: [4, 0x0E, 9, 1, 3], direction: .controllerToHost, wallClock: 0)
    wrong.missing = 1
    let records = [data([0x0A, 3, 0], isSent: true), data([0x0B, 1, 2, 3, 4, 5], isSent: false, kept: 10), wrong]
    let result = try Blectl.run(["decode", "trace", "-"], input: Snoop.header(.h4) + records.flatMap(\.encoded))
    for mention in [
      "> 0x0040 Read Response  handle 0x0003, octets 0b  (cut: the recording lacks the last 5 bytes)  (after 0 ms)",
      "2 packets cut by the recorder",
      "1 malformed packet\n",
    ] { #expect(result.text.contains(mention), "\(mention) is not in \(result.text)") }
    #expect(result.status == 5 && !result.text.contains("no answer"), "\(result.text)")
    let trace = try Blectl.run(["decode", "trace", "-", "--json"], input: Snoop.header(.h4) + records.flatMap(\.encoded)).records
    #expect(trace.compactMap { $0.int("missing") } == [5, 1] && trace.first { $0.string("event") == "trace" }?.int("cut") == 2)
  }

  /// The notes of btmon, and its other records by kind.
  @Test func notesOfTheMonitor() throws {
    func record(_ opcode: UInt8, _ bytes: [UInt8]) -> [UInt8] {
      let length = UInt8(bytes.count)
      return [0, 0, 0, length, 0, 0, 0, length, 0, 0, 0, opcode, 0, 0, 0, 0, 0x00, 0xE0, 0x3A, 0xB4, 0x4A, 0x67, 0x60, 0] + bytes
    }
    let file =
      Snoop.header(.monitor) + record(0, [UInt8](repeating: 0, count: 16)) + record(12, Array("Linux 6.1\u{1B}".utf8) + [0])
      + record(2, [3, 0x0C, 0]) + record(13, [6, 4] + Array("app".utf8) + [0] + Array("hello".utf8) + [0]) + record(17, [1])
      + record(99, [])
    let result = try Blectl.run(["decode", "trace", "-"], input: file)
    for mention in [
      " # system note: Linux 6.1\\x1b\n", "    1     0.000000 < Reset\n", " # user logging: app: hello\n",
      "5 records other than packets: 1 control event, 1 new index, 1 opcode 99, 1 system note, 1 user logging\n",
    ] { #expect(result.text.contains(mention), "\(mention) is not in \(result.text)") }
    let records = try Blectl.run(["decode", "trace", "-", "--json"], input: file).records
    #expect(records.map { $0.string("event") } == ["trace_note", "packet", "trace_note", "trace"])
    #expect(records[2].string("kind") == "user_logging" && records[2].string("text") == "app: hello")
    #expect(records[3]["notes"]?.int("control_event") == 1 && records[3].int("packets") == 1)
  }

  /// Diagnostics stay vendor data, although they are on a handle without a link like ATT data.
  @Test func diagnosticsAreNoFrames() throws {
    let records: [(bytes: [UInt8], isSent: Bool)] = [
      ([1, 3, 0x0C, 0], true), ([2, 0xDC, 0x2E, 7, 0, 3, 0, 9, 0, 1, 2, 3], false), ([2, 0xDD, 0x2E, 7, 0, 4, 0, 4, 0, 1, 2, 3], false),
    ]
    let file = records.map {
      Snoop.Record(packet: $0.bytes, direction: $0.isSent ? .hostToController : .controllerToHost, wallClock: 0).encoded
    }
    let result = try Blectl.run(["decode", "trace", "-"], input: Snoop.header(.h4) + file.flatMap { $0 })
    #expect(result.text.contains("2 vendor-specific data packets"), "\(result.text)")
  }

  /// Events of later versions have a name, and no length is wrong for them.
  @Test(arguments: [
    ("043e0236ff", "LE UTP Receive"), ("043e0338ff00", "LE CS Read Remote Supported Capabilities Complete [v2]"),
    ("043e023901", "LE subevent 0x39"),
    ("043e10370040002800010000000000c800aabb", "LE Connection Rate Change  status Success, handle 0x0040, interval 5 ms, subrate factor 1"),
  ]) func laterEvents(_ packet: String, _ mention: String) throws {
    let result = try Blectl.run("decode", "hci", packet)
    #expect(result.status == 0 && result.text.hasPrefix(mention), "\(result.text)\(result.errors)")
  }

  /// Receivers of BTHome may ignore objects out of order, and number repeated ones.
  @Test(
    arguments: [
      ("4002c409012a", "→ The BTHome objects are out of order (0x02, 0x01). Some receivers ignore them."),
      ("40012a01290128", "→ BTHome objects are repeated (0x01). Receivers number them in order."), ("40012a02c409", nil),
    ] as [(String, String?)]) func orderOfObjects(_ data: String, _ note: String?) throws
  {
    let hex = Bytes.hex([UInt8(data.count / 2 + 3)]) + "16d2fc" + data
    let (quiet, verbose) = (try Blectl.run("decode", "adv", hex), try Blectl.run("decode", "adv", "-v", hex))
    #expect(quiet.status == 0 && !quiet.text.contains("→"), "\(quiet.text)\(quiet.errors)")
    #expect(note.map { verbose.text.contains($0) } ?? !verbose.text.contains("→"), "\(verbose.text)")
  }
}
