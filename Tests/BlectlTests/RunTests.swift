import Foundation
import TestSupport

/// `blectl run` as a whole: selection, order and exit codes. Tests/Scripts tests the script language.
@Suite(.timeLimit(.minutes(15))) struct RunTests {
  static let passing = "device name:Band-7\ntest \"level\" quick\n  read 2a19\n  expect as u8 == 60\nend\n"
  static let failing = "device name:Band-7\ntest \"wrong\"\n  read 2a19\n  expect as u8 == 61\nend\n"
  private static let nobody = "device name:Nobody\ntest \"absent\"\n  read 2a19\nend\n"
  static let skipping = "device name:Band-7\ntest \"later\"\n  skip \"no reason\"\nend\n"
  private static let wrong = "device name:Band-7\nraed 2a19\n"

  static func run(_ scripts: [String], _ arguments: [String] = [], adapter: String = "sim") throws -> Blectl.Result {
    let folder = ScriptFolder()
    let files = try scripts.enumerated().map { try folder.file("\($0).blectl", $1) }
    return try Blectl.run(["run"] + arguments + files, adapter: adapter)
  }

  private func run(_ scripts: [String], _ arguments: [String] = [], adapter: String = "sim") throws -> Blectl.Result {
    try Self.run(scripts, arguments, adapter: adapter)
  }

  @Test("What all tests came to together is the exit code")
  func exitCodes() throws {
    let scripts = [Self.passing, Self.failing, Self.nobody, Self.skipping]
    for mask in 1..<16 {
      let chosen = scripts.indices.filter { mask >> $0 & 1 == 1 }
      let result = try run(chosen.map { scripts[$0] })
      let expected: Int32 = chosen.contains(1) ? 7 : chosen.contains(2) ? 2 : 0
      #expect(result.status == expected, "\(chosen): \(result.text)")
    }
  }

  @Test("Where the rig is at fault, the exit code says how")
  func rigs() throws {
    let dead = try run([Self.passing], adapter: "tcp:127.0.0.1:1")
    #expect(dead.status == 3)
    #expect(dead.text.contains("1 error"))
    let folder = ScriptFolder()
    let air = try folder.file(
      "air.json",
      #"{"name": "Band-7", "address": "C0:FF:EE:00:00:07/public", "advertisement": {"name": "Band-7"}, "failing_connections": 100, "services": []}"#
    )
    let lost = try run([Self.passing], adapter: "sim:\(air)")
    #expect(lost.status == 6)
    #expect(lost.text.contains("1 error"))
    let silent = try folder.file(
      "silent.json",
      #"{"name": "Band-7", "address": "C0:FF:EE:00:00:07/public", "advertisement": {"name": "Band-7"}, "connectable": false, "services": []}"#
    )
    #expect(try run([Self.passing], adapter: "sim:\(silent)").status == 2)
  }

  @Test("Nothing is sent before every file is right")
  func checkedFirst() throws {
    let folder = ScriptFolder()
    let trace = folder.url.appendingPathComponent("trace").path
    let result = try run([Self.passing, Self.wrong], ["--trace", trace])
    #expect(result.status == 64)
    #expect(result.text.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: trace))
    #expect(result.errors.contains("1.blectl:2:1: Unknown command \"raed\". Did you mean read?"))
    #expect(try Blectl.run("run", "/nowhere.blectl").status == 66)
  }

  @Test("A report that cannot be written is told before anything is run", arguments: ["--junit", "--html"])
  func unwritableReport(_ option: String) throws {
    let result = try run([Self.passing], [option, "/nowhere/report"])
    #expect(result.status == 74 && result.text.isEmpty && result.errors.contains("/nowhere/report"), "\(result.text)\(result.errors)")
  }

  @Test("Files are dated with the machine's clock, records with that of the simulated air")
  func dates() throws {
    let (junit, html) = (TemporaryFolder.path(), TemporaryFolder.path())
    let result = try run([Self.passing, "test \"later\"\n  skip\nend\n"], ["--json", "--junit", junit, "--html", html])
    let starts = try result.records.compactMap { $0.string("start") }
    #expect(starts.count == 3 && starts.allSatisfy { $0.hasPrefix("2026-01-01T00:00:0") }, "\(result.text)")
    // Times are compared to the hour, which may end during the test.
    let hours = [-3600, 0].map { Date(timeIntervalSinceNow: $0).formatted(.iso8601).prefix(13) }
    for (path, before, count) in [(junit, "timestamp=\"", 2), (html, "<p class=\"dim\">", 1), (html, " · ", 2)] {
      let text = try String(contentsOfFile: path, encoding: .utf8)
      #expect(hours.reduce(0) { $0 + text.ranges(of: before + $1).count } == count && !text.contains("2026-01-01T"), "\(before): \(text)")
    }
  }

  @Test("A script comes from standard input")
  func standardInput() throws {
    let result = try Blectl.run("run", "-", input: Array(Self.failing.utf8))
    #expect(result.status == 7)
    #expect(result.text.contains("standard input:4  expect as u8 == 61"))
  }

  @Test("Tests are selected by name and tag")
  func selection() throws {
    let script = Self.passing + "test \"slow one\" slow\n  read 2a00\nend\n"
    #expect(try run([script], ["--only", "slow*"]).text.contains("1 passed"))
    #expect(try run([script], ["--tag", "quick", "--tag", "slow"]).text.contains("2 passed"))
    let none = try run([script], ["--tag", "quack"])
    #expect(none.status == 64)
    #expect(none.errors.contains("No test in"))
  }

  @Test("--peer stands above the script's device, --set above its variables")
  func overriding() throws {
    let script = "device name:Nobody\nset LEVEL 1\ntest \"level\"\n  read 2a19\n  expect as u8 == $LEVEL\nend\n"
    #expect(try run([script], ["--peer", "name:Band-7", "--set", "LEVEL=60"]).status == 0)
  }

  @Test("The run ends after the first failure when that is wanted, and tells what was not run")
  func failFast() throws {
    let script = Self.failing + "test \"after\"\n  read 2a19\nend\n"
    let result = try run([script, Self.passing], ["--fail-fast"])
    #expect(result.status == 7)
    #expect(result.text.contains("0 passed, 1 failed, 2 not run"))
    #expect(try run([script, Self.passing]).text.contains("2 passed, 1 failed in"))
  }

  @Test("Everything is run several times")
  func repetition() throws {
    let result = try run([Self.passing], ["--repeat", "3"])
    #expect(result.text.contains("level [3]"))
    #expect(result.text.contains("3 passed"))
  }

  @Test("A name without quotes is a note, tags are not")
  func missingQuotes() throws {
    let script = "device name:Band-7\ntest battery is fine\nread 2a19\nend\ntest other smoke nightly\nread 2a19\nend\n"
    let result = try run([script], ["--dry-run"])
    #expect(result.status == 0 && result.errors.components(separatedBy: "are tags").count == 2, "\(result.errors)")
    #expect(
      result.errors.contains(":2: 2 words after the name are tags. If they belong to the name: test \"battery is fine\""),
      "\(result.errors)")
  }

  @Test("--dry-run lists the tests and opens no adapter")
  func dryRun() throws {
    let result = try run([Self.passing, Self.failing], ["--dry-run"], adapter: "tcp:127.0.0.1:1")
    #expect(result.status == 0)
    #expect(result.text.contains("0.blectl:2: level\n"))
    #expect(result.text.contains("1.blectl:2: wrong\n"))
  }

  @Test("A folder stands for its scripts, in order; those that begin with _ are there to be included")
  func folders() throws {
    let folder = ScriptFolder()
    _ = try folder.file("b.blectl", "include _battery\n")
    _ = try folder.file("a.blectl", Self.skipping)
    _ = try folder.file("_battery", Self.passing)
    _ = try folder.file("_other.blectl", Self.failing)
    _ = try folder.file("notes.txt", "not a script")
    let result = try Blectl.run("run", folder.url.path)
    #expect(result.status == 0)
    let lines = result.text.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }
    #expect(lines[0].hasSuffix("a.blectl"))
    #expect(result.text.contains("b.blectl  with"))
    #expect(lines.last?.hasPrefix("1 passed, 1 skipped in") == true)
    let empty = ScriptFolder()
    #expect(try Blectl.run("run", empty.url.path).status == 66)
  }

  // MARK: What reports show

  @Test("Of a number of values those that came are shown, and packets with the names of attributes")
  func valuesThatCame() throws {
    let rig = "sim:\(ScriptFileTests.folder)/rig.json"
    let script = "device name:Rig\ntest \"few\"\n  write fff1 02\n  expect 5 of fff2 starts 02 within 2s\nend\n"
    let (junit, html) = (TemporaryFolder.path(), TemporaryFolder.path())
    let tap = try run([script], ["--tap", "--junit", junit, "--html", html], adapter: rig)
    let texts = [
      tap.text, try run([script], adapter: rig).text, try String(contentsOfFile: junit, encoding: .utf8),
      try String(contentsOfFile: html, encoding: .utf8),
    ]
    for text in texts {
      #expect(text.contains("3 of 5"), "\(text)")
      let values = text.components(separatedBy: "3 of 5").last?.components(separatedBy: "Write").first ?? ""
      #expect(["0201", "0202", "0203"].allSatisfy { values.contains($0) }, "\(text)")
      let squeezed = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      for packet in ["Write Request fff1 12", "Handle Value Notification fff2 1b", "fff2@client_characteristic_configuration 12"] {
        #expect(squeezed.contains(packet), "\(packet): \(text)")
      }
    }
  }

  // MARK: Several devices

  /// Returns eight devices of one kind, each with its own number.
  private func air(_ folder: ScriptFolder, hanging: Int? = nil) throws -> String {
    let devices = (1...8).map { number in
      let value = #""properties": ["read", "notify"], "value": {"u8": \#(number)}"#
      let hang = number == hanging ? #", "read_reactions": [{"answer": false}]"# : ""
      return """
        {"name": "Unit-\(number)", "address": "D1:00:00:00:01:0\(number)/random", "rssi": -50, "advertisement": {"name": "Unit-\(number)"},
          "services": [{"uuid": "fff0", "characteristics": [{"uuid": "fff1", \(value)\(hang)}]}]}
        """
    }
    return try folder.file("air.json", "[\(devices.joined(separator: ","))]")
  }

  private func scripts(_ folder: ScriptFolder) throws -> [String] {
    try (1...8).map { number in
      var script = "device name:Unit-\(number)\n"
      for test in 1...5 {
        script += "test \"unit \(number) test \(test)\"\n  note \"\(number)\"\n  read fff1\n  expect as u8 == \(number)\n"
        script += test == 3 ? "  expect as u8 == 99\nend\n" : "end\n"
      }
      return try folder.file("unit\(number).blectl", script)
    }
  }

  @Test("Eight files at a time, each with its device, and nothing of one with another")
  func jobs() throws {
    let folder = ScriptFolder()
    let adapter = "sim:\(try air(folder))"
    let files = try scripts(folder)
    let result = try Blectl.run(["run", "--jobs", "8"] + files, adapter: adapter)
    #expect(result.status == 7)
    #expect(result.text.contains("32 passed, 8 failed"))
    // Output after the name of a test belongs to that test.
    var unit = ""
    for line in result.text.split(separator: "\n").map(String.init) {
      if let range = line.firstRange(of: "unit ") { unit = String(line[range.upperBound...].prefix(1)) }
      if line.contains(" note ") { #expect(line.hasSuffix(" \(unit)")) }
      if line.contains(" actual ") { #expect(line.contains(" 0\(unit)")) }
    }
  }

  @Test("Eight at a time take the time of one")
  func jobsSideBySide() throws {
    let folder = ScriptFolder()
    let adapter = "sim:\(try air(folder))"
    let script = "test \"waits\"\n  sleep 60s\n  read fff1\nend\n"
    let files = try (1...8).map { try folder.file("w\($0).blectl", "device name:Unit-\($0)\n" + script) }
    func seconds(_ result: Blectl.Result) -> Double? {
      result.text.split(separator: "\n").last?.split(separator: " ").dropLast().last.flatMap { Double($0) }
    }
    let side = try Blectl.run(["run", "--jobs", "8"] + files, adapter: adapter)
    let one = try Blectl.run(["run"] + files, adapter: adapter)
    #expect(seconds(side).map { (60..<120).contains($0) } == true, "\(side.text)")
    #expect(seconds(one).map { $0 >= 480 } == true, "\(one.text)")
  }

  @Test("Files about the same device are not run at the same time")
  func sameDevice() throws {
    let result = try run([Self.passing, Self.passing, Self.passing], ["--jobs", "3"])
    #expect(result.status == 0)
    #expect(result.text.contains("3 passed"))
  }

  @Test("A device that hangs fails its tests and not the run")
  func hanging() throws {
    let folder = ScriptFolder()
    let adapter = "sim:\(try air(folder, hanging: 4))"
    let result = try Blectl.run(["run", "--jobs", "8"] + (try scripts(folder)), adapter: adapter)
    #expect(result.status == 7)
    #expect(result.text.contains("28 passed, 12 failed"))
    #expect(result.text.contains("No answer to the Read"))
  }

  // MARK: When

  @Test("The first result comes at once, and not at the end")
  func streaming() throws {
    let tests = (1...300).map { "test \"number \($0)\"\n  read 2a19\n  sleep 1h\nend\n" }.joined()
    let folder = ScriptFolder()
    let file = try folder.file("long.blectl", "device name:Band-7\n" + tests.replacing("sleep 1h", with: "sleep 1s"))
    let running = try Blectl.start(["run", file], virtual: false)
    #expect(running.waitForOutput(containing: "number 1 "))
    #expect(!String(decoding: running.outputSoFar, as: UTF8.self).contains("number 300"))
    let result = running.end(by: SIGINT)
    #expect(result.status == 130)
    #expect(result.text.contains("not run"))
  }
}

/// A temporary folder for scripts.
struct ScriptFolder {
  let url = URL(fileURLWithPath: TemporaryFolder.path())

  init() { try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

  func file(_ name: String, _ text: String) throws -> String {
    let file = url.appendingPathComponent(name)
    try Data(text.utf8).write(to: file)
    return file.path
  }
}
