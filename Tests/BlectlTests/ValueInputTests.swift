import TestSupport

/// Values given in hex, in a format, in a file, or on standard input.
@Suite(.timeLimit(.minutes(15))) struct ValueInputTests {
  private static let band = "name:Band-7"

  /// A value with a missing digit prevents the connection. The message has the word and its column.
  @Test(arguments: [
    (["write", band, "ff02", "1b990"], #""1b990" (column 1)"#), (["write", band, "ff02", "1b 990"], #""990" (column 4)"#),
    (["write", band, "ff02", "00", "--expect", "ff01=4f5"], #""4f5" (column 6)"#),
    (["write", band, "ff02", "00", "--expect", "ff01", "--fail-on", "ff01=4f 123"], #""123" (column 9)"#),
    (["notify", band, "ff01", "--write", "ff02=1b99012"], #""1b99012" (column 6)"#), (["-e", "wait ff01=567", band], #""567" (column 6)"#),
    (["-e", "write ff02 123", band], #""123" (column 1)"#), (["mac-from-adv", "--hex", "02010"], #""02010" (column 1)"#),
    (["scan", "--manufacturer", "0305:123"], #""123" (column 1)"#), (["decode", "att", "0a 120"], #""120" (column 4)"#),
  ]) func anOddNumberOfDigitsIsAnError(_ arguments: [String], _ place: String) throws {
    let result = try Blectl.run(arguments)
    #expect(result.status == 64 && result.output.isEmpty, "\(result.text)")
    #expect(result.errors.contains("\(place): odd number of digits"), "\(result.errors)")
  }

  @Test(arguments: [("5", 1), ("0x5", 1), ("0x01 0x5", 2), ("1:2:3", 3)]) func aDigitAloneIsAByte(_ value: String, _ count: Int) throws {
    let result = try Blectl.run("write", Self.band, "ff02", value, "--json")
    #expect(try result.records.first?.int("bytes") == count, "\(result.errors)")
  }

  @Test func filesNameThePlace() throws {
    let script = try TemporaryFolder.file("device name:Band-7\nread 2a19\nexpect == 3c1\n")
    let run = try Blectl.run("run", script)
    #expect(run.status == 64 && run.errors.contains(":3:11: Invalid hex \"3c1\" (column 1): odd number of digits"), "\(run.errors)")
    let peripheral = try TemporaryFolder.file(
      """
      [{"name": "Odd", "address": "D1:00:00:00:00:33/random", "services": [{"uuid": "fff0", "characteristics": [
        {"uuid": "fff1", "properties": ["read"],
         "value": "01 123"}]}]}]
      """)
    let sim = try Blectl.run(["scan", "-d", "1"], adapter: "sim:\(peripheral)")
    #expect(sim.status == 66 && sim.errors.contains("\(peripheral):3:"), "\(sim.errors)")
    #expect(sim.errors.contains("\"123\" (column 4): odd number of digits"), "\(sim.errors)")
    func device(_ header: String) throws -> String {
      let frame = #"{"header": "\#(header)", "fields": [{"name": "data", "type": "bytes"}]}"#
      let text = #"{"device": "D", "match": {"name": "Band-7"}, "to": "ff02", "commands": {"echo": {"request": \#(frame)}}}"#
      return try TemporaryFolder.file(text)
    }
    let call = try Blectl.run("call", Self.band, "--list", "--device", device("123"))
    #expect(call.status == 66 && call.errors.contains("\"123\" (column 1): odd number of digits"), "\(call.errors)")
    let value = try Blectl.run("call", Self.band, "echo", "data=12345", "--device", device("12"))
    #expect(value.status == 64 && value.errors.contains("data: Invalid hex \"12345\" (column 1): odd number of digits"), "\(value.errors)")
  }

  // MARK: Files and standard input

  /// Returns the value in hex that the device gets for a value on standard input.
  private func written(_ input: String, _ options: String...) throws -> (sent: String?, result: Blectl.Result) {
    let result = try Blectl.run(
      ["write", Self.band, "ff02", "-", "--mode", "command", "-vv"] + options, input: Array(input.utf8), adapter: "sim")
    return (result.errors.firstMatch(of: /< Write Command 52....([0-9a-f]*)/).map { String($0.1) }, result)
  }

  /// A line feed at the end, as echo writes it, is part of text only.
  @Test(arguments: [
    ("500\n", "u16le", "f401"), ("1 2\n3\n", "u8", "010203"), ("1b 9901\n", "hex", "1b9901"), ("1b9901\n", "auto", "1b9901"),
    ("G5kB\n", "base64", "1b9901"), ("G5\nkB\n", "base64", "1b9901"), ("hi\n", "utf8", "68690a"), ("21.5\n", "f32be", "41ac0000"),
  ]) func aFormatAppliesToStandardInput(_ input: String, _ format: String, _ hex: String) throws {
    let (sent, result) = try written(input, "--as", format)
    #expect(result.status == 0 && sent == hex, "\(result.errors)")
    let file = try TemporaryFolder.file(input)
    let other = try Blectl.run("write", Self.band, "ff02", "@\(file)", "--as", format, "--mode", "command", "-vv")
    #expect(other.status == 0)
    #expect(other.errors.firstMatch(of: /< Write Command 52....([0-9a-f]*)/).map { String($0.1) } == hex, "\(other.errors)")
  }

  @Test func withoutAFormatTheBytesAreSent() throws {
    #expect(try written("500\n").sent == "3530300a")
  }

  @Test(arguments: [
    ("70000\n", "u16le", "standard input: \"70000\" (column 1) does not fit u16le"), ("1 x\n", "u8", "\"x\" (column 3)"),
    ("1b99 012\n", "hex", "standard input: Invalid hex \"012\" (column 6): odd number of digits"),
    (" \n", "u8", "standard input is empty"),
  ]) func whatDoesNotFollowTheFormat(_ input: String, _ format: String, _ message: String) throws {
    let (sent, result) = try written(input, "--as", format)
    #expect(result.status == 64 && sent == nil && result.errors.contains(message), "\(result.errors)")
  }

  @Test func bytesThatAreNoText() throws {
    let result = try Blectl.run("write", Self.band, "ff02", "-", "--as", "utf8", input: [0x68, 0xFF])
    #expect(result.status == 64 && result.errors.contains("Cannot read standard input as utf8: it is not UTF-8 text"), "\(result.errors)")
  }
}
