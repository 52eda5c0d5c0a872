import TestSupport

/// A device answers a write with several values on one link.
@Suite(.timeLimit(.minutes(15))) struct AnswerTests {
  static let history = ["567c03010014", "567c0302ab28", "567c03034323"]

  /// All three packets of the wristband's history are collected.
  @Test(arguments: [
    ["--expect", "ff01", "--expect-count", "3"], ["--expect", "ff01=567c0303", "--expect", "ff01=567c0301", "--expect", "ff01=567c0302"],
    ["--expect", "ff01=567c", "--expect", "ff01=567c0302", "--expect", "fee0/ff01=56"], ["--collect", "2"],
    ["--collect", "2", "--expect", "ff01"],
  ]) func threePackets(_ options: [String]) throws {
    let result = try Blectl.run(["write", "name:Band-7", "ff02", "1b9902", "--json"] + options)
    #expect(result.status == 0, "\(result.errors)")
    let records = try result.records
    #expect(records.first?.string("event") == "written")
    // --collect alone also listens to the heart rate.
    let packets = records.dropFirst().filter { $0.string("uuid") == "ff01" }
    #expect(packets.compactMap { $0.string("value").map { String($0.prefix(12)) } } == Self.history, "\(result.text)")
    #expect(packets.allSatisfy { $0.string("event") == "notification" && $0.string("name") == "Band-7" })
    let others = records.dropFirst().count { $0.string("uuid") == "2a37" }
    #expect(options == ["--collect", "2"] ? others == 2 : others == 0, "\(result.text)")
  }

  @Test func whatIsMissingIsNamed() throws {
    let few = try Blectl.run("write", "name:Band-7", "ff02", "1b9902", "--expect", "ff01", "--expect-count", "4", "-t", "2")
    #expect(few.status == 7 && few.lines.count == 3, "\(few.text)")
    #expect(few.errors.contains("Received 3 of 4 values on ff01 in 2 s. The last value was 567c0303"), "\(few.errors)")
    let two = try Blectl.run(
      "write", "name:Band-7", "ff02", "1b9902", "--expect", "ff01=567c0309", "--expect", "ff01=567c0302", "--expect", "ff01=55", "-t", "2")
    #expect(two.status == 7, "\(two.text)")
    #expect(
      two.errors.contains("Received 0 of 1 value starting with 567c0309 on ff01 and 0 of 1 value starting with 55 on ff01 in 2 s."),
      "\(two.errors)")
  }

  /// A FAIL from the lock ends the wait immediately.
  @Test(arguments: ["ffe2=4641494c", "ffe2=\"FAIL\"", "ffe2=46", "ffe2"]) func aFailureEndsAtOnce(_ pattern: String) throws {
    let result = try Blectl.run(
      "write", "name:GateLock", "ffe1", String(repeating: "01", count: 104), "--expect", "ffe2=\"OPEN\"", "--fail-on", pattern, "--json",
      "-v")
    #expect(result.status == 7, "\(result.errors)")
    let message = result.error?.string("message") ?? ""
    #expect(message == "ffe2 sent a value that matches --fail-on: 4641494c  \"FAIL\".", "\(result.errors)")
    // The refused value is a result.
    #expect(try result.records.map { "\($0.string("event") ?? "") \($0.string("value") ?? "")" } == ["written ", "notification 4641494c"])
    let alone = try Blectl.run(
      "write", "name:GateLock", "ffe1", String(repeating: "01", count: 104), "--expect", "ffe2=\"OPEN\"", "-t", "2")
    #expect(
      alone.status == 7 && alone.errors.contains("Ignored a value that does not match --expect: 4641494c  \"FAIL\""), "\(alone.errors)")
  }

  @Test(arguments: ["ffe2=\"OPEN\"", "ffe2=\"OP\"", "ffe2=4f50454e", "ffe2"]) func anAnswerThatIsNoFailure(_ pattern: String) throws {
    let code = Array(repeating: UInt8(0), count: 104)
    let result = try Blectl.run(
      ["write", "name:GateLock", "ffe1", "@\(try TemporaryFolder.file(code))", "--expect", pattern, "--fail-on", "ffe2=\"FAIL\""])
    #expect(result.status == 0 && result.lines.count == 1 && result.text.hasSuffix("  \"OPEN\"\n"), "\(result.errors)")
  }

  /// A failure ends a write that still has segments left.
  @Test func aFailureEndsAWriteThatGoesOn() throws {
    let file = try TemporaryFolder.file(
      """
      { "name": "Picky", "address": "D1:00:00:00:00:71/random", "advertisement": { "name": "Picky" }, "services": [
        { "uuid": "fff0", "characteristics": [
          { "uuid": "fff1", "properties": ["write_without_response"], "reactions": [{ "then": [{ "notify": "fff2", "value": "ee07" }] }] },
          { "uuid": "fff2", "properties": ["notify"] } ] } ] }
      """)
    let result = try Blectl.run(
      "write", "name:Picky", "fff1", String(repeating: "01", count: 1000), "--chunk", "20", "--gap", "1000", "--fail-on", "fff2=ee",
      "--collect", "5",
      "--json", adapter: "sim:\(file)")
    #expect(try result.status == 7 && result.records.map { $0.string("value") } == ["ee07"], "\(result.text)")
    #expect(result.error?.string("message") == "fff2 sent a value that matches --fail-on: ee07.", "\(result.errors)")
  }

  /// Values collected before a failure are shown, even with segments left.
  @Test func whatWasCollectedBeforeAFailureIsShown() throws {
    let file = try TemporaryFolder.file(
      """
      { "name": "Slow", "address": "D1:00:00:00:00:72/random", "advertisement": { "name": "Slow" }, "services": [
        { "uuid": "fff0", "characteristics": [
          { "uuid": "fff1", "properties": ["write_without_response"], "reactions": [
            { "then": [{ "notify": "fff2", "value": "01" }, { "notify": "fff2", "value": "ee", "after_ms": 1500 }] }] },
          { "uuid": "fff2", "properties": ["notify"] } ] } ] }
      """)
    let result = try Blectl.run(
      "write", "name:Slow", "fff1", String(repeating: "01", count: 400), "--chunk", "20", "--gap", "1000", "--fail-on", "fff2=ee",
      "--collect", "5",
      "--json", adapter: "sim:\(file)")
    let values = try result.records.map { $0.string("value") ?? "" }
    #expect(result.status == 7 && values.first == "01" && values.last == "ee" && values.count { $0 == "ee" } == 1, "\(result.text)")
  }

  @Test func collectingShowsTheFailureToo() throws {
    let result = try Blectl.run(
      "write", "name:GateLock", "ffe1", String(repeating: "01", count: 104), "--collect", "5", "--fail-on", "ffe2=46", "--json")
    #expect(result.status == 7)
    #expect(try result.records.last?.string("value") == "4641494c")
  }

  @Test(arguments: [
    (["--expect", "ffe2=OPEN"], "'ffe2=\"OPEN\"'"), (["--expect", "ffe2="], "unset"),
    (["--expect", "ffe2=\"OP"], "and not text between two double quotes"), (["--expect", "=4f"], "ffe2=4f50"),
    (["--fail-on", "ffe2=46"], "--expect or --collect"), (["--expect-count", "2"], "--expect"),
    (["--expect", "ffe2", "--expect-count", "0"], "1 to"),
    (["--collect", "0"], "--collect"), (["--expect", "ffe2", "--fail-on", "ffe2=\"\""], "unset"),
  ]) func whatIsWrongIsSaid(_ options: [String], _ mention: String) throws {
    let result = try Blectl.run(["write", "name:GateLock", "ffe1", "00"] + options)
    #expect(result.status == 64 && result.errors.contains(mention), "\(result.errors)")
    #expect(result.errors.hasPrefix("blectl: "), "\(result.errors)")
  }

  /// The second of two values that answer is surplus, not wrong.
  @Test func oneMoreIsNoWrongAnswer() throws {
    let result = try Blectl.run("write", "name:Band-7", "ff02", "1b9902", "--expect", "ff01", "--expect", "2a37")
    #expect(result.status == 0 && result.lines.count == 2, "\(result.text)")
    #expect(result.errors.contains("Ignored an extra answer: 567c0302") && result.errors.contains(" (ff01)"), "\(result.errors)")
    #expect(!result.errors.contains("does not match --expect"))
  }

  /// A description of the device may have any text, so only the device shows a mistake. Nothing was written before.
  @Test(arguments: [
    ["write", "name:GateLock", "ffe1", "00", "--expect", "nosuch"],
    ["write", "name:GateLock", "ffe1", "00", "--collect", "1", "--fail-on", "no such=00"],
    ["notify", "name:Band-7", "ff01", "--write", "nosuch=00"],
  ]) func anAttributeThatIsNoneIsToldBeforeAWrite(_ words: [String]) throws {
    let result = try Blectl.run(words + ["-v"])
    #expect(result.status == 64 && result.errors.contains("blectl: Unknown attribute \"no"), "\(result.errors)")
    #expect(!(result.text + result.errors).contains("Wrote"), "\(result.errors)")
  }

  // MARK: notify --write

  @Test func subscribedFirstThenWritten() throws {
    let result = try Blectl.run("notify", "name:Band-7", "ff01", "--write", "ff02=1b9902", "-n", "3", "--json")
    #expect(result.status == 0, "\(result.errors)")
    #expect(try result.records.compactMap { $0.string("value").map { String($0.prefix(12)) } } == Self.history, "\(result.text)")
    let two = try Blectl.run("notify", "name:Band-7", "ff01", "--write", "ff02=1b9901", "--write", "ff02=1b9902", "-n", "4", "-v")
    #expect(two.status == 0 && two.lines.count == 4 && two.lines.first?.contains("567b") == true, "\(two.text)")
    #expect(two.errors.contains("Wrote 3 bytes to ff02"))
  }

  @Test(arguments: [("ff02", "ff02=1b9902"), ("ff02=", "unset"), ("ff02=zz", "quotes")])
  func aValueHasToFollow(_ argument: String, _ mention: String) throws {
    let result = try Blectl.run("notify", "name:Band-7", "ff01", "--write", argument)
    #expect(result.status == 64 && result.errors.contains(mention), "\(result.errors)")
  }

  @Test func aWriteThatIsRefusedEndsIt() throws {
    let result = try Blectl.run("notify", "name:Band-7", "ff01", "--write", "2a19=00", "-n", "1")
    #expect(result.status == 5 && result.errors.contains("2a19"), "\(result.errors)")
  }
}
