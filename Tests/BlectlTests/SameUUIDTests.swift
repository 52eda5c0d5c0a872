import Foundation
import TestSupport

/// Several characteristics of one UUID: text tells them apart, and their user descriptions (2901) select them.
@Suite(.timeLimit(.minutes(15))) struct SameUUIDTests {
  private static func characteristic(_ value: Int, _ name: String, uuid: String = "2a6e") -> String {
    """
    {"uuid": "\(uuid)", "properties": ["read", "write", "notify"], "value": {"i16le": \(value)},
     "periodic": {"every_ms": 500, "values": [{"i16le": \(value)}]}, "descriptors": [{"uuid": "2901", "value": {"utf8": "\(name)"}}]}
    """
  }

  /// A thermometer with two temperatures, whose own names are these.
  private static func twin(_ first: String = "inside", _ second: String = "outside", more: String = "") throws -> String {
    let items = "\(characteristic(2100, first)), \(characteristic(500, second))\(more)"
    return try Blectl.simulator(
      """
      [{"name": "Twin", "address": "D1:00:00:00:00:63/random", "advertisement": {"flags": 6, "name": "Twin"},
        "services": [{"uuid": "181a", "characteristics": [\(items)]}]}]
      """)
  }

  private func run(_ words: [String], on adapter: String? = nil, input: [UInt8]? = nil) throws -> ProcessResult {
    try Blectl.run(words, input: input, adapter: try adapter ?? Self.twin())
  }

  /// The lines without their times.
  private func lines(_ result: ProcessResult) -> Set<String> {
    Set(result.lines.map { String($0.split(separator: " ", maxSplits: 1).last ?? "") })
  }

  // MARK: Text

  @Test(arguments: [
    ["notify", "Twin", "-n", "4"], ["notify", "Twin", "2a6e[1]", "2a6e[2]", "-n", "4"], ["notify", "Twin", "0x000c", "0x0010", "-n", "4"],
    ["read", "Twin", "2a6e[1]", "2a6e[2]", "--every", "1", "-n", "2"],
  ])
  func theIndexTellsThemApart(_ words: [String]) throws {
    let result = try run(words)
    #expect(result.status == 0 && lines(result) == ["2a6e[1] 3408  21 °C", "2a6e[2] f401  5 °C"], "\(result.text) \(result.errors)")
  }

  @Test(arguments: [["notify", "Twin", "-n", "4", "-v"], ["-e", "notify -n 4", "Twin"], ["-e", "subscribe; sleep 2", "Twin"]])
  func theirOwnNamesFollowWhereTheyAreKnown(_ words: [String]) throws {
    let result = try run(words)
    #expect(
      result.status == 0 && lines(result) == ["2a6e[1] \"inside\" 3408  21 °C", "2a6e[2] \"outside\" f401  5 °C"],
      "\(result.text) \(result.errors)")
  }

  @Test func aSessionOnATerminalHasThemToo() throws {
    let repl = try ReplTerminal(adapter: try Self.twin())
    try repl.enter("connect Twin", "subscribe", "sleep 2")
    try repl.says { $0.contains("temperature[1] \"inside\"  3408  21 °C") }
    try repl.says { $0.contains("temperature[2] \"outside\"  f401  5 °C") }
    _ = repl.leave()
  }

  @Test func aUniqueUUIDHasNoIndex() throws {
    let result = try run(["notify", "Panel", "fff7", "-n", "1", "--write", "fff6=01", "-t", "5"], on: "sim")
    #expect(!result.text.contains("["), "\(result.text)")
    let band = try run(["notify", "Band-7", "2a37", "-n", "1"], on: "sim")
    #expect(band.lines.first?.contains("Z 2a37 ") == true, "\(band.text)")
  }

  @Test func recordsAreAsBefore() throws {
    let records = try run(["notify", "Twin", "-n", "2", "--json"]).records
    #expect(Set(records.map { $0.string("uuid") }) == ["2a6e"] && Set(records.map { $0.int("handle") }) == [0x0C, 0x10])
  }

  // MARK: Names from 2901

  /// Each command that takes an attribute, and a part of what it prints.
  @Test(arguments: [
    (["read", "Twin", "outside"], "f401  5 °C"), (["read", "Twin", "OUTSIDE"], "f401  5 °C"),
    (["read", "Twin", "outside", "inside"], "outside\tf401  5 °C\ninside\t3408  21 °C"),
    (["read", "Twin", "outside", "--every", "1", "-n", "1"], "2a6e[2] \"outside\" f401"),
    (["notify", "Twin", "outside", "-n", "1"], "2a6e[2] \"outside\" f401"), (["write", "Twin", "outside", "0100"], ""),
    (["write", "Twin", "inside", "0100", "--expect", "outside=f4"], "2a6e[2] \"outside\" f401"),
    (["notify", "Twin", "outside", "--write", "inside=0100", "-n", "1"], "f401"),
    (["-e", "read outside; subscribe outside; wait outside=f401; unsubscribe outside", "Twin"], "2a6e[2] \"outside\" f401"),
    (["send-file", "Twin", "outside", "-", "--mode", "request"], "Sent 2 bytes"),
  ])
  func theySelect(_ words: [String], _ text: String) throws {
    let result = try run(words, input: words[0] == "send-file" ? [1, 0] : nil)
    #expect(result.status == 0 && (text.isEmpty || result.text.contains(text)), "\(words): \(result.text) \(result.errors)")
  }

  @Test func aNameMayHaveAnyCharacters() throws {
    let adapter = try Self.twin("Sensor [1] / A@B", " outside\\u0000\\u0000")
    #expect(try run(["read", "Twin", "Sensor [1] / A@B"], on: adapter).text == "3408  21 °C\n")
    #expect(try run(["read", "Twin", "outside"], on: adapter).text == "f401  5 °C\n")
  }

  /// A mistyped name reads all descriptions. A protected one is no reason to pair.
  @Test func aMistypedNameDoesNotPair() throws {
    let file = #"""
      [{"name": "Twin", "address": "D1:00:00:00:00:63/random", "advertisement": {"name": "Twin"}, "security": {"io": "none"},
        "services": [{"uuid": "181a", "characteristics": [{"uuid": "fff1", "properties": ["read"], "value": "00", "descriptors": [
          {"uuid": "2901", "value": {"utf8": "secret"}, "permissions": ["read_encrypted"]}]}]}]}]
      """#
    let result = try run(["read", "Twin", "sceret", "--pair"], on: Blectl.simulator(file))
    #expect(result.status == 64 && result.errors.contains("Unknown attribute \"sceret\""), "\(result.errors)")
  }

  @Test func aKnownNameWins() throws {
    let more = ", \(Self.characteristic(7, "temperature", uuid: "fff1")), \(Self.characteristic(8, "fff1", uuid: "fff2"))"
    let adapter = try Self.twin("battery_level", "humidity", more: more)
    let ambiguous = try run(["read", "Twin", "temperature"], on: adapter)
    #expect(ambiguous.status == 2 && ambiguous.errors.contains("2 attributes match temperature"), "\(ambiguous.errors)")
    #expect(try run(["read", "Twin", "fff1"], on: adapter).text == "0700\n")
    // A known name that the device does not have.
    #expect(try run(["read", "Twin", "battery_level"], on: adapter).text == "3408  21 °C\n")
  }

  @Test func anAmbiguousNameListsWhatCanBeTyped() throws {
    let adapter = try Self.twin("probe", "probe")
    let result = try run(["read", "Twin", "probe"], on: adapter)
    #expect(result.status == 2 && result.text.isEmpty, "\(result.text)")
    let list = "2 attributes match probe: 181a/2a6e[1] (0x000c, read write notify), 181a/2a6e[2] (0x0010, read write notify)."
    #expect(result.errors.contains(list), "\(result.errors)")
    #expect(try run(["read", "Twin", "181a/2a6e[2]"], on: adapter).text == "f401  5 °C\n")
  }

  @Test func anUnknownNameIsAUsageError() throws {
    let result = try run(["read", "Twin", "outsid"])
    #expect(result.status == 64 && result.errors.contains("Unknown attribute \"outsid\"."), "\(result.errors)")
    for text in ["", "0xzz", "0x0000"] { #expect(try run(["read", "Twin", text]).status == 64) }
  }

  // MARK: Scripts

  private func script(_ lines: String, _ options: String...) throws -> ProcessResult {
    let path = try TemporaryFolder.file("device Twin\ntest a\n\(lines)\nend\n")
    return try run(["run", path] + options)
  }

  @Test func scriptsHaveThemInQuotes() throws {
    let result = try script("read \"outside\"\nexpect == f401\nexpect 'inside' == 3408 within 2s\nwait \"outside=f4\"")
    #expect(result.status == 0, "\(result.text) \(result.errors)")
    let wrong = try script("read outside", "--dry-run")
    #expect(wrong.status == 64 && (wrong.errors + wrong.text).contains("Unknown attribute \"outside\""), "\(wrong.text) \(wrong.errors)")
    #expect(try script("read \"outside\"", "--dry-run").status == 0)
  }

  @Test func aRecordedScriptRuns() throws {
    let path = TemporaryFolder.path()
    #expect(try run(["read", "Twin", "outside", "--record", path]).status == 0)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.contains("  read 'outside'\n"), "\(text)")
    #expect(try run(["run", path]).status == 0)
  }
}
