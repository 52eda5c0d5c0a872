import Foundation
import TestSupport

/// Errors in a script are reported before anything is sent.
@Suite(.timeLimit(.minutes(15))) struct ScriptErrorTests {
  /// Runs a script from standard input, on a nonexistent adapter: opening it would give another exit code.
  private static func run(_ script: [UInt8], _ options: [String] = ["--peer", "name:Rig"]) throws -> ProcessResult {
    try Blectl.run(["run"] + options + ["-"], input: script, adapter: "hci99")
  }

  private static func run(_ script: String) throws -> ProcessResult { try run(Array(script.utf8)) }

  private static func expectRefused(_ result: ProcessResult, _ place: String, _ reason: String, _ comment: String = "") {
    #expect(result.status == 64, "\(comment): \(result.status) \(result.text)\(result.errors)")
    #expect(
      result.errors.hasPrefix("blectl: \(place): ") && result.errors.contains(reason) && result.text.isEmpty, "\(comment): \(result.errors)"
    )
    // The error is one line, whatever the input.
    #expect(result.errors.count(where: \.isNewline) == 1 && result.errors.utf8.count < 4000, "\(comment): \(result.errors.prefix(4000))")
  }

  @Test func theAdapterIsNotThere() throws { #expect(try Self.run("read ffe1").status == 3) }

  @Test(arguments: [
    ("read 2a19\nin 20..100", "2:1", "A condition needs `expect`: expect in 20..100"),
    ("read Band-7 2a19", "1:1", "If it is a device: read name:Band-7 2a19"), ("read 2a19 Band-7", "1:1", "read name:Band-7 2a19"),
    ("frobnicate ffe1", "1:1", "Unknown command"), ("raed ffe1", "1:1", "Did you mean read?"), ("read", "1:1", "Missing ATTRIBUTE"),
    ("read ffe1 --bogus", "1:1", "--bogus"), ("read ffe1 --as u9", "1:1", "u9"), ("write ffe1", "1:1", "Missing VALUE"),
    ("write ffe1 01 --mode fast", "1:1", "fast"), ("notify ffe1", "1:1", "Add --count or --duration"), ("exit", "1:1", "last line"),
    ("source other", "1:1", "include FILE"), ("run other.blectl", "1:1", "include FILE"), ("alias x", "1:1", "set NAME VALUE"),
    ("help", "1:1", "does not work in scripts"), ("read --help", "1:1", "does not work in scripts"),
    ("repl", "1:1", "is a command of the shell"),
    ("set reconnect on", "1:1", "Scripts have no"), ("set format u9", "1:1", "u9"), ("set timeout x", "1:1", "Invalid timeout"),
    ("read ffe1 -i hci0", "1:1", "--adapter"), ("read ffe1\nexpect as u16 == 1", "2:11", "u16le or u16be"),
    ("peripheral", "1:1", "Name a peripheral file"), ("peripheral set", "1:1", "Example: peripheral set ffe1 0100"),
    ("peripheral set ffe1 5 as u9", "1:1", "u9"), ("peripheral fault ffe1 explode", "1:1", "explode"),
    ("peripheral advertise maybe", "1:1", "on or off"), ("peripheral sett ffe1 01", "1:1", "Did you mean set?"),
    ("peripheral off --extended", "1:1", "belong to the start"), ("peripheral x.json on nowhere", "1:1", "Unknown adapter \"nowhere\""),
    ("expect peripheral connected", "1:1", "No line before this one serves a device"),
    ("sleep 5x", "1:7", "Invalid time \"5x\""),
    ("read ffe1\nfails nothing", "2:7", "Unknown error"), ("\n\n  test t\n", "3:3", "Missing `end`"),
    ("read \u{1B}[31mx'", "1:12", "is never closed"),
    ("\u{1B}[31m", "1:1", "\\x1b[31m"), ("test \"a\u{202E}b\"\nskip\nend\ntest \"a\u{202E}b\"\nskip\nend", "4:1", "\\u{202e}"),
  ])
  func hasItsPlace(_ script: String, _ place: String, _ reason: String) throws {
    Self.expectRefused(try Self.run(script), "standard input:\(place)", reason, script)
  }

  /// The file of a device is checked before anything is sent, relative to the folder of the script.
  @Test(arguments: [
    ("[\(PeripheralTests.lock), \(PeripheralTests.lock.replacing("01/", with: "02/"))]", 64, "describes 2 devices"),
    ("{", 64, "device.json:1:"), (nil, 66, "no such file"), (PeripheralTests.lock, 0, "no mistakes found"),
  ])
  func theFileOfADevice(_ content: String?, _ status: Int, _ text: String) throws {
    let folder = ScriptFolder()
    let script = try folder.file("a.blectl", "set FILE device.json\nperipheral $FILE on user:1\nexpect peripheral connected\n")
    if let content { _ = try folder.file("device.json", content) }
    let result = try Blectl.run(["run", "--dry-run", script], adapter: "hci99")
    #expect(result.status == status && result.errors.contains(text), "\(result.status) \(result.errors)")
    if status != 0 { #expect(result.errors.contains("a.blectl:2:12: "), "\(result.errors)") }
  }

  @Test func bytesThatAreNoText() throws {
    Self.expectRefused(try Self.run(Array("read ffe1\n".utf8) + [0xFF]), "standard input:2", "UTF-8")
    Self.expectRefused(try Self.run("read ffe1\nread \0"), "standard input:2:6", "NUL")
  }

  /// A truncated script is either complete or refused, so no unintended command is sent.
  @Test func truncatedScripts() throws {
    for name in ["one-line", "value-order", "continuation"] {
      let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: "\(ScriptFileTests.folder)/\(name).blectl")))
      for count in stride(from: 1, to: bytes.count, by: 37) {
        let result = try Self.run(Array(bytes.prefix(count)))
        let isRefused = result.status == 64 && result.errors.wholeMatch(of: /(blectl: standard input:\d+(:\d+)?: .+\n)+/) != nil
        let isRun = result.status == 3 || result.status == 0 && !result.text.contains("✗")
        #expect(isRefused != isRun, "\(name) \(count): \(result.errors)")
      }
    }
  }

  /// The trace contains no packet.
  @Test func nothingIsSent() throws {
    let trace = TemporaryFolder.path()
    let result = try Blectl.run(
      ["run", "--peer", "name:Band-7", "--trace", trace, "-"], input: Array("read 2a19\nread 2a19\nexpect as u9 == 1".utf8))
    Self.expectRefused(result, "standard input:3:11", "u9")
    // The header of a btsnoop file is 16 bytes.
    let bytes = FileManager.default.contents(atPath: trace)?.count ?? 0
    #expect(bytes <= 16, "\(bytes) octets of trace")
  }

  /// All files are checked before the first one runs.
  @Test func aLaterFileIsWrong() throws {
    let wrong = try TemporaryFolder.file("sleep 1s\nfrobnicate")
    let result = try Blectl.run(["run", "no-tests.blectl", wrong], folder: ScriptFileTests.folder)
    Self.expectRefused(result, "\(wrong):2:1", "Unknown command")
  }

  // MARK: All at once

  @Test func allMistakesAreToldAtOnce() throws {
    let script = "raed ffe1\ntest t\n  sleep 5x\n  read $A\n  frobnicate\n  expect == 1\nend\nread 'a\n"
    let result = try Self.run(script)
    #expect(result.status == 64 && result.text.isEmpty)
    let places = ["1:1", "3:9", "4:8", "5:3", "8:6"]
    let lines = result.errors.split(separator: "\n")
    #expect(lines.count == places.count, "\(result.errors)")
    for (line, place) in zip(lines, places) { #expect(line.hasPrefix("blectl: standard input:\(place): "), "\(line)") }
    let records = try Self.run(Array(script.utf8), ["--json"]).errors.split(separator: "\n").map { try Record(String($0)) }
    #expect(records.count == places.count && records.allSatisfy { $0["error"]?.string("kind") == "usage" })
    #expect(records.first?["error"]?.string("message")?.hasPrefix("standard input:1:1: ") == true)
  }

  @Test func ofManyMistakesSomeAreShown() throws {
    let lines = try Self.run(String(repeating: "frobnicate\n", count: 123)).errors.split(separator: "\n")
    #expect(lines.count == 101 && lines.last == "blectl: More mistakes follow. Correct these first.")
    #expect(try Self.run(String(repeating: "frobnicate\n", count: 100)).errors.split(separator: "\n").count == 100)
  }

  /// A check that found every mistake would need minutes and gigabytes.
  @Test(arguments: ["a\n", "'\n", "end\n", "set A\n"]) func theCheckStops(_ line: String) throws {
    let lines = try Self.run(String(repeating: line, count: 200_000)).errors.split(separator: "\n")
    #expect(lines.count == 101 && lines.last == "blectl: More mistakes follow. Correct these first.", "\(lines.count)")
  }

  /// Each line doubles the value.
  @Test(arguments: [[], ["--dry-run"]]) func aValueThatGrows(_ options: [String]) throws {
    let script = "set A 0123456789abcdef\n" + String(repeating: "set A $A$A\n", count: 40) + "test t\nsleep 1ms\nend\n"
    let result = try Self.run(Array(script.utf8), options)
    let reason = "The values of the variables are too long: at most 64 KiB in a word, and 16 MiB in a script."
    Self.expectRefused(result, "standard input:14:7", reason)
    let wide = "set A " + String(repeating: "a", count: 60_000) + "\n" + String(repeating: "note $A\n", count: 300)
    #expect(try Self.run(wide).errors.contains("standard input:281:6: \(reason)"))
  }

  /// In a loop, the check sees only the first round.
  @Test func aValueThatGrowsInALoop() throws {
    let script = "set A 0123456789abcdef\nrepeat 40\nset A $A$A\nend\n"
    let result = try Blectl.run(["run", "-"], input: Array(script.utf8))
    #expect(
      result.status == 7 && result.text.contains("at most 64 KiB"), "\(result.status) \(result.text)\(result.errors)")
  }

  /// Keys are for the user, not for a script from elsewhere. A variable hides no such command.
  @Test(arguments: [
    ("bonds export keys", "A script cannot export keys."), ("bonds import keys", "A script cannot import keys."),
    ("unpair --all", "A script cannot remove all keys. Name a device: unpair PEER"),
    ("set WHAT export\nbonds $WHAT keys", "A script cannot export keys."), ("set WHAT --all\nunpair $WHAT", "cannot remove all keys"),
  ])
  func keysAreNotForScripts(_ script: String, _ reason: String) throws {
    for options in [[], ["--dry-run"]] {
      Self.expectRefused(try Self.run(Array(script.utf8), options), "standard input:\(script.split(separator: "\n").count):1", reason)
    }
    #expect(try Self.run("bonds\nunpair Rig").status != 64)
  }

  /// Errors in included files, and in all files, are reported together. Definitions from a missing file are not reported as missing.
  @Test func allFilesAreRead() throws {
    let folder = TemporaryFolder.path()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    func write(_ name: String, _ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
    try write("a.blectl", "include none\nread $A\nexpect == 1\ninclude _b\nsleep x\ninclude _b\n")
    try write("_b", "device\nfrobnicate\n")
    try write("c.blectl", "read ffe1\nsleep y\n")
    let result = try Blectl.run(["run", "."], folder: folder, adapter: "hci99")
    let lines = result.errors.split(separator: "\n")
    let places = [
      "./a.blectl:1:9: ", "./a.blectl:5:7: ", "./_b:1:1: ", "./_b:2:1: ", "./c.blectl:1:1: This line needs a device", "./c.blectl:2:7: ",
    ]
    #expect(result.status == 64 && lines.count == places.count, "\(result.errors)")
    for (line, place) in zip(lines, places) { #expect(line.hasPrefix("blectl: \(place)"), "\(line)") }
  }

  // MARK: Files

  @Test func filesThatAreNotThere() throws {
    let result = try Blectl.run(["run", "/nowhere/x.blectl"])
    #expect(result.status == 66 && result.errors.contains("/nowhere/x.blectl"), "\(result.errors)")
    let empty = TemporaryFolder.path()
    try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
    let folder = try Blectl.run(["run", empty])
    #expect(folder.status == 66 && folder.errors.contains("No scripts in"), "\(folder.errors)")
    #expect(try Blectl.run(["run"]).status == 64)
  }

  /// Missing files are reported with the errors of the other files.
  @Test func missingFilesAndMistakes() throws {
    let wrong = try TemporaryFolder.file("frobnicate\n")
    let both = try Blectl.run(["run", "/nowhere/a", wrong, "/nowhere/b"], adapter: "hci99")
    for text in ["/nowhere/a", "/nowhere/b", ":1:1: Unknown command"] { #expect(both.errors.contains(text), "\(both.errors)") }
    #expect(both.status == 64 && both.errors.count(where: \.isNewline) == 3, "\(both.errors)")
    let missing = try Blectl.run(["run", "/nowhere/a", "/nowhere/b"], adapter: "hci99")
    #expect(missing.status == 66 && missing.errors.count(where: \.isNewline) == 2, "\(missing.errors)")
  }

  @Test func whatIsTooLarge() throws {
    for bytes in [Array(repeating: UInt8(ascii: "a"), count: 10 << 20), Array(String(repeating: "#\n", count: 5 << 20).utf8)] {
      let path = try TemporaryFolder.file(bytes)
      let result = try Blectl.run(["run", path])
      #expect(
        [64, 66].contains(result.status) && result.errors.contains(path) && result.errors.utf8.count < 1000, "\(result.errors.prefix(1000))"
      )
    }
  }

  @Test func includedFiles() throws {
    let folder = TemporaryFolder.path()
    try FileManager.default.createDirectory(atPath: folder + "/inner", withIntermediateDirectories: true)
    func write(_ name: String, _ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
    try write("self.blectl", "note a\n  include self.blectl\n")
    try write("a.blectl", "include inner/b.blectl")
    try write("inner/b.blectl", "note b\ninclude ../c.blectl")
    try write("c.blectl", "note c\nfrobnicate")
    try write("variable.blectl", "set FILE c.blectl\ninclude $FILE")
    for depth in 0..<20 { try write("deep\(depth).blectl", "include deep\(depth + 1).blectl\ninclude deep\(depth + 1).blectl") }
    try write("deep20.blectl", "")
    try write("block.blectl", "test t\ninclude whole.blectl\nend")
    try write("whole.blectl", "test u\nskip\nend")
    for (name, place, reason) in [
      ("self", "self.blectl:2:11", "includes itself"), ("a", "inner/../c.blectl:2:1", "Unknown command"),
      ("variable", "variable.blectl:2:9", "only variables from --set"), ("deep0", "deep15.blectl:1:9", "nested deeper than 16 levels"),
      ("block", "whole.blectl:1:1", "outside of blocks"),
    ] {
      Self.expectRefused(try Blectl.run(["run", "\(folder)/\(name).blectl"], adapter: "hci99"), "\(folder)/\(place)", reason, name)
    }
    #expect(try Blectl.run(["run", "--set", "FILE=whole.blectl", "\(folder)/variable.blectl"]).status == 0)
  }

  /// Scripts of a folder run in the order of their names, without `_…`, which are for inclusion.
  @Test func aFolder() throws {
    let folder = TemporaryFolder.path()
    try FileManager.default.createDirectory(atPath: folder + "/inner", withIntermediateDirectories: true)
    for name in ["b.blectl", "a.blectl", "_c.blectl", ".d.blectl", "e.txt", "inner/f.blectl"] {
      try Data("test \"\(name)\"\nskip\nend\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    }
    let result = try Blectl.run(["run", "--dry-run", "--json", folder])
    #expect(try result.records.map { $0.string("name") } == ["a.blectl", "b.blectl", "inner/f.blectl"], "\(result.text)\(result.errors)")
  }
}
