import Foundation
import Program
import TestSupport
import blectl

/// Likely first mistakes give an error of one line with the usual prefix.
@Suite(.timeLimit(.minutes(15))) struct MessageTests {
  @Test(arguments: [
    (["read", "AA:BB:CC:DD:EE", "2a19"], ["six bytes"]),
    (["read", "battery_level", "2a19"], ["\"battery_level\"", "it names an attribute", "name:battery_level", "A device is", "@ALIAS"]),
    (["write", "ff02", "01:02:03:04:05:06"], ["it names an attribute"]), (["write", "ff02", "010203040506"], ["it names an attribute"]),
    (["write", "ff02", "name:Band-7", "01"], ["Put the device first: blectl write name:Band-7 ff02 01"]),
    (["read", "2a19", "-t", "5", "C0:FF:EE:00:00:07"], ["Put the device first: blectl read C0:FF:EE:00:00:07 2a19 -t 5"]),
    (["scan", "--rssi", "-60"], ["Did you mean --min-rssi?"]), (["read", "--nonsense"], ["Unknown option --nonsense."]),
    (["read", "--rwa"], ["Did you mean --raw?"]), (["scan", "--limit", "3"], ["Did you mean --count?"]),
    (["scan", "-o", "f"], ["Did you mean --output?"]), (["read", "name:Band-7", "2a19", "--as", "uint8"], ["Did you mean u8?"]),
    (["read", "name:Band-7", "2a19", "--as", "int16"], ["Did you mean i16le or i16be?"]),
    (["read", "name:Band-7", "2a00", "--as", "string"], ["Did you mean utf8?"]),
    (["scan", "-d", "2sec"], ["-d needs seconds", "not \"2sec\".", "500ms, 2s, 1m"]),
    (["write", "name:Band-7", "ff02", "00", "--gap", "1x"], ["--gap needs milliseconds", "20ms", "not \"1x\"."]),
    (["read", "", "2a19"], ["Is a variable unset?"]), (["read", "service:nosuch", "2a19"], ["unknown service. Use a UUID or a name"]),
    (["scan", "--min-rssi", "60"], ["-127 to 20"]), (["scan", "--min-rssi", "-600"], ["-127 to 20"]),
    (["scan", "--min-rssi", "-128"], ["-127 to 20"]), (["scan", "--min-rssi", "weak"], ["weak", "a whole number"]),
    (["write", "name:Band-7", "ff02", "00", "--chunk", "0"], ["--chunk needs auto or a whole number from 1 to 512, not \"0\"."]),
    (["send-file", "name:Panel", "fff6", "f", "--window", "0"], ["--window needs auto or a whole number from 1 to 10000, not \"0\"."]),
    (["scan", "--manufacturer", "nosuch"], ["Invalid --manufacturer \"nosuch\"", "004c", "apple"]),
    (["scan", "--manufacturer", "nordic"], ["0059 Nordic Semiconductor ASA", "0ad0 Nordic Strong ApS"]),
    (["scan", "--color", "blue"], ["--color needs auto, always or never, not \"blue\"."]),
    (["scan", "--durration", "1"], ["Unknown option --durration", "Did you mean --duration?"]),
    (["scan", "--dur", "1"], ["Did you mean --duration?"]),
    (["scan", "--duration", "1", "--duration", "2"], ["--duration is given twice", "Usage: blectl scan"]),
    (["-i", "sim", "scan", "--adapter", "sim"], ["--adapter is given twice"]),
    (["write", "name:Band-7", "ff02", "00", "--chunk=1", "--chunk", "2"], ["--chunk is given twice"]),
    (["write", "name:Band-7", "ff02", ""], ["The value is empty", "--empty"]),
    (["write", "name:Band-7", "ff02", "@/dev/null"], ["\"/dev/null\" is empty", "--empty"]),
    (["write", "name:Band-7", "ff02", "-"], ["standard input is empty", "--empty"]),
    (["help", "nosuch"], ["Unknown command \"nosuch\"", "send-file"]), (["help", "scna"], ["Did you mean scan?"]),
    (["raed", "name:Band-7"], ["Unknown command \"raed\"", "Did you mean read?"]), (["-V"], ["-V", "Did you mean --version?"]),
    (["-i"], ["-i needs a value"]),
    (["--json", "-i"], ["-i needs a value"]), (["read", "@last"], ["Missing", "ATTRIBUTE", "battery_level"]),
    (["connect", "@last", "now"], ["connect '@last now'"]), (["write", "name:Band-7", "ff02", "-5", "-6", "--as", "i8"], ["-5"]),
  ])
  func wrongUse(_ arguments: [String], _ mentions: [String]) throws {
    let result = try Blectl.run(arguments)
    #expect(result.status == 64 && result.output.isEmpty, "\(result.status) \(result.errors)")
    if arguments.contains("--json") {
      let message = try #require(result.error?.string("message"))
      for mention in mentions { #expect(message.contains(mention), "\(message)") }
      return
    }
    let lines = result.errors.split(separator: "\n")
    #expect(lines.first?.hasPrefix("blectl: ") == true, "\(result.errors)")
    #expect(
      [1, 3].contains(lines.count) && lines.dropFirst().allSatisfy { $0.hasPrefix("Usage: ") || $0.hasPrefix("  Help: ") },
      "\(result.errors)"
    )
    for mention in mentions { #expect(result.errors.contains(mention), "\(mention): \(result.errors)") }
  }

  static let more: [([String], [String])] = [
    (["write", "name:Band-7", "ff02", "-5"], ["Invalid hex \"-5\"", "another format"]),
    (["write", "name:Band-7", "ff02", "0-1"], ["Invalid hex \"0-1\""]),
    (["write", "name:Band-7", "ff02", "OPEN"], ["another format, use --as: utf8"]),
    (["write", "name:Band-7", "ff02", "00", "--read-back"], ["it is not readable. Nothing was written."]),
    (["notify", "name:Band-7", "2a37", "-n", "-1"], ["--count takes 1 or more, not -1"]),
    (["read", "name:Band-7", "2a19", "-t", "-1"], ["--timeout takes seconds"]),
    (["read", "name:Band-7", "2a19", "--retries", "-1"], ["--retries takes 0 to 100, not -1"]),
    (["read", "name:Band-7", "2a19", "--raw", "--as", "u8"], ["exclude each other"]),
    (["-n", "1", "notify", "name:Band-7", "2a37"], ["\"-n\" is not a global option. Use: blectl notify -n 1 name:Band-7 2a37"]),
    (["-b", "D1:00:00:00:00:01", "read"], ["\"-b\" is not a global option"]), (["read", "name:", "2a19"], ["the name is missing"]),
    (["read", "NAME:Band-7", "2a19"], ["write name: in lower case"]),
    (["read", "D1:00:00:00:00:01/foo", "2a19"], ["public or random"]), (["scan", "--manufacturer", "nosuchcompany"], ["no company"]),
    (["scan", "--manufacturer", "ace"], ["2 companies match: 00bc Ace Sensor"]),
    (["mac-from-adv", "name:Band-7", "--mtu", "23"], ["need --connect"]), (["scan", "--name", ""], ["Is a variable unset?"]),
    (["scan", "--log", "-"], ["name of a file"]),
    ([], ["scan"]), (["scan", "--count", "0"], ["--count"]), (["scan", "--duration", "-1"], ["--duration"]),
    (["scan", "--phy", "2m"], ["--phy"]), (["read", "mac:nopeer", "ffe1"], ["nopeer"]),
    (["write", "name:Band-7", "ff02", "256", "--as", "u8"], ["256"]), (["read", "name:Band-7", "0x10000"], ["0x10000"]),
    (["read", "name:Band-7", "0x0000"], ["0x0000"]), (["read", "name:Band-7", "ffe1[0]"], ["ffe1[0]"]), (["connect"], ["Name the device"]),
    (["-i", "bogus", "scan"], ["bogus"]), (["scan", "-i", "tcp:host"], ["tcp:host"]), (["mac-from-adv", "--hex", "zz"], ["zz"]),
    (["mac-from-adv", "--rule", "nonsense", "--hex", "00"], ["nonsense"]), (["--timeout", "0", "scan"], ["--timeout"]),
    (["mac-from-adv", "--sender", "AA:AA:AA:AA:AA:AA"], ["--sender"]), (["mac-from-adv", "--duration", "-1"], ["--duration"]),
  ]

  @Test(arguments: more) func whatIsWrongAndWhatIsMeant(_ words: [String], _ mentions: [String]) throws {
    let result = try Blectl.run(words)
    #expect(result.status == 64 && result.output.isEmpty, "\(result.status) \(result.errors)")
    for mention in mentions { #expect(result.errors.contains(mention), "\(result.errors)") }
  }

  /// Control characters in names of files, selectors, adapters and settings appear in no message and no result.
  @Test func nothingThatATerminalObeys() throws {
    let evil = "e\u{1B}[31m\n\u{202E}\u{9B}2J"
    let folder = TemporaryFolder.path() + "/" + evil
    try FileManager.default.createDirectory(atPath: folder + "/blectl", withIntermediateDirectories: true)
    func path(_ name: String, _ text: String) throws -> String {
      let path = "\(folder)/\(evil)\(name)"
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      return path
    }
    try Data(#"{"aliases": {"\u001b[31m\n": "nothing\u001b[31m", "ok": "name:\u001b[31m"}}"#.utf8).write(
      to: URL(fileURLWithPath: folder + "/blectl/config.json"))
    let script = try path("s.blectl", "read @\(evil)\n")
    let passing = try path("t.blectl", "test \"a\"\n  connect name:Band-7\n  read 2a19\n  expect == 00\nend\n")
    let (wrong, folderItself) = (try path("w", "{\"\u{1B}[31m\": 1}"), "\(folder)/blectl")
    let table: [[String]] = [
      [evil], ["help", evil], ["--\(evil)", "scan"], ["scan", "--\(evil)"], ["scan", evil, evil], ["Usage: \(evil)"], ["-i", evil, "scan"],
      ["-i", "sim:\(evil)", "scan"], ["-i", "sim:\(wrong)", "scan"], ["-i", "replay:\(evil)", "scan"], ["-i", "replay:\(wrong)", "scan"],
      ["-i", "unix:\(evil)", "scan"], ["-i", "tcp:\(evil):1", "scan"], ["-i", "serial:/\(evil)", "scan"],
      ["sim", "--listen", "unix:/no/\(evil)"],
      ["scan", "--log", "\(evil)/x"], ["scan", "--trace", "/no/\(evil)"], ["read", "name:Band-7", "2a19", "--record", "/no/\(evil)"],
      ["scan", "--name", evil, "--duration", "1"], ["scan", "--service", evil], ["scan", "--manufacturer", evil],
      ["scan", "--device", evil],
      ["scan", "--device", wrong], ["scan", "--color", evil], ["scan", "--address", "@\(evil)"], ["scan", "--key", evil],
      ["connect", evil], ["connect", "name:\(evil)", "-t", "1"], ["connect", "name:\(evil)*", "-t", "1", "-vv"], ["connect", "@\(evil)"],
      ["connect", "@\u{1B}[31m\n"], ["connect", "@ok", "-t", "1"], ["peers"], ["-e", "alias; connect @ok -t 1"],
      ["-e", "read \(evil)", "name:Band-7"],
      ["-e", evil, "name:Band-7"], ["-e", "use '\(evil)'", "name:Band-7"], ["-e", "set '\(evil)' 1"], ["-e", "source '\(evil)'"],
      ["-e", "source '\(wrong)'"], ["-e", "alias '\(evil)' name:Band-7"], ["-e", "wait ff01 '\(evil)' -t 1", "name:Band-7"],
      ["read", "name:Band-7", evil], ["read", "name:Band-7", "2a19@\(evil)"], ["read", "name:Band-7", "\(evil)/2a19"],
      ["read", "name:Band-7", "2a19", "--as", evil], ["write", "name:Band-7", "ff02", evil], ["write", "name:Band-7", "ff02", "@\(evil)"],
      ["write", "name:Band-7", "ff02", "00", "--expect", "\(evil)=00"], ["write", "name:Band-7", "ff02", "00", "--fail-on", evil],
      ["notify", "name:Band-7", "2a37", "--svg", "/no/\(evil)", "-n", "1"], ["notify", "name:Band-7", "2a37", "--write", evil],
      ["send-file", "name:Band-7", "ff02", evil], ["send-file", "name:Band-7", "ff02", folderItself],
      ["send-file", "name:Band-7", "ff02", wrong, "--offset", "999"],
      ["send-file", "name:Band-7", "ff02", wrong, "--verify", "notify:\(evil)"],
      ["mac-from-adv", "--rule", evil], ["mac-from-adv", "--hex", evil], ["mac-from-adv", "--device", wrong],
      ["call", "name:Band-7", evil],
      ["call", "name:Band-7", "battery", "\(evil)=1"], ["call", "name:Band-7", "battery", "--device", evil],
      ["call", "name:Band-7", "battery", "--device", wrong], ["decode", evil], ["decode", "trace", evil], ["decode", "trace", wrong],
      ["decode", "value", evil, "00"], ["decode", "adv", evil], ["run", evil], ["run", script], ["run", passing],
      ["run", "--tap", passing],
      ["run", folderItself], ["run", passing, "--only", evil], ["run", passing, "--tag", evil], ["run", passing, "--set", "\(evil)=1"],
      ["run", passing, "--set", evil], ["run", passing, "--peer", evil], ["run", passing, "--junit", "/no/\(evil)"],
      ["run", passing, "--html", "/no/\(evil)"], ["run", passing, "--check"], ["tune", "name:Band-7", evil], ["services", "@\(evil)"],
      ["gatttool", "-b", evil, "--primary"], ["gatttool", "-i", evil, "-b", "AA:BB:CC:DD:EE:FF", "--primary"], ["gatttool", "--\(evil)"],
      ["gatttool", "-b", "C0:FF:EE:00:00:07", "--char-read", "-a", evil],
      ["gatttool", "-b", "C0:FF:EE:00:00:07", "--char-write", "-a", "1", "-n", evil],
      ["adapters", "-i", "hci\(evil)"], ["doctor", evil], ["browse", evil],
    ]
    for arguments in table {
      for words in [arguments, arguments + ["--json"]] {
        let result = try Blectl.run(words, environment: ["XDG_CONFIG_HOME": folder, "XDG_STATE_HOME": folder])
        for text in [result.errors, result.text] {
          let bad = text.unicodeScalars.filter { $0 != "\n" && ($0.properties.generalCategory == .control || $0.properties.isBidiControl) }
          #expect(bad.isEmpty, "\(words): \(text.debugDescription)")
        }
        // A line feed in a name starts no new line.
        #expect(
          !result.errors.contains("\n\\u{202e}") && !result.errors.contains("\n\u{202E}"), "\(words): \(result.errors.debugDescription)")
      }
    }
  }

  /// Users may type a part of a name. The error suggests the whole name.
  @Test func aPartOfANameIsRecognised() throws {
    let part = try Blectl.run("read", "name:band", "2a19")
    #expect(part.status == 2 && part.errors.contains("(Band-7, GateLock, Panel, SafeLock). Did you mean Band-7? "), "\(part.errors)")
    let other = try Blectl.run("read", "name:nobody", "2a19")
    #expect(
      other.status == 2 && other.errors.contains("(Band-7, GateLock, Panel, SafeLock). Check that it is on, in range"), "\(other.errors)")
    #expect(try Blectl.run("read", "name:*band*", "2a19").status == 0)
    let nameless = try TemporaryFolder.file(#"{"name": "Cell", "address": "D1:00:00:00:00:30/random", "services": []}"#)
    let none = try Blectl.run("read", "Band-7", "2a19", adapter: "sim:\(nameless)")
    #expect(none.status == 2 && none.errors.contains("heard 1 other device in 11 s, none with a name. Check that"), "\(none.errors)")
  }

  @Test func aTimeoutOfAScanIsNoDuration() throws {
    #expect(try Blectl.run("scan", "-t", "2", "-d", "1").errors.contains("--timeout has no effect on scan."))
  }

  /// Unrelated options are not suggested.
  @Test(arguments: ["--sorting", "--nonsense", "-x"]) func nothingNearIsNotSuggested(_ option: String) throws {
    let result = try Blectl.run("scan", option)
    #expect(result.status == 64)
    #expect(result.errors.contains("Unknown option \(option).") && !result.errors.contains("Did you mean"), "\(result.errors)")
  }

  @Test func aLineFeedInAWordMakesNoSecondLine() throws {
    let message = try Blectl.run("read", "two\nlines", "2a19").errors
    #expect(message.split(separator: "\n").count == 1 && message.contains("name:two"), "\(message)")
  }

  @Test func numbersBelowZeroAreTakenAsTheyStand() throws {
    let file = try TemporaryFolder.file(
      """
      { "name": "Cell", "address": "D1:00:00:00:00:51/random", "advertisement": { "name": "Cell" }, "services": [
        { "uuid": "fff0", "characteristics": [ { "uuid": "fff1", "properties": ["read", "write"], "value": "00" } ] } ] }
      """)
    for words in [["-5", "--as", "i8"], ["--as", "i8", "-5"], ["--read-back", "-5", "--as", "i8"], ["--as", "i8", "--", "-5"]] {
      let result = try Blectl.run(
        ["write", "name:Cell", "fff1"] + words + ["--trace", "/dev/null"].prefix(words.contains("--") ? 0 : 2), adapter: "sim:\(file)")
      #expect(result.status == 0, "\(words): \(result.errors)")
    }
    #expect(
      try Blectl.run("write", "name:Cell", "fff1", "-5", "--as", "i8", "--gap", "-1", adapter: "sim:\(file)").errors.contains("--gap"))
    let answer = try Blectl.run("write", "name:Cell", "fff1", "-1,-2", "--as", "i8", "--json", adapter: "sim:\(file)")
    #expect(try answer.records.first?.int("bytes") == 2, "\(answer.errors)")
    let near = try Blectl.run("scan", "--min-rssi", "-60", "--duration", "3", "--json")
    #expect(try Set(near.records.compactMap { $0.string("name") }) == ["Panel", "GateLock"], "\(near.errors)")
  }

  @Test(arguments: ["mac:a4c138001133", "mac:A4-C1-38-00-11-33", "D10000000002", "d1-00-00-00-00-02/random"])
  func anAddressNeedsNoColons(_ peer: String) throws {
    let result = try Blectl.run("connect", peer, "--json")
    #expect(try result.records.first?.string("address") == "D1:00:00:00:00:02", "\(result.errors)")
  }

  @Test(arguments: ["read", "write"]) func aUUIDWith0xIsAHandle(_ command: String) throws {
    let result = try Blectl.run([command, "name:Band-7", "0x2a19"] + (command == "write" ? ["00", "--mode", "request"] : []))
    #expect(result.status == 2, "\(result.errors)")
    #expect(result.errors.contains("0x marks a handle. For the UUID, type 2a19."), "\(result.errors)")
  }

  @Test func aCompanyHasAName() throws {
    let file = try TemporaryFolder.file(
      """
      [ { "name": "Pod", "address": "D1:00:00:00:00:52/random", "advertisement": { "name": "Pod", "manufacturer_data": {"004c": "0215aa"} } },
        { "name": "Pen", "address": "D1:00:00:00:00:53/random", "advertisement": { "name": "Pen", "manufacturer_data": {"0006": "0215aa"} } } ]
      """)
    for name in ["apple", "Apple, Inc.", "apple:0215", "0x004c", "004c:02"] {
      let result = try Blectl.run("scan", "--manufacturer", name, "--duration", "2", "--json", adapter: "sim:\(file)")
      #expect(try Set(result.records.compactMap { $0.string("name") }) == ["Pod"], "\(name) \(result.errors)")
    }
  }

  @Test func emptyValuesThatAreMeantAreWritten() throws {
    let result = try Blectl.run("write", "name:Band-7", "ff02", "", "--empty", "--json")
    #expect(result.status == 0, "\(result.errors)")
    #expect(try result.records.first?.int("bytes") == 0)
    #expect(try Blectl.run(["write", "name:Band-7", "ff02", "-", "--empty"], input: []).status == 0)
  }

  @Test(arguments: ["virtal", "Virtual", "1"]) func theClockIsSpelledRight(_ clock: String) throws {
    let result = try Blectl.run(["scan", "--duration", "1"], environment: ["BLECTL_CLOCK": clock])
    #expect(result.status == 64, "\(result.errors)")
    #expect(result.errors.hasPrefix("blectl: Invalid BLECTL_CLOCK \"\(clock)\". Use virtual or real."), "\(result.errors)")
    let json = try Blectl.run(["scan", "--json"], environment: ["BLECTL_CLOCK": clock])
    #expect(json.status == 64 && json.error?.string("kind") == "usage")
  }

  @Test func itsOwnOutputIsRead() throws {
    let scan = try Blectl.run("scan", "--raw", "--duration", "3")
    let macs = try Blectl.run(["mac-from-adv", "--json"], input: scan.output)
    #expect(macs.status == 0, "\(macs.errors)")
    #expect(
      try Set(macs.records.map { "\($0.string("address") ?? "") \($0.string("mac") ?? "")" }) == [
        "C0:FF:EE:00:00:07 C0:FF:EE:00:00:07", "D1:00:00:00:00:01 A4:C1:38:00:11:22", "D1:00:00:00:00:02 A4:C1:38:00:11:33",
      ])
  }

  /// A shell loop reads its next lines from the standard input that its commands share.
  @Test func theInputOfALoopIsLeftAlone() throws {
    let shell = try Shell.run(
      "printf '%s\\n' A4:C1:38:00:11:22 A4:C1:38:00:11:33 | while read m; do BLECTL_CLOCK=virtual \(Blectl.path) -i sim connect mac:$m --json; done"
    )
    #expect(shell.output.split(separator: "\n").count == 2, "\(shell.output) \(shell.errors)")
  }

  @Test func aDashKeepsTheLinkUntilTheInputEnds() throws {
    let running = try Blectl.start(["connect", "name:Band-7", "-", "--json"], virtual: false)
    #expect(running.waitForOutput(containing: "connected"))
    #expect(running.isRunning)
    running.send(Array("read 2a19\n".utf8))
    let result = running.finish()
    #expect(try result.status == 0 && result.records.map { $0.string("event") } == ["connected", "value", "done"], "\(result.errors)")
  }

  @Test(arguments: [["write", "name:Band-7", "ff02", "-"], ["send-file", "name:Panel", "fff6", "-"]])
  func soIsOneThatAValueIsReadFrom(_ words: [String]) throws {
    let running = try Blectl.start(words, virtual: false)
    #expect(running.waitForOutput(containing: "Waiting for standard input to end"))
    running.send([1, 2])
    #expect(running.finish().status == 0)
  }

  @Test func aWindowOfRequestsIsNone() throws {
    let file = try TemporaryFolder.file([1, 2, 3])
    let result = try Blectl.run("send-file", "name:Panel", "fff6", file, "--mode", "request", "--window", "4")
    #expect(result.status == 0 && result.errors.contains("only one request is in flight"), "\(result.errors)")
  }

  @Test func anIdlePipeIsToldOf() throws {
    let running = try Blectl.start(["mac-from-adv"], virtual: false)
    #expect(running.waitForOutput(containing: "Waiting for lines on standard input"))
    running.send(Array("020106\n".utf8))
    #expect(running.finish().status == 2)
  }

  @Test func twoOfTheSameInOneService() throws {
    func file(_ services: [String]) throws -> String {
      let services = services.map {
        #"{"uuid": "\#($0)", "characteristics": [{"uuid": "ff01", "properties": ["read"], "value": "01"}, {"uuid": "ff01", "properties": ["read"], "value": "02"}]}"#
      }.joined(separator: ",")
      return try TemporaryFolder.file(
        #"{"name": "Twins", "address": "D1:00:00:00:00:20/random", "advertisement": {"name": "Twins"}, "services": [\#(services)]}"#)
    }
    let one = try Blectl.run("read", "name:Twins", "ff01", adapter: "sim:\(file(["fff0"]))")
    #expect(one.status == 2 && one.errors.contains("fff0/ff01[2]"), "\(one.errors)")
    #expect(one.errors.matches(of: /\(0x00[0-9a-f]{2}, read\)/).count == 2, "\(one.errors)")
    let two = try Blectl.run("read", "name:Twins", "ff01", adapter: "sim:\(file(["fff0", "fff2"]))")
    #expect(two.status == 2 && two.errors.contains("fff2/ff01[2]"), "\(two.errors)")
  }

  @Test(arguments: ["C", "POSIX", "en_US.ISO-8859-1"]) func withoutUnicodeTheLinesAreASCII(_ locale: String) throws {
    let result = try Blectl.run(["services", "name:Band-7"], environment: ["LC_ALL": locale, "LANG": "C.UTF-8"])
    #expect(result.output.allSatisfy { $0 < 0x80 } && result.text.contains("|- 2a29"), "\(result.text)")
    let mac = try Blectl.run(["mac-from-adv", "name:GateLock"], environment: ["LC_ALL": locale])
    #expect(mac.output.allSatisfy { $0 < 0x80 }, "\(mac.text)")
    let missing = try Blectl.run(["write", "name:Band-7", "ff02", "@/nonexistent"], environment: ["LC_ALL": locale])
    #expect(missing.errors.utf8.allSatisfy { $0 < 0x80 } && missing.errors.contains("\"/nonexistent\""), "\(missing.errors)")
  }

  @Test(arguments: ["C.UTF-8", "de_DE.utf8", ""]) func withUnicodeTheyAreNot(_ locale: String) throws {
    #expect(try Blectl.run(["services", "name:Band-7"], environment: ["LC_ALL": locale]).text.contains("├─ 2a29"))
  }

  @Test func oneByteInOneSegment() throws {
    let result = try Blectl.run("send-file", "name:Panel", "fff6", try TemporaryFolder.file([1]))
    #expect(
      result.text.hasPrefix("Sent 1 byte in 0.") && result.text.contains(" kB/s") && result.text.contains(", 1 segment of "),
      "\(result.text)")
    #expect(
      try Blectl.run("write", "name:Band-7", "ff02", "00", "-v").errors.contains(
        "Wrote 1 byte to ff02 (command, 1 segment, not verified)\n"))
  }
}
