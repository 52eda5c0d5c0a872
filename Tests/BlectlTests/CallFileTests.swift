import Foundation
import TestSupport

/// `call` with unsuitable device files, with parameters of all kinds, and in scripts.
@Suite(.timeLimit(.minutes(15))) struct CallFileTests {
  private static let echo = #"""
    "echo": {"request": {"fields": [{"name": "data", "type": "bytes"}]}, "answer": {"frame": {"fields": [{"name": "back", "type": "bytes"}]}, "within_ms": 500}},
    "mode": {"request": {"header": "05", "fields": [{"name": "which", "type": "u8", "values": {"slow": 0, "fast": 1}}]}}
    """#

  private static func text(
    _ name: String = "Made", match: String = #"{"name": "Made"}"#, to: String = "ff02",
    commands: String = echo, properties: String = "write"
  ) -> String {
    #"""
    {"device": "\#(name)", "match": \#(match), "to": "\#(to)", "from": "ff01",
     "commands": {\#(commands)},
     "simulate": {"name": "Made", "address": "D1:00:00:00:0D:02/random", "advertisement": {"name": "Made"}, "services": [{"uuid": "fff0", "characteristics": [
       {"uuid": "ff01", "properties": ["notify"]}, {"uuid": "ff02", "properties": ["\#(properties)"]}]}],
      "answers": {}}}
    """#
  }

  /// Creates a folder with `made.json`, the air and other files.
  private func folder(_ files: [String: String] = [:]) throws -> String {
    let folder = TemporaryFolder.path()
    for (name, text) in files.merging(
      ["made.json": Self.text()], uniquingKeysWith: { first, _ in first })
    {
      let url = URL(fileURLWithPath: folder).appendingPathComponent(name)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: url, atomically: true, encoding: .utf8)
    }
    return folder
  }

  private func run(_ folder: String, _ arguments: String..., input: String? = nil) throws
    -> ProcessResult
  {
    try Blectl.run(
      arguments, input: input.map { Array($0.utf8) },
      environment: ["XDG_CONFIG_HOME": "\(folder)/config"], folder: folder,
      adapter: "sim:made.json")
  }

  // MARK: Parameters

  /// A pipe is read only once.
  @Test func bytesOfAPipe() throws {
    let result = try run(
      try folder(), "call", "name:Made", "echo", "data=@/dev/stdin", "--device", "made.json", "-vv",
      input: "AB")
    #expect(result.errors.contains("4142"), "\(result.errors)")
  }

  /// The error points to the request in the device file, not to the command line.
  @Test func bytesThatDoNotFit() throws {
    let folder = try folder([
      "big": String(repeating: "x", count: 600), "middle": String(repeating: "x", count: 400),
    ])
    let big = try run(folder, "call", "name:Made", "echo", "data=@big")
    #expect(
      big.status == 64 && big.errors.contains("If the device takes segments: in ")
        && big.errors.contains("made.json, add \"chunk\": ")
        && !big.errors.contains("--chunk"), "\(big.errors)")
    let text = Self.text(
      commands:
        #""echo": {"mode": "request", "request": {"fields": [{"name": "data", "type": "bytes"}]}}"#)
    let long = try run(
      try self.folder(["made.json": text, "middle": String(repeating: "x", count: 400)]), "call",
      "name:Made", "echo", "data=@middle", "--mtu",
      "64")
    #expect(
      long.status == 64 && long.errors.contains("In made.json, add \"mode\": \"long\" or \"chunk\": 61")
        && !long.errors.contains("--"),
      "\(long.errors)")
  }

  @Test func whatMayBeTyped() throws {
    let tracker = ManualTests.root.appendingPathComponent("man/examples/tracker.json").path
    let records = try Blectl.run(
      ["call", "name:Tracker", "--list", "--json", "--device", tracker], adapter: "sim:\(tracker)"
    ).records
    func parameter(_ command: String, _ name: String) -> Record? {
      records.first { $0.string("command") == command }?.records("parameters").first {
        $0.string("name") == name
      }
    }
    let days = try #require(parameter("history", "days"))
    #expect(
      days.int("least") == 1 && days.int("greatest") == 30 && days.int("default") == 7
        && days.string("type") == "integer")
    let from = try #require(parameter("history", "from"))
    #expect(from.int("least") == 1 && from.int("greatest") == 255)
    let fall = try #require(parameter("configure", "fall"))
    #expect(fall.int("least") == 0 && fall.int("greatest") == 1)
    let temperature = try #require(parameter("configure", "temperature"))
    #expect(
      temperature.string("type") == "number" && temperature.int("least") == -40
        && temperature.int("default") == -5)
    #expect(parameter("configure", "number")?.string("type") == "text")
    #expect(parameter("contacts", "spans")?.string("type") == "list")
    #expect(parameter("contacts", "spans")?.string("form") == "hour/minutes,hour/minutes,…")
    let text = try Blectl.run(
      ["call", "name:Tracker", "--list", "--device", tracker], adapter: "sim:\(tracker)"
    ).text
    #expect(
      text.contains("  spans=  hour/minutes,hour/minutes,…\n")
        && text.contains("  volume=  0 to 7 (default: 5)\n"), "\(text)")
    let mode = try #require(
      try run(try folder(), "call", "name:Made", "--list", "--json").records.last?.records(
        "parameters"
      ).first)
    #expect(mode.strings("choices") == ["slow", "fast"] && mode.int("greatest") == 255)
  }

  // MARK: Which file

  @Test func aFileOfAnotherDevice() throws {
    let folder = try folder(["w.json": Self.text("W", match: #"{"name": "W*"}"#, to: "ee02")])
    let other = try run(folder, "call", "name:Made", "mode", "which=fast", "--device", "w.json")
    #expect(
      other.status == 2
        && other.errors.contains(
          "Made has no attribute ee02, which w.json names. The file's \"match\" does not fit this device. Use another file: --device FILE"
        ),
      "\(other.errors)")
    // The option applies to that command only.
    let session = try run(
      folder, "-e", "call --device w.json mode which=slow; call zzz", "-k", "name:Made")
    #expect(
      session.errors.contains("Made has no command \"zzz\". made.json defines echo, mode."),
      "\(session.errors)")
  }

  /// A broken file does not prevent the use of the others.
  @Test func aBrokenFileBesideOthers() throws {
    let folder = try folder(["config/blectl/devices/a.json": "{\n  \"device\": 1}"])
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder)/config/blectl/devices/b.json", withDestinationPath: "nowhere.json")
    let result = try run(folder, "call", "name:Made", "mode", "which=fast")
    #expect(result.status == 0, "\(result.errors)")
    for text in [
      "note: Ignored a device file: ", "a.json:2:13: device: Expected a string, found a number",
      "b.json\": no such file",
    ] {
      #expect(result.errors.contains(text), "\(result.errors)")
    }
    let none = try Blectl.run(
      ["call", "name:GateLock*", "--first", "x"],
      environment: ["XDG_CONFIG_HOME": "\(folder)/config"], adapter: "sim")
    #expect(none.status == 64 && none.errors.contains("has no command"), "\(none.errors)")
    let panel = try Blectl.run(
      ["call", "name:Panel", "x"], environment: ["XDG_CONFIG_HOME": "\(folder)/config"])
    #expect(
      panel.status == 66 && panel.errors.contains("a.json:2:13")
        && panel.errors.contains("No other device file matches Panel. Name one: --device FILE"),
      "\(panel.errors)")
  }

  // MARK: Scripts

  private func script(_ folder: String, _ lines: String, _ options: String...) throws
    -> ProcessResult
  {
    try "device name:Made\n\(lines)\n".write(
      toFile: "\(folder)/rig/s.blectl", atomically: true, encoding: .utf8)
    return try Blectl.run(
      ["run", "rig/s.blectl"] + options, environment: ["XDG_CONFIG_HOME": "\(folder)/config"],
      folder: folder, adapter: "sim:made.json")
  }

  /// A script with a device file is checked in full before anything is sent. The file's path is relative to the script.
  @Test func aScriptIsCheckedWithItsDeviceFile() throws {
    let folder = try folder([
      "rig/w.json": Self.text(), "rig/broken.json": "{\n  \"device\": 1}",
      "rig/sub/_part.blectl": "call --device ../w.json nope\n",
    ])
    let table: [(String, Int32, String)] = [
      ("call nope --device w.json", 64, "rig/s.blectl:2:6: Made has no command \"nope\""),
      ("call --device=w.json echo data=zz", 64, "rig/s.blectl:2:27: echo: data: Invalid hex \"zz\""),
      ("call --device w.json echo", 64, "rig/s.blectl:2:22: echo: data is missing"),
      ("call --device w.json echo dta=01", 64, "rig/s.blectl:2:27: echo has no parameter \"dta\""),
      ("call --device w.json echo data=@none", 66, "rig/s.blectl:2:27: Cannot read \"none\""),
      (
        "test t\ncall --device w.json mode which=quick\nend", 64, "rig/s.blectl:3:27: mode: which: "
      ),
      (
        "call --device none.json echo data=01", 66,
        "rig/s.blectl:2:15: Cannot read \"rig/none.json\": no such file (ENOENT)."
      ),
      (
        "call --device broken.json echo data=01", 64,
        "rig/s.blectl:2:15: rig/broken.json:2:13: device: Expected a string, found a number"
      ),
      (
        "set A none\ncall --device $A.json echo data=01", 66,
        "rig/s.blectl:3:15: Cannot read \"rig/none.json\""
      ),
      (
        "let A = scan --count 1\ncall --device w.json mode which=$A x=1", 64,
        "rig/s.blectl:3:36: mode has no parameter \"x\""
      ),
      ("let A = scan --count 1\ncall --device w.json $A", 0, "no mistakes found"),
      ("let A = scan --count 1\ncall --device $A mode", 0, "no mistakes found"),
      ("let A = scan --count 1\ncall --device w.json mode which=$A", 0, "no mistakes found"),
      ("include sub/_part.blectl", 64, "rig/sub/_part.blectl:1:25: Made has no command \"nope\""),
    ]
    for (lines, status, message) in table {
      let result = try script(folder, lines, "--dry-run")
      #expect(
        result.status == status && result.errors.contains(message),
        "\(lines): \(result.status) \(result.errors)")
    }
    let sent = try script(folder, "test t\ncall --device w.json mode which=fast\nend")
    #expect(sent.status == 0, "\(sent.text)\(sent.errors)")
  }

  /// Without a device file, the check follows the connection. A mistake in the script is no device failure.
  @Test func aScriptIsWrongAboutItsDevice() throws {
    let folder = try folder(["rig/x": ""])
    for line in [
      "call nope", "call echo data=zz", "call mode", "call mode x=1", "call echo data=@none",
    ] {
      let result = try script(
        folder, "test t\n\(line)\nend\ntest u\ncall mode which=fast\nend", "--json")
      #expect(
        result.status == (line.contains("@") ? 66 : 64),
        "\(line): \(result.status) \(result.text)\(result.errors)")
      let tests = try result.records.filter { $0.string("event") == "test" }
      #expect(tests.map { $0.string("status") } == ["error", "passed"], "\(line): \(result.text)")
    }
    let expected = try script(folder, "test t\ncall nope\nfails usage\nend")
    #expect(expected.status == 0, "\(expected.text)")
    let any = try script(folder, "test t\ncall nope\nfails\nend")
    #expect(any.status == 64, "\(any.text)")
  }
}
