import TestSupport

/// Commands that people use to get values: by hand, for everything, and with one UUID for several characteristics.
@Suite(.timeLimit(.minutes(15))) struct SubscriptionTests {
  /// A device with three characteristics 2a6e, one of which notifies. Its fff3 indicates, and the 2902 of its fff4 is refused.
  private static let sensor = """
    { "name": "Sensor", "address": "D1:00:00:00:00:30/random", "advertisement": { "name": "Sensor" }, "services": [
      { "uuid": "181a", "characteristics": [
        { "uuid": "2a6e", "properties": ["read"], "value": { "i16le": 2100 } },
        { "uuid": "2a6e", "properties": ["read"], "value": { "i16le": 2150 } } ] },
      { "uuid": "181a", "characteristics": [
        { "uuid": "2a6e", "properties": ["read", "notify"], "periodic": { "every_ms": 100, "values": [{ "i16le": 2201 }] } } ] },
      { "uuid": "fff0", "characteristics": [
        { "uuid": "fff3", "properties": ["indicate"], "periodic": { "every_ms": 150, "values": ["c3"] } },
        { "uuid": "fff4", "properties": ["notify"], "descriptors": [{ "uuid": "2902", "permissions": ["read_encrypted", "write_encrypted"] }] }
      ] } ] }
    """

  private func sensor(_ arguments: [String]) throws -> Blectl.Result {
    try Blectl.run(arguments, adapter: "sim:\(TemporaryFolder.file(Self.sensor))")
  }

  private static let note = "2a6e: using 181a[2]/2a6e (handle 0x0011), the only one of 3 that can notify or indicate"

  @Test func theOnlyOneThatNotifiesIsTaken() throws {
    for words in [
      ["notify", "name:Sensor", "2a6e", "-n", "1", "--json"], ["notify", "name:Sensor", "2a6e", "-n", "1", "--json", "-v"],
      ["-e", "wait 2a6e", "name:Sensor", "--json"], ["-e", "subscribe 2a6e; wait 2a6e; unsubscribe 2a6e", "name:Sensor", "--json"],
    ] {
      let result = try sensor(words)
      #expect(result.status == 0, "\(words) \(result.errors)")
      #expect(try result.records.contains { $0.string("value") == "9908" }, "\(words) \(result.text)")
      #expect(result.errors.split(separator: "\n").count { $0.contains(Self.note) } == 1, "\(words) \(result.errors)")
    }
  }

  /// An ambiguous UUID is not guessed.
  @Test func othersAreListedWithTheirPropertiesAndAsTheyCanBeTyped() throws {
    let write = try sensor(["write", "name:Sensor", "2a6e", "00"])
    #expect(write.status == 2)
    let list = "181a[1]/2a6e[1] (0x000c, read), 181a[1]/2a6e[2] (0x000e, read), 181a[2]/2a6e (0x0011, read notify)"
    #expect(write.errors.contains("3 attributes match 2a6e: \(list). Use one of these names or handles"), "\(write.errors)")
    for (form, value) in [("181a[1]/2a6e[1]", "3408"), ("181a[1]/2a6e[2]", "6608")] {
      #expect(try sensor(["read", "name:Sensor", form]).text.hasPrefix(value))
    }
  }

  @Test(arguments: [["notify", "name:Sensor", "--json"], ["notify", "name:Sensor", "*", "--json"]])
  func everythingThatSendsValues(_ words: [String]) throws {
    let result = try sensor(words + ["-n", "6"])
    #expect(result.status == 0, "\(result.errors)")
    #expect(try Set(result.records.compactMap { $0.string("uuid") }) == ["2a6e", "fff3"], "\(result.text)")
    #expect(
      result.errors.contains("Subscribing to all characteristics that send values: service_changed, temperature[3], fff3"),
      "\(result.errors)")
    #expect(result.errors.contains("Skipped fff4: "), "\(result.errors)")
  }

  /// A device whose fff1 and fff2 refuse their 2902, and whose fff3 has both kinds of values.
  private func locked(_ both: String, _ arguments: [String]) throws -> Blectl.Result {
    let descriptor = #""descriptors": [{ "uuid": "2902", "permissions": ["read", "write_encrypted"] }]"#
    let text = """
      { "name": "Locked", "address": "D1:00:00:00:00:32/random", "advertisement": { "name": "Locked" }, "services": [
        { "uuid": "fff0", "characteristics": [
          { "uuid": "fff1", "properties": ["notify"], \(descriptor) },
          { "uuid": "fff2", "properties": ["indicate"], \(descriptor) }, \(both)
          { "uuid": "fff5", "properties": ["write"] } ] } ] }
      """
    return try Blectl.run(arguments, adapter: "sim:\(TemporaryFolder.file(text))")
  }

  private static let both = """
    { "uuid": "fff3", "properties": ["notify", "indicate"], "periodic": { "every_ms": 100, "values": ["c3"] } },
    """

  /// The first refusal is the error, and nothing was written.
  @Test func everythingIsRefused() throws {
    for words in [["notify", "Locked"], ["write", "Locked", "fff5", "00", "--collect", "1"], ["-e", "subscribe", "Locked"]] {
      let device = try locked("", words)
      #expect(device.status == 5, "\(words) \(device.errors)")
      let advice = "it needs encryption (ATT 0x0f). To pair: blectl pair name:Locked\n"
      #expect(device.errors.contains("Cannot write fff1@2902 (") && device.errors.contains(advice), "\(device.errors)")
      #expect(device.errors.contains("note: Skipped fff2: ") && !device.errors.contains("Wrote"), "\(device.errors)")
    }
  }

  @Test func indications() throws {
    for (words, kinds) in [
      (["notify", "Locked", "fff3", "-n", "2"], ["notification"]), (["notify", "Locked", "fff3", "-n", "2", "--indicate"], ["indication"]),
      (["notify", "Locked", "-n", "2", "--indicate"], ["indication"]),
      (["-e", "subscribe fff3 --indicate; sleep 1", "Locked"], ["indication"]),
      (["write", "Locked", "fff5", "00", "--collect", "1", "--indicate"], ["written", "indication"]),
    ] as [([String], Set<String>)] {
      let result = try locked(Self.both, words + ["--json"])
      #expect(try result.status == 0 && Set(result.records.compactMap { $0.string("event") }) == kinds, "\(words) \(result.errors)")
    }
    let changed = try locked(
      Self.both, ["-e", "subscribe fff3; subscribe fff3 --indicate; read fff3@2902; unsubscribe; read fff3@2902", "Locked"])
    let configurations = changed.lines.filter { $0.hasPrefix("0") }
    #expect(configurations.map { $0.prefix(4) } == ["0200", "0000"], "\(changed.text)\(changed.errors)")
    let expected = try locked(Self.both, ["write", "Locked", "fff5", "00", "--expect", "fff1", "--indicate"])
    #expect(expected.status == 2 && expected.errors.contains(") does not indicate. To get its notifications"), "\(expected.errors)")
    let none = try locked(Self.both, ["write", "Locked", "fff5", "00", "--indicate"])
    #expect(none.status == 64 && none.errors.contains("--indicate needs --expect or --collect."), "\(none.errors)")
  }

  @Test func aConfigurationWrittenByHandStays() throws {
    let line = "write fff3@2902 0200; subscribe fff3; sleep 1; unsubscribe fff3; read fff3@2902"
    let result = try locked(Self.both, ["-e", line, "Locked", "--json"])
    #expect(result.status == 0, "\(result.errors)")
    let records = try result.records
    #expect(records.contains { $0.string("event") == "indication" } && !records.contains { $0.string("event") == "notification" })
    #expect(records.last?.string("value") == "0200", "\(result.text)")
  }

  @Test func everythingInASession() throws {
    for command in ["subscribe", "subscribe '*'", "subscribe 2a6e fff3"] {
      let result = try sensor(["-e", "\(command); sleep 1", "name:Sensor", "--json"])
      #expect(result.status == 0, "\(result.errors)")
      #expect(try Set(result.records.compactMap { $0.string("uuid") }) == ["2a6e", "fff3"], "\(command) \(result.text)")
    }
  }

  @Test func aDeviceWithNothingToSubscribeTo() throws {
    let device = """
      { "name": "Mute", "address": "D1:00:00:00:00:31/random", "advertisement": { "name": "Mute" }, "services": [
        { "uuid": "fff0", "handle": 1, "characteristics": [{ "uuid": "fff1", "properties": ["read"] }] } ] }
      """
    let result = try Blectl.run("notify", "name:Mute", adapter: "sim:\(TemporaryFolder.file(device))")
    #expect(result.status == 2 && result.errors.contains("Nothing to subscribe to"), "\(result.errors)")
  }

  /// The 2902 of a characteristic selects it, by name and by handle.
  @Test(arguments: ["fff3@2902", "0x0016", "fff3"]) func aConfigurationNamesItsCharacteristic(_ attribute: String) throws {
    let result = try sensor(["notify", "name:Sensor", attribute, "-n", "1", "--json"])
    #expect(try result.status == 0 && result.records.first?.string("uuid") == "fff3", "\(result.errors)")
  }

  /// Values enabled by hand are not shown, so a hint names the commands that show them.
  @Test func aConfigurationWrittenByHandNamesWhatShowsTheValues() throws {
    let hint = "nothing shows them"
    for (words, command) in [
      (["-e", "write fff3@2902 0200; sleep 1", "name:Sensor"], "subscribe fff3"),
      (["write", "name:Sensor", "fff3@2902", "0200"], "blectl notify name:Sensor fff3"),
      (["-e", "write 0x0016 0200", "name:Sensor"], "subscribe fff3"),
      (["-e", "write 181a[2]/2a6e@2902 0100", "name:Sensor"], "subscribe 'temperature[3]'"),
    ] {
      let result = try sensor(words)
      #expect(result.status == 0 && result.errors.contains(hint) && result.errors.contains(command), "\(words) \(result.errors)")
    }
    for words in [
      ["-e", "write fff3@2902 0000", "name:Sensor"], ["-e", "subscribe fff3; write fff3@2902 0200", "name:Sensor"],
      ["write", "name:Sensor", "fff3@2902", "0200", "--expect", "fff3"],
    ] {
      let result = try sensor(words)
      #expect(result.status == 0 && !result.errors.contains(hint), "\(words) \(result.errors)")
    }
  }
}
