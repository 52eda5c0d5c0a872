import Foundation
import TestSupport

/// `call` runs commands of device files through the program.
@Suite(.timeLimit(.minutes(15))) struct CallTests {
  private static let band = "name:Band-7"
  private static let tracker = ManualTests.root.appendingPathComponent("man/examples/tracker.json").path

  private func track(_ arguments: String..., json: Bool = false) throws -> ProcessResult {
    try Blectl.run(
      ["call", "--device", Self.tracker, "name:Tracker"] + arguments + (json ? ["--json"] : []), adapter: "sim:\(Self.tracker)")
  }

  /// A person sees a confirmation, and a program gets a record.
  @Test func anAnswerWithoutFields() throws {
    let result = try made("", ["other", "-v"])
    #expect(
      result.status == 0 && result.text.isEmpty && result.errors.contains("The device confirmed other."), "\(result.errors)")
  }

  /// Runs `call` against a device with the given answers.
  private func made(_ answers: String, _ arguments: [String] = ["go"], json: Bool = false) throws -> ProcessResult {
    let text = #"""
      {"device": "Made", "to": "ff02", "from": "ff01",
       "frames": {"answer": {"header": "56", "fields": [{"name": "total", "type": "u8"}, {"name": "number", "type": "u8"}, {"name": "v", "type": "u8"}, {"checksum": "sum8"}]}},
       "commands": {
         "go": {"request": {"header": "01"}, "answer": {"frame": "answer", "count": {"field": "total"}, "index": "number", "within_ms": 500}},
         "other": {"request": {"header": "02"}, "answer": {"frame": {"header": "57"}}}
       },
       "events": {"sos": {"frame": {"header": "f0", "fields": [{"name": "n", "type": "u8"}]}}},
       "simulate": {"name": "Made", "address": "D1:00:00:00:0D:02/random", "advertisement": {"name": "Made"}, "services": [{"uuid": "fff0", "characteristics": [
         {"uuid": "ff01", "properties": ["notify"]}, {"uuid": "ff02", "properties": ["write"]}]}],
        "answers": {"go": [\#(answers)], "other": [{"notify": "ff01", "value": "57"}]}}}
      """#
    let file = try TemporaryFolder.file(text)
    return try Blectl.run(["call", "--device", file, "name:Made"] + arguments + (json ? ["--json"] : []), adapter: "sim:\(file)")
  }

  private func packets(_ all: String...) -> String {
    all.map { #"{"notify": "ff01", "value": "\#($0)", "after_ms": 10}"# }.joined(separator: ",")
  }

  // MARK: Answers

  @Test func oneAnswer() throws {
    #expect(try Blectl.run("call", Self.band, "battery").text == "level = 60 %\n")
    let record = try #require(try Blectl.run("call", Self.band, "battery", "--json").records.first)
    #expect(record.string("event") == "answer" && record.string("command") == "battery" && record["values"]?.int("level") == 60)
    #expect(record.strings("packets") == ["567b3c0d"])
    #expect(
      record.string("address") == "C0:FF:EE:00:00:07" && record.string("address_type") == "public" && record.string("name") == "Band-7")
  }

  @Test func severalPackets() throws {
    #expect(try Blectl.run("call", Self.band, "history").text == "steps = 5120, 7310, 10411, 4096, 9027, 12650\n")
    #expect(try Blectl.run("call", Self.band, "history", "--json").records.first?.strings("packets").count == 3)
    let days = try track("history", "from=3", "days=2")
    #expect(days.text.hasPrefix("goal = 10000 steps\nhistory[1] = steps ") && days.lines.count == 3, "\(days.text)")
  }

  @Test func theLock() throws {
    let code = (0..<103).map { UInt8($0) }
    let right = Hex.encode(code + [0 &- code.reduce(0, &+)])
    let file = try TemporaryFolder.file(code + [0 &- code.reduce(0, &+)])
    for argument in [right, "@\(file)"] {
      #expect(try Blectl.run("call", "mac:A4:C1:38:00:11:22", "open", "code=\(argument)").text == "door = OPEN\n")
    }
    let wrong = try Blectl.run("call", "mac:A4:C1:38:00:11:33", "open", "code=\(right.dropLast(2))00", "--json")
    #expect(wrong.status == 5 && wrong.error?.string("kind") == "device" && wrong.error?.string("name") == "FAIL")
    #expect(wrong.error?.string("message") == "open: the device answered FAIL: this is not the code.")
  }

  @Test func valuesOfAllKinds() throws {
    let values = try #require(try track("battery", json: true).records.first?["values"])
    #expect(
      values.int("level") == 80 && values.double("voltage") == 3.95 && values.string("state") == "charging" && values.int("worn") == 1)
    #expect(try track("contacts", "spans=7/30,8/15").text == "spans[1] = hour 7, minutes 30\nspans[2] = hour 8, minutes 15\n")
    let ring = try track("ring", "seconds=9")
    #expect(ring.status == 0 && ring.text.isEmpty)
  }

  /// Unsolicited values are no answers, and are shown.
  @Test func eventsMeanwhile() throws {
    let position = try track("position")
    #expect(position.status == 0 && position.text.hasPrefix("latitude = 52.5200066 °\n"))
    #expect(position.errors.contains("note: event heart_rate: rate "))
    let refused = try track("position", "patience=3", json: true)
    #expect(refused.status == 5 && refused.error?.int("code") == 4 && refused.error?.string("message")?.contains("no satellites") == true)
  }

  // MARK: What is no answer

  /// Bad packets, with the exit status and parts of the error.
  @Test func packetsThatAreNotTaken() throws {
    let table: [([String], Int32, String)] = [
      ([], 4, "go: no answer in 0.5 s."),
      (["5602010a63", "56020"], 5, "received 1 of 2 packets of the answer in 0.5 s. Ignored: 560200 (cut: 3 of 5 bytes)."),
      (["5602010a63", "5602010a63"], 4, "5602010a63 (repeated)"),
      (["5602020b65"], 5, "5602020b65 (out of order: number 2, expected 1)"),
      (["5602010a64"], 5, "5602010a64 (checksum 64, should be 63)"),
      (["99", "57", "f007"], 4, "99 (not in the device file), 57 (an answer to other). Events: sos."),
      (["5602010a6300"], 5, "(6 bytes, not 5)"),
      (["f0"], 5, "f0 (event sos, cut: 1 of 2 bytes)"),
    ]
    for (all, status, message) in table {
      let result = try made(all.map { packets($0 == "56020" ? "560200" : $0) }.joined(separator: ","))
      #expect(
        result.status == status && result.text.isEmpty && result.errors.contains(message), "\(all): \(result.status) \(result.errors)")
    }
    // The answer still arrives.
    let late = try made(packets("99", "5602020b65", "5602010a63", "f001", "5602010a63", "5602020b65"))
    #expect(late.status == 0 && late.text == "v = 10, 11\n")
    for note in ["99 (not in the device file)", "out of order: number 2, expected 1", "repeated", "event sos: n 1"] {
      #expect(late.errors.contains(note), "\(late.errors)")
    }
  }

  @Test func aLimitOfOnesOwn() throws {
    let slow = #"{"notify": "ff01", "value": "5601010a62", "after_ms": 3000}"#
    #expect(try made(slow).status == 4)
    #expect(try made(slow, ["go", "-t", "4"]).text == "v = 10\n")
  }

  // MARK: What is asked for

  @Test func whatThereIs() throws {
    #expect(try Blectl.run("call", Self.band, "--list").text.hasPrefix("battery  how full the battery is\nhistory  "))
    let list = try track("--list")
    #expect(list.text.contains("position  where it is\n  patience=  1 to 60 s (default: 10)  how long"), "\(list.text)")
    #expect(try track("--list", json: true).records.count == 6)
  }

  @Test func wrongUse() throws {
    let table: [([String], Int32, String)] = [
      (["batery"], 64, "Tracker has no command \"batery\". Did you mean battery? "), (["nope"], 64, "defines battery, position, configure"),
      (["position", "patience=0"], 64, "position: patience: 0 is out of range (1 to 60)"),
      (["position", "patience=x"], 64, "\"x\" is not a number"),
      (["battery", "x=1"], 64, "battery has no parameter \"x\". It takes none."),
      (["configure"], 64, "configure: number is missing"), (["position", "patience=1", "patience=2"], 64, "patience is given twice"),
      (["position", "patience"], 64, "is not a parameter"), ([], 64, "Name a command"),
      (["--list", "battery"], 64, "--list takes no command"),
    ]
    for (arguments, status, message) in table {
      let result = try Blectl.run(["call", "--device", Self.tracker, "name:Nobody"] + arguments, adapter: "sim:\(Self.tracker)")
      #expect(result.status == status && result.errors.contains(message), "\(arguments): \(result.status) \(result.errors)")
    }
  }

  // MARK: Which file

  /// An air made of a device file needs no `--device`.
  @Test func theFileOfTheAir() throws {
    let result = try Blectl.run(["call", "name:Tracker", "battery"], adapter: "sim:\(Self.tracker)")
    #expect(result.status == 0 && result.text.hasPrefix("level = 80 %\n"), "\(result.errors)")
  }

  @Test func theManualsExample() throws {
    let page = try String(contentsOf: ManualTests.root.appendingPathComponent("man/blectl-device.5"), encoding: .utf8)
    let example = try #require(page.components(separatedBy: ".Sh EXAMPLES").last?.components(separatedBy: ".Bd -literal\n").last)
    let text = try #require(example.components(separatedBy: ".Ed").first).replacingOccurrences(of: "\\(de", with: "°")
    let file = try TemporaryFolder.file(text)
    func run(_ arguments: String...) throws -> ProcessResult {
      try Blectl.run(["call", "name:Thermo-1", "history"] + arguments, adapter: "sim:\(file)")
    }
    let result = try run()
    #expect(
      result.status == 0 && result.text.hasPrefix("temperature = 21.5, ") && result.text.hasSuffix(" °C\n"),
      "\(result.text) \(result.errors)")
    let refused = try run("from=29")
    #expect(refused.status == 5 && refused.errors.contains("no such day"), "\(refused.errors)")
  }

  @Test func whichFileFits() throws {
    let folder = TemporaryFolder.path()
    let devices = "\(folder)/blectl/devices"
    try FileManager.default.createDirectory(atPath: devices, withIntermediateDirectories: true)
    func put(_ name: String, _ text: String) throws { try text.write(toFile: "\(devices)/\(name)", atomically: true, encoding: .utf8) }
    func run(_ arguments: String...) throws -> ProcessResult {
      try Blectl.run(["call"] + arguments, environment: ["XDG_CONFIG_HOME": folder])
    }
    let body =
      #""to": "ff02", "from": "ff01", "commands": {"mine": {"request": {"header": "1b9901"}, "answer": {"frame": {"header": "567b", "fields": [{"name": "left", "type": "u8"}, {"skip": 1}]}}}}}"#
    // A file that matches another device.
    try put("a.json", #"{"device": "A", "match": {"name": "Other*"}, \#(body)"#)
    #expect(try run(Self.band, "battery").text == "level = 60 %\n")
    let none = try run("name:Panel", "x")
    #expect(none.status == 2 && none.errors.contains("No device file matches Panel"), "\(none.errors)")
    try put("unmatched.json", #"{"device": "U", \#(body)"#)
    let unmatched = try run("name:Panel", "x").errors
    #expect(unmatched.contains("/unmatched.json has no \"match\"") && unmatched.contains("--device /"), "\(unmatched)")
    // The user's files take precedence over the installed ones.
    try put("b.json", #"{"device": "B", "match": {"name": ["band-*"], "manufacturer_data": {"0157": "020a"}}, \#(body)"#)
    #expect(try run(Self.band, "mine").text == "left = 60\n")
    #expect(try run("C0:FF:EE:00:00:07/public", "mine").text == "left = 60\n")
    try put("c.json", #"{"device": "C", "match": {"services": ["fee0", "180d"]}, \#(body)"#)
    let both = try run(Self.band, "mine")
    #expect(
      both.status == 2 && both.errors.contains("b.json") && both.errors.contains("c.json") && both.errors.contains("--device"),
      "\(both.errors)")
    #expect(try run(Self.band, "mine", "--device", "\(devices)/c.json").text == "left = 60\n")
    // An invalid file is reported with its line.
    try put("d.json", "{\n  \"device\": 1}")
    try FileManager.default.removeItem(atPath: "\(devices)/c.json")
    let broken = try run(Self.band, "mine")
    #expect(
      broken.status == 0 && broken.text == "left = 60\n"
        && broken.errors.contains("d.json:2:13: device: Expected a string, found a number"), "\(broken.errors)")
    #expect(try run(Self.band, "mine", "--device", "\(folder)/none.json").status == 66)
    try put("d.json", #"{"device": "D", "advertisement": {"mac": "nonsense"}}"#)
    #expect(try run(Self.band, "mine").errors.contains("advertisement.mac: Invalid MAC rule"))
    let unknown = try run("name:Panel", "x")
    #expect(unknown.status == 66 && unknown.errors.contains("d.json:1:"), "\(unknown.errors)")
  }

  // MARK: Sessions

  @Test func inASession() throws {
    let result = try Blectl.run("-e", "call battery; call history; call batery", Self.band)
    #expect(result.status == 64 && result.text == "level = 60 %\nsteps = 5120, 7310, 10411, 4096, 9027, 12650\n", "\(result.text)")
    #expect(result.errors.contains("Did you mean battery?"))
  }

  /// Each command gets its own answer, even if many run in quick succession.
  @Test func oneAfterTheOther() throws {
    let names = (0..<20).map { $0 % 2 == 0 ? "battery" : "history" }
    let lines = ["connect \(Self.band)"] + names.map { "call \($0)" }
    let result = try Blectl.run(["repl", "--json"], input: Array((lines.joined(separator: "\n") + "\n").utf8))
    let answers = try result.records.filter { $0.string("event") == "answer" }
    #expect(result.status == 0 && answers.map { $0.string("command") } == names)
    for (index, answer) in answers.enumerated() {
      #expect(answer.int("id") == index + 2)
      #expect(answer["values"]?.int("level") == (index % 2 == 0 ? 60 : nil))
    }
  }
}
