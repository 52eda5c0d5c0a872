import Foundation
import TestSupport

/// `decode` of single packets from a shell.
@Suite(.timeLimit(.minutes(15))) struct DecodeTests {
  @Test func saysWhatBytesMean() throws {
    for (words, mentions) in [
      (["adv", "02", "01", "06", "0809", "4c6f636b2d30", "31"], ["Flags  LE General Discoverable", "Complete Local Name  \"Lock-01\""]),
      (["att", "0a1200"], ["Read Request  handle 0x0012"]),
      (["hci", "040e0401030c00"], ["Command Complete  credits 1, command Reset, status Success"]),
      (["hci", "02402007000300", "04000b64ff"], ["ACL Data  handle 0x0040", "\n    Read Response  value 64ff\n"]),
      (["hci", "0240200500", "030004000b"], ["fragment 030004000b"]),
      // LE Read RF Path Compensation has signed values. Our own address may be a resolvable one.
      (["hci", "040e08014c2000f6ff0a00"], ["tx path compensation -1 dB, rx path compensation 1 dB"]),
      (["hci", "010b2007011000100002", "00"], ["own address type resolvable or public"]),
      (["adv", "051206000c00"], ["Peripheral Connection Interval Range  7.5 ms to 15 ms (06000c00)"]),
      (["adv", "0512ffff0c00", "031aa000"], ["any to 15 ms", "Advertising Interval  100 ms (a000)"]),
      (
        ["adv", "081b01020304050601", "021c02"], ["06:05:04:03:02:01/random", "LE Role  peripheral and central, peripheral preferred (02)"]
      ),
      (["adv", "0a24172f2f6162632e6465", "021c09", "0324170a"], ["URI  https://abc.de (", "LE Role  09", "URI  170a"]),
      (["value", "2a37", "0648"], ["0648  72 bpm"]),
      (["value", "2803", "120300372a"], ["read, notify, characteristic 2a37 Heart Rate Measurement"]),
      (["value", "2800", "0f18"], ["0f18  180f Battery Service"]),
      (["value", "2802", "010005000f18"], ["start handle 1, end handle 5, service 180f"]),
      (["value", "battery_level", "0x64"], ["64  100 %"]),
    ] as [([String], [String])] {
      let result = try Blectl.run(["decode"] + words)
      #expect(result.status == 0 && result.errors.isEmpty, "\(words): \(result.errors)")
      for mention in mentions { #expect(result.text.contains(mention), "\(words): \(result.text)") }
    }
  }

  /// Data that no packet can have is refused before it is expanded, as lines and as bytes.
  @Test(arguments: [
    (["adv"], 1650, "an advertisement has at most 1650 bytes"), (["att"], 65_535, "has 65536 bytes. The limit is 65535."),
    (["hci"], 65_540, "has 65541 bytes. The limit is 65540."), (["value", "2a3d"], 512, "has 513 bytes. The limit is 512."),
  ])
  func limits(_ words: [String], _ limit: Int, _ reason: String) throws {
    func decode(_ count: Int, _ bytes: [UInt8]) throws -> Blectl.Result {
      let result = try Blectl.run(["decode"] + words + ["-"], input: bytes)
      return result
    }
    let long = try decode(limit, Array(String(repeating: "00", count: limit + 1).utf8))
    #expect(
      long.status == 66 && long.errors.contains("Line 1 of standard input") && long.errors.contains(reason), "\(long.errors.prefix(500))")
    let bytes = try decode(limit, [UInt8](repeating: 0, count: limit + 1))
    #expect(bytes.status == 66 && bytes.errors.contains("has \(limit + 1) bytes. The limit is \(limit)."), "\(bytes.errors.prefix(500))")
    let fits = try decode(limit, Array(String(repeating: "00", count: limit).utf8))
    #expect(fits.status != 66, "\(fits.errors.prefix(500))")
    let file = try TemporaryFolder.file(String(repeating: "00", count: 1 << 20))
    let line = try Blectl.run(["decode"] + words + [file])
    #expect(line.status == 66 && line.errors.contains("is longer than 1 MiB"), "\(line.errors.prefix(500))")
  }

  @Test func recordsHaveFields() throws {
    let adv = try #require(try Blectl.run("decode", "adv", "--json", "0303e0ff05ff4c010102").records.first)
    #expect(adv.strings("services") == ["ffe0"] && adv["manufacturer_data"]?.string("014c") == "0102" && adv.isNull("address"))
    #expect(adv.records("structures").map { $0.int("type") } == [3, 255])
    let att = try #require(try Blectl.run("decode", "att", "--json", "01100c000a").records.first)
    #expect(att.string("name") == "Error Response" && att.string("raw") == "01100c000a" && att.string("layer") == "att")
    #expect(att["fields"]?.int("error") == 10 && att["fields"]?.string("error_name") == "attribute_not_found")
    let hci = try #require(try Blectl.run("decode", "hci", "--json", "010b20070110001000" + "0000").records.first)
    #expect(hci["fields"]?.string("scan_type") == "active" && hci["fields"]?.double("scan_interval_ms") == 10)
    let data = try #require(try Blectl.run("decode", "hci", "--json", "024020060002000600" + "0b01").records.first?["fields"]?["payload"])
    #expect(data.string("layer") == "smp" && data.string("name") == "Security Request" && data.string("raw") == "0b01")
    #expect(data["fields"]?.int("authentication_requirements") == 1)
    // 127 dBm stands for an unknown value.
    let report = try #require(
      try Blectl.run("decode", "hci", "--json", "043e0f0201000007" + "0000eeffc003" + "0201067f").records.first?["fields"]?.records("items")
        .first)
    #expect(report.isNull("rssi") && report.string("address") == "C0:FF:EE:00:00:07", "\(report)")
    let value = try #require(try Blectl.run("decode", "value", "2a19", "64", "--json").records.first)
    #expect(value.string("name") == "Battery Level" && value["decoded"]?["battery_level"]?.int("value") == 100)
  }

  /// bthome.io/encryption: the sender's address is in the input or next to the key.
  @Test func advertisingDataIsDecrypted() throws {
    let (key, sender, data) = ("231d39c1d7cc1ab1aee224cd096db932", "54:48:E6:8F:80:A5", "1216d2fc41e445f3c9962b332211006c7c4519")
    for (arguments, input) in [([data, "--key", "\(sender)=\(key)"], nil), (["-", "--key", key], "\(sender) \(data)\n")]
      as [([String], String?)]
    {
      let json = try Blectl.run(["decode", "adv", "--json"] + arguments, input: input.map { Array($0.utf8) })
      let objects = try #require(json.records.first)["decoded"]?["bthome"]?.records("objects")
      #expect(objects?.map { $0.double("value") } == [25.06, 50.55] && json.status == 0 && json.errors.isEmpty, "\(json.errors)")
      let text = try Blectl.run(["decode", "adv"] + arguments, input: input.map { Array($0.utf8) })
      #expect(text.text.contains("BTHome 25.06 °C, humidity 50.55 %"), "\(text.text)")
    }
    let wrong = try Blectl.run("decode", "adv", "--json", data, "--key", "\(sender)=\(key.reversed().map(String.init).joined())")
    #expect(try wrong.records.first?.string("decoded_error") == "bthome: wrong key")
    // The note about an untested key appears once.
    let unknown = try Blectl.run(["decode", "adv", "-", "--key", key], input: Array("\(data)\n\(data)\n".utf8))
    #expect(
      unknown.text.contains("BTHome, encrypted") && unknown.errors.components(separatedBy: "have no sender").count == 2, "\(unknown.errors)"
    )
    #expect(try Blectl.run("decode", "att", "0a1200", "--key", key).status == 64)
  }

  /// Input files may have lines of hex, of a log or of a scan. Other files are refused.
  @Test func readsFilesAndPipes() throws {
    let log = Array("# log\n\n< Read Request 0a1200\n> Read Response 0b64\r\n02 f7 00\n".utf8)
    let lines = try Blectl.run(["decode", "att", "-", "--json"], input: log).records
    #expect(lines.map { $0.int("line") } == [3, 4, 5])
    #expect(lines.map { $0.string("name") } == ["Read Request", "Read Response", "Exchange MTU Request"])
    let file = try TemporaryFolder.file([0x0A, 0x12, 0x00])
    #expect(try Blectl.run("decode", "att", file).text == "Read Request  handle 0x0012\n")
    let scan = try Blectl.run("scan", "--json", "-d", "2").output
    let heard = try Blectl.run(["decode", "adv", "--json"], input: scan).records
    #expect(heard.count > 3 && heard.contains { $0.string("name") == "GateLock" } && heard.allSatisfy { $0.string("address") != nil })
  }

  /// Each line is decoded before the next one arrives.
  @Test func standardInputIsShownAsItComes() throws {
    let process = try Blectl.start(["decode", "att"], adapter: nil)
    for (line, shown) in [("0a1200", "Read Request  handle 0x0012"), ("0b64", "Read Response  value 64"), ("1e", "Confirmation")] {
      process.send(line: line)
      #expect(process.waitForOutput(containing: shown), "\(line)")
    }
    process.send([0xFF, 0x0A])
    let result = process.finish()
    #expect(result.status == 66 && result.errors.contains("Line 4 of standard input is not text."), "\(result.errors)")
  }

  /// A line without bytes is reported by its number, and does not hide the others.
  @Test func aLineThatIsNoHex() throws {
    let lines = Array("0a1200\nword\n# 0\n0b64\n0a12\n0a120\n1e".utf8)
    let path = try TemporaryFolder.file(lines)
    for (source, name) in [("-", "standard input"), (path, "\"\(path)\"")] {
      let result = try Blectl.run(["decode", "att", source], input: source == "-" ? lines : nil)
      #expect(result.status == 66, "\(result.errors)")
      let shown = result.lines.map { $0.split(separator: "  ").first ?? "" }
      #expect(shown == ["Read Request", "Read Response", "Read Request", "Handle Value Confirmation"], "\(result.text)")
      #expect(
        result.errors == """
          blectl: Line 2 of \(name) is not hex: "word".
          blectl: Line 6 of \(name) has an odd number of digits: "0a120".
          blectl: Cannot read 2 of 6 lines of \(name). 1 of 4 ATT PDUs are malformed, line 5: Attribute Handle: needs 2 bytes, has 1 (at byte 1).

          """, "\(result.errors)")
    }
    let told = try Blectl.run(["decode", "adv", "--json"], input: Array("02010\n020106\nhello\n".utf8))
    #expect(
      told.status == 66 && told.lines.count == 1 && told.errors.contains("Line 1 of standard input has an odd number"), "\(told.errors)")
    #expect(told.errors.split(separator: "\n").allSatisfy { $0.hasPrefix(#"{"error":{"kind":"input""#) }, "\(told.errors)")
  }

  @Test(arguments: [["att", "5"], ["att", "0x5"], ["value", "2a19", "5"], ["hci", "4", "0e", "4", "1", "3", "0c", "0"]])
  func aDigitAloneIsNoByte(_ words: [String]) throws {
    let result = try Blectl.run(["decode"] + words)
    #expect(result.status == 64 && result.errors.contains("odd number of digits"), "\(result.status) \(result.errors)")
  }

  /// Malformed bytes are the device's error, not the user's. The readable part is shown.
  @Test func whatIsWrongHasExitCodes() throws {
    for (words, status, mention) in [
      (["att", "0a12"], 5, "The ATT PDU is malformed: "), (["adv", "020106ff"], 5, "The advertisement is malformed: "),
      (["hci", "040e"], 5, "truncated header"), (["value", "2a19", "6400"], 5, "1 byte too many"),
      (["value", "nonsense", "64"], 64, "neither a UUID nor a name such as"), (["value"], 64, "needs a UUID"),
      (["att"], 64, "Nothing to decode."), (["att", "0a", "xx"], 64, "Invalid hex \"xx\""),
      (["att", "/nowhere"], 66, "neither hex nor a file"), (["att", "0a120"], 64, "odd number of digits"),
      (["adv", "020106", "--trace", "file"], 64, "decode uses no radio"), (["att", "-", "x"], 64, "Invalid hex \"x\""),
      (["smell", "00"], 64, "adv, att, hci"),
    ] as [([String], Int32, String)] {
      let result = try Blectl.run(["decode"] + words)
      #expect(result.status == status && result.errors.contains(mention), "\(words): \(result.status) \(result.errors)")
      #expect(result.output.isEmpty == (status != 5), "\(words): \(result.text)")
    }
    let many = try Blectl.run(["decode", "att", "-"], input: Array("0a1200\n0a\n".utf8))
    #expect(many.status == 5 && many.errors.contains("1 of 2 ATT PDUs are malformed, line 2: "), "\(many.errors)")
    #expect(try Blectl.run(["decode", "att", "-"], input: Array("0a1200\nword\n".utf8)).status == 66)
    let odd = try Blectl.run(["decode", "att", "-"], input: Array("0a1200\n0a120\n".utf8))
    #expect(odd.status == 66 && odd.errors.contains("Line 2 of standard input has an odd number of digits"), "\(odd.errors)")
    let trace = try Blectl.run(["decode", "hci", "-"], input: Array("btsnoop\0\0\0\0\u{1}".utf8))
    #expect(trace.status == 64 && trace.errors.contains("is a trace"), "\(trace.errors)")
  }

  /// A scan has other records too. Input without any advertisement is no scan.
  @Test func recordsOfSomethingElse() throws {
    let advertisement = "{\"event\":\"advertisement\",\"raw\":\"020106\"}\n"
    for (lines, status, mention) in [
      ("{\"event\":\"summary\"}\n" + advertisement, 0, ""),
      ("{\"x\":1}\n{}\n", 66, "No record in standard input is an advertisement."),
      ("# nothing\n", 0, ""),
    ] as [(String, Int32, String)] {
      let result = try Blectl.run(["decode", "adv", "-"], input: Array(lines.utf8))
      #expect(result.status == status && (mention.isEmpty ? result.errors.isEmpty : result.errors.contains(mention)), "\(result.errors)")
    }
  }

  /// The message gives the correct length, for authors of packets.
  @Test(arguments: [
    ("043e0a0740" + "00fb004808fb004808", "length 10, but 11 bytes left"),
    ("043e0c0740" + "00fb004808fb004808", "length 12, but 11 bytes left"),
  ])
  func theLengthOfAMetaEvent(_ hex: String, _ mention: String) throws {
    let result = try Blectl.run("decode", "hci", hex)
    #expect(result.status == 5 && result.text.contains("LE Data Length Change") && result.errors.contains(mention), "\(result.errors)")
  }
}
