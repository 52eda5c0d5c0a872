import Glibc
import TestSupport

/// `mac-from-adv` listens for its duration, or until it has a result.
@Suite(.timeLimit(.minutes(15))) struct MACFromAdvertisementTests {
  @Test func theFirstMACOfAnyoneEndsIt() throws {
    let result = try Blectl.run("mac-from-adv", "--first", "--json", "--duration", "0")
    #expect(result.status == 0, "\(result.errors)")
    #expect(try result.records.count == 1)
  }

  @Test func theFirstMACOfAnyoneEndsItOnAPipeToo() throws {
    let result = try Shell.run(
      "export BLECTL_CLOCK=virtual; \(Blectl.path) -i sim scan --json | \(Blectl.path) mac-from-adv --first; echo $?")
    #expect(result.output.split(separator: "\n").count == 2 && result.output.hasSuffix("\n0\n"), "\(result.output)")
  }

  /// The search is part of the duration and does not extend it.
  @Test func theDurationIncludesTheSearch() throws {
    let result = try Blectl.run("mac-from-adv", "name:nobody", "--duration", "2", "--timeout", "60")
    #expect(result.status == 2)
    #expect(result.errors.contains("devices in 2 s"), "\(result.errors)")
    #expect(try Blectl.run("mac-from-adv", "name:nobody", "--duration", "30").errors.contains("devices in 30 s"))
    // The duration is shorter than the wait for a stronger match. The data heard so far counts.
    #expect(try Blectl.run("mac-from-adv", "name:band-7", "--duration", "1").lines.first?.hasPrefix("C0:FF:EE:00:00:07 ") == true)
  }

  @Test func durationZeroIsUntilControlC() throws {
    let running = try Blectl.start(["mac-from-adv", "--duration", "0", "--json"], virtual: false, hasInput: false)
    #expect(running.waitForOutput(containing: "C0:FF:EE:00:00:07"))
    #expect(running.end(by: SIGINT).status == 130)
  }

  /// Every input line has its own record, even with the same MAC, and a confidence.
  @Test func everyLineOfAPipeHasItsRecord() throws {
    let lines = ["0dff690901020304050600000000", "# nothing", "0dff690901020304050600000000", "020106", "09ff5900010203040506"]
    let result = try Blectl.run(["mac-from-adv", "--json"], input: Array(lines.joined(separator: "\n").utf8))
    #expect(result.status == 0)
    #expect(try result.records.map { $0.int("line") } == [1, 3])
    #expect(try result.records.allSatisfy { $0.string("mac") == "01:02:03:04:05:06" && $0.string("confidence") == "high" })
    let all = try Blectl.run(["mac-from-adv", "--min-confidence", "low"], input: Array(lines.joined(separator: "\n").utf8)).lines
    #expect(all.count == 3 && all[0].hasSuffix("  line 1") && all[2].hasSuffix("  weak  line 5"), "\(all)")
  }

  /// A mere candidate is not shown as a MAC, except on request or if it is the sender's address.
  @Test func aWeakFindingIsSaidToBeOne() throws {
    let weak = try Blectl.run("mac-from-adv", "--hex", "09ff5900fe02349ea6ba", "--json")
    #expect(weak.status == 2 && weak.output.isEmpty)
    let message = weak.error?.string("message") ?? ""
    #expect(message.contains("only a MAC of low confidence: FE:02:34:9E:A6:BA") && message.contains("--min-confidence low"), "\(message)")
    let asked = try Blectl.run("mac-from-adv", "--hex", "09ff5900fe02349ea6ba", "--json", "--min-confidence", "low")
    #expect(try asked.status == 0 && asked.records.first?.string("confidence") == "low")
    let own = try Blectl.run("mac-from-adv", "--hex", "09ff5900fe02349ea6ba", "--sender", "FE:02:34:9E:A6:BA", "--json")
    #expect(try own.status == 0 && own.records.first?.string("confidence") == "high")
    let name = try Blectl.run("mac-from-adv", "--hex", "250936653430303030312d623561332d663339332d653061392d653530653234646363613965")
    #expect(name.status == 2 && name.errors.contains("name_uuid"), "\(name.errors)")
    #expect(try Blectl.run("mac-from-adv", "--min-confidence", "sure", "--hex", "020106").status == 64)
  }

  /// Errors in the data are reported and hide no valid part. Only invalid hex is a usage error.
  @Test func malformedDataIsToldAsThat() throws {
    for (hex, status, mention) in [
      ("", 64, "--hex is empty"), ("zz", 64, "Invalid hex \"zz\""), ("0201", 2, "claims 2 bytes, but 1 is left"),
      ("09ff6909010203040506 05ff", 0, "--hex is malformed: the structure at byte 10 claims 5 bytes, but 1 is left"),
      ("020100 0405ffffee 09ff6909010203040506", 0, "32-bit UUID list is not a multiple of 4"),
      // From a public capture.
      ("0201021b05ffffee1bc878f64a4690dd5ad9e71f4e4177f011694babb7fe68", 2, "32-bit UUID list is not a multiple of 4"),
    ] as [(String, Int32, String)] {
      let result = try Blectl.run("mac-from-adv", "--hex", hex)
      #expect(result.status == status && result.errors.contains(mention), "\(hex): \(result.status) \(result.errors)")
      #expect((status == 0) == result.text.hasPrefix("01:02:03:04:05:06"))
    }
    let piped = try Blectl.run(["mac-from-adv"], input: Array("020106\n0301\n".utf8))
    #expect(piped.status == 2 && piped.errors.contains("line 2 is malformed"), "\(piped.errors)")
  }

  /// A line without bytes is reported, and hides none after it.
  @Test func aLineThatCannotBeReadHidesNoOther() throws {
    let result = try Blectl.run(["mac-from-adv"], input: Array("hello\n09ff6909010203040506\n02010\n".utf8))
    #expect(result.status == 66 && result.text.hasPrefix("01:02:03:04:05:06"), "\(result.text)\(result.errors)")
    #expect(
      ["Line 1 of standard input is neither", "Line 3 of standard input has an odd", "2 lines of"].allSatisfy(result.errors.contains))
  }

  @Test func whatWasTriedIsSaid() throws {
    let result = try Blectl.run("mac-from-adv", "--rule", "mfg:0x0305@-6:le", "--hex", "020106")
    #expect(result.status == 2 && result.errors.contains("no match for mfg:0x0305@-6:le."), "\(result.errors)")
    #expect(try Blectl.run("mac-from-adv", "--hex", "020106").errors.contains("no known layout fits"))
  }

  /// Two sources: it would be unclear which one is read.
  @Test func aPipeBesideAPeerIsNotSilentlyIgnored() throws {
    let result = try Blectl.run(["mac-from-adv", "name:band-7"], input: Array("020106\n".utf8))
    #expect(
      result.status == 0
        && result.errors == "note: blectl does not read standard input here. To decode its lines, leave out PEER.\n")
    #expect(try Blectl.run("mac-from-adv", "name:band-7").errors.isEmpty)
  }

  @Test(arguments: ["", "mfg:0x0305", "svc:fe9@0:le", "name@4", "\u{1B}[2J@0:le"]) func aWrongRuleIsShownARightOne(_ rule: String) throws {
    let result = try Blectl.run("mac-from-adv", "--rule", rule, "--hex", "020106")
    #expect(result.status == 64)
    #expect(result.errors.contains("mfg:0x0305@-6:le") && !result.errors.contains("\u{1B}"), "\(result.errors)")
  }

  @Test func anyServiceInARule() throws {
    let result = try Blectl.run("mac-from-adv", "--rule", "svc:*@0:be", "--hex", "09160f18010203040506")
    #expect(result.lines.first?.hasPrefix("01:02:03:04:05:06 ") == true, "\(result.errors)")
  }

  /// The MAC of a label, in the data of all devices.
  @Test func aLabel() throws {
    let live = try Blectl.run("mac-from-adv", "--learn", "A4:C1:38:00:11:22")
    #expect(live.status == 0 && live.lines.count == 1, "\(live.text)")
    let parts = ["D1:00:00:00:00:01/random", " dBm", "manufacturer_data/0305", "little-endian", "--rule mfg:0x0305@-6:le"]
    #expect(parts.allSatisfy { live.text.contains($0) } && !live.text.contains("≠"), "\(live.text)")
    let record = try #require(try Blectl.run("mac-from-adv", "--learn", "A4:C1:38:00:11:22", "--json").records.first)
    #expect(record.string("event") == "mac" && record.string("rule") == "mfg:0x0305@-6:le" && (record.int("rssi") ?? 0) < 0)
    let rule = try Blectl.run("mac-from-adv", "--rule", "mfg:0x0305@-6:le", "--first", "--json").records
    #expect(rule.count == 1 && rule[0].string("mac")?.hasPrefix("A4:C1:38:00:11:") == true)
    let none = try Blectl.run("mac-from-adv", "--learn", "A4:C1:38:99:99:99", "-d", "2")
    #expect(none.status == 2 && none.errors.contains("of 5 devices"), "\(none.errors)")
    let line = Array("0aff0503 22110038c1a4 00\n".utf8)
    let offline = try Blectl.run("mac-from-adv", "--learn", "A4:C1:38:00:11:22", input: line)
    #expect(offline.status == 0 && offline.text.contains("mfg:0x0305@0:le  line 1"), "\(offline.text)\(offline.errors)")
    let hex = try Blectl.run("mac-from-adv", "--learn", "A4:C1:38:00:11:22", "--hex", "05ff0503 0011")
    #expect(hex.status == 2 && hex.errors.contains("is not in 1 advertisement: "), "\(hex.errors)")
  }
}
