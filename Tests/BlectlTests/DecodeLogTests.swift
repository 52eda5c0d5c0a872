import TestSupport

/// `decode` reads lines of logs, and advertising data in packets.
@Suite(.timeLimit(.minutes(15))) struct DecodeLogTests {
  /// `hcidump --raw` wraps the bytes of a packet after an arrow. This dump lacks the last one.
  @Test func aPacketOfSeveralLines() throws {
    let result = try Blectl.run("decode", "hci", Vectors.path("hcidump-raw.txt"), "--json")
    let record = try #require(result.records.first)
    #expect(
      try result.status == 5 && result.records.count == 1 && result.errors.contains("length 33, but 32 bytes left"), "\(result.errors)")
    #expect(record.string("name") == "LE Advertising Report" && record.int("line") == 1)
    #expect(record.string("raw") == "043e2102010000f4830238c1a41502010611161a18a4c1380283f400a22f5f0bf819df")
  }

  private static let logs: [(String, String, [String], Int32, String)] = [
    // Lines among others: hcidump's own, in another width, and cut.
    ("hci", "> 04 0E 04 01 03 0C 00\n< 01 03 0C 00\n", ["040e0401030c00", "01030c00"], 0, ""),
    (
      "hci", "HCI sniffer - Bluetooth packet analyzer ver 5.50\ndevice: hci0 snap_len: 1500\n> 04 0E 04\n  01 03 0C 00\n",
      ["040e0401030c00"], 0, ""
    ),
    ("hci", "> 04 0E 04\n  01 03\n\t0C\n  00\n< 01 03 0C 00", ["040e0401030c00", "01030c00"], 0, ""),
    (
      "hci", "> 04 0E 04\n  01 03\n< 01 03 0C 00\n", ["040e040103", "01030c00"], 5,
      "1 of 2 HCI packets are malformed, line 1"
    ),
    (
      "hci", "> 04 0E 04 01 03 0C 00\n  01 02\n", ["040e0401030c00"], 66,
      "Line 2 of standard input continues a complete packet"
    ),
    ("hci", "> 04 0E 04\n  01 zz\n", ["040e04"], 66, "Line 2 of standard input is not hex: \"01 zz\""),
    ("hci", "> 04 0E 04 01 03 0C zz\n", [], 66, "Line 1 of standard input is not hex"),
    ("hci", "> 04 0E 04 01 03 0C 0\n", [], 66, "Line 1 of standard input has an odd number of digits"),
    ("hci", "> 04 0E 04 01 03 0C 00  # reset\n", [], 66, "Line 1 of standard input is not hex"),
    // Without an arrow, a line stands alone, even if it is indented.
    ("hci", "01030c00\n  01030c00\n", ["01030c00", "01030c00"], 0, ""),
    // The last word alone was once taken for the packet.
    ("att", "> 0a 12 00\n", ["0a1200"], 0, ""), ("att", "> 0B\n", ["0b"], 0, ""),
    (
      "att", "> 0b 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11 12 13\n  14 15\n", ["0b0102030405060708090a0b0c0d0e0f101112131415"],
      0, ""
    ),
    // The output of -vv, with the names of opcodes.
    (
      "att", "< Read Request 0a1200\n> Read Response 0b64\n> Handle Value Confirmation 1e\n> Opcode 0x3f 3f\n",
      ["0a1200", "0b64", "1e", "3f"], 0, ""
    ),
    ("att", "< Write Request 0a1200\n", [], 66, "Line 1 of standard input is not hex"),
    ("att", "> what is this 0a1200\n", [], 66, "Line 1 of standard input is not hex"), ("att", "< \n", [], 66, "is not hex"),
    ("value", "> 06 48\n", ["0648"], 0, ""),
  ]

  @Test(arguments: logs)
  func linesOfLogs(_ what: String, _ text: String, _ raw: [String], _ status: Int32, _ mention: String) throws {
    let words = what == "value" ? ["value", "2a37"] : [what]
    let result = try Blectl.run(["decode"] + words + ["-", "--json"], input: Array(text.utf8))
    #expect(try result.records.map { $0.string(what == "value" ? "value" : "raw") } == raw, "\(text): \(result.text)")
    #expect(result.status == status, "\(text): \(result.errors)")
    if !mention.isEmpty { #expect(result.errors.replacing("\\\"", with: "\"").contains(mention), "\(text): \(result.errors)") }
  }

  /// A complete packet is shown before the next line arrives.
  @Test func aDumpIsShownAsItComes() throws {
    let process = try Blectl.start(["decode", "hci"], adapter: nil)
    process.send(line: "> 04 0E 04 01 03 0C 00")
    #expect(process.waitForOutput(containing: "command Reset"))
    process.send(line: "> 04 0E 04")
    process.send(line: "  01 09 10 00")
    #expect(process.waitForOutput(containing: "command Read BD_ADDR"))
    process.finish()
  }

  private static let advertisingData: [(String, Bool)] = [
    ("043e100201000006050403020104020106ffc4", true), ("043e0f0201000006050403020103020106c4", false),
    // An extended report, complete and with more to come.
    ("043e1e0d010000000605040302010100ff7fc40000%04020106ff", true), ("043e1e0d012000000605040302010100ff7fc40000%04020106ff", false),
    ("0108202004020106ff%%%000000000000", true),
    // Operation: complete, and the first fragment.
    ("0137200804030004020106ff", true), ("0137200804010004020106ff", false),
  ]

  /// Advertising data in reports and commands gives the errors of `decode adv`. Parts of longer data may be cut anywhere.
  /// - Parameter packet: The packet. Each % stands for seven bytes of zero.
  @Test(arguments: advertisingData)
  func malformedAdvertisingData(_ packet: String, _ isWrong: Bool) throws {
    let data = try #require(try Blectl.run("decode", "adv", "020106ff", "--json").records.first?.string("error"))
    let result = try Blectl.run("decode", "hci", packet.replacing("%", with: "00000000000000"), "--json")
    let record = try #require(result.records.first)
    #expect(result.status == (isWrong ? 5 : 0) && record.string("error") == (isWrong ? data : nil), "\(result.text)\(result.errors)")
    let fields = try #require(record["fields"])
    let inner = fields.records("items").first?.string("error") ?? fields.string("error")
    #expect(inner == (isWrong ? data : nil), "\(result.text)")
    #expect(isWrong == result.errors.contains("The HCI packet is malformed: \(data)"), "\(result.errors)")
  }
}
