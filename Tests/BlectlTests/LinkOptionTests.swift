import TestSupport

/// The connection options of every command that connects: link parameters and retries.
@Suite(.timeLimit(.minutes(15))) struct LinkOptionTests {
  @Test func theLinkIsAsAskedFor() throws {
    let link = try Blectl.run("connect", "name:Panel", "--mtu", "100", "--phy", "2m", "--interval", "30", "--json")
    let record = try #require(try link.records.first)
    #expect(record.int("mtu") == 100 && record.string("phy") == "2m" && record.double("interval_ms") == 30, "\(link.text)")
    #expect(link.errors.isEmpty, "\(link.errors)")
    let usual = try #require(try Blectl.run("connect", "name:Panel", "--json").records.first)
    #expect(usual.int("mtu") == 247 && usual.double("interval_ms") != 30)
  }

  /// Other commands that use the link work with the options too.
  @Test(arguments: [
    ["write", "PEER", "fff6", "\(String(repeating: "00", count: 60))", "--mode", "command"],
    ["send-file", "PEER", "fff6", "FILE", "--chunk", "20"],
  ]) func segmentsFitTheMTU(_ words: [String]) throws {
    let file = try TemporaryFolder.file(Array(repeating: 7, count: 60))
    let words = words.map { $0 == "PEER" ? "name:Panel" : $0 == "FILE" ? file : $0 }
    #expect(try Blectl.run(words + ["--mtu", "23", "--json"]).records.last?.int("segments") == 3)
  }

  @Test(arguments: ["read", "notify", "services"]) func theOthersToo(_ command: String) throws {
    let words = ["read": ["2a19"], "notify": ["2a37", "-n", "1"]][command] ?? []
    let result = try Blectl.run([command, "name:Band-7"] + words + ["--mtu", "40", "-vv"])
    #expect(result.status == 0 && result.errors.contains("Exchange MTU Request 022800"), "\(result.errors)")
  }

  @Test func whatIsNotAgreedIsSaid() throws {
    let result = try Blectl.run("read", "name:GateLock", "ffe2", "--mtu", "247", "--phy", "2m")
    #expect(result.status == 0)
    #expect(result.errors.contains("The device agreed to an MTU of 23, not 247."), "\(result.errors)")
    #expect(result.errors.contains("PHY"), "\(result.errors)")
  }

  /// Ctrl-C during a link change is neither a bug in blectl nor a refusal of the device.
  @Test func controlCWhileTheLinkIsChangedIsNoRefusal() throws {
    let controller = try Blectl.start(["read", "name:Panel", "fff7", "--interval", "4000", "--phy", "2m", "-v"], virtual: false)
    #expect(controller.waitForOutput(containing: "Connecting to"))
    let result = controller.end(by: 2)
    #expect(result.status == 130 && !result.errors.contains("bug") && !result.errors.contains("Cannot set"), "\(result.errors)")
  }

  @Test(arguments: [
    (["--mtu", "22"], "23 to 517"), (["--mtu", "518"], "23 to 517"), (["--interval", "7"], "7.5 to 4000"),
    (["--phy", "3m"], "1m, 2m or coded"),
    (["--retries", "101"], "0 to 100"), (["-t", "0"], "--timeout"), (["-t", "1", "--timeout", "2"], "twice"),
  ]) func ranges(_ words: [String], _ mention: String) throws {
    let result = try Blectl.run(["read", "name:Band-7", "2a19"] + words)
    #expect(result.status == 64 && result.errors.contains(mention), "\(result.errors)")
  }

  // MARK: How hard

  private static func device(_ more: String) throws -> String {
    try Blectl.simulator(
      """
      { "name": "Late", "address": "D1:00:00:00:00:61/random", "advertisement": { "name": "Late" }, \(more), "services": [
        { "uuid": "fff0", "characteristics": [ { "uuid": "fff1", "properties": ["read"], "value": "07" } ] } ] }
      """)
  }

  @Test(arguments: [(0, nil, 0), (1, nil, 0), (2, nil, 6), (2, "2", 0), (3, "2", 6), (1, "0", 6)] as [(Int, String?, Int32)])
  func itIsTriedAgain(_ failing: Int, _ retries: String?, _ status: Int32) throws {
    let result = try Blectl.run(
      ["read", "name:Late", "fff1"] + (retries.map { ["--retries", $0] } ?? []),
      adapter: Self.device(#""failing_connections": \#(failing)"#))
    #expect(result.status == status, "\(result.errors)")
    let tries = result.errors.split(separator: "\n").count { $0.contains("Trying again.") }
    #expect(tries == min(failing, retries.flatMap { Int($0) } ?? 1), "\(result.errors)")
  }

  /// A device that closes its first connections immediately, or after the link layer's first answer, counts as not connected.
  @Test(
    arguments: [
      (["read", "PEER", "fff1"], 1, nil, 0), (["read", "PEER", "fff1"], 2, nil, 6), (["read", "PEER", "fff1", "--mtu", "60"], 2, "2", 0),
      (["services", "PEER"], 3, "3", 0), (["services", "PEER"], 1, "0", 6), (["services", "PEER", "--wait"], 4, "0", 0),
      (["connect", "PEER"], 2, "2", 0), (["-e", "read fff1; read fff1", "PEER"], 1, nil, 0),
    ] as [([String], Int, String?, Int32)])
  func aDeviceThatClosesItsFirstConnections(_ words: [String], _ closing: Int, _ retries: String?, _ status: Int32) throws {
    for pause in [0, 1] {
      let device = try Self.device(
        #""variables": {"n": 0}, "firmware": {"ms_per_request": 5}, "on_connect": [ {"count": "n"}, "#
          + #"{"disconnect": true, "after_ms": \#(pause), "if": {"variable": "n", "at_most": \#(closing)}} ]"#)
      let words = words.map { $0 == "PEER" ? "name:Late" : $0 } + (retries.map { ["--retries", $0] } ?? [])
      let result = try Blectl.run(words, adapter: device)
      #expect(result.status == status, "\(words) \(pause) \(result.errors)")
      let tries = result.errors.split(separator: "\n").count {
        $0.contains("closed the connection before it answered. Trying again.")
      }
      #expect(tries == min(closing, retries.flatMap { Int($0) } ?? 1), "\(words) \(pause) \(result.errors)")
      if status == 6 { #expect(result.errors.contains("--retries"), "\(result.errors)") }
    }
  }

  /// A button that advertises for 0.9 s is connected at the first match.
  @Test func aButtonIsConnectedWhileItAdvertises() throws {
    let file = try TemporaryFolder.file(
      """
      [ { "name": "Button", "address": "D1:00:00:00:00:80/random", "interval_ms": 100, "starts_after_ms": 19999, "advertisement": { "flags": 6, "name": "Button" }, "variables": { "n": 0 },
          "timers": { "press": { "every_ms": 20000, "then": [
            { "advertise": true, "if": { "variable": "n", "at_most": 0 } }, { "count": "n" }, { "advertise": false, "after_ms": 900 } ] } },
          "services": [ { "uuid": "fff0", "characteristics": [ { "uuid": "fff1", "properties": ["read"], "value": "01" } ] } ] },
        { "name": "Other", "address": "D1:00:00:00:00:81/random", "interval_ms": 100, "advertisement": { "flags": 6, "name": "Other" } } ]
      """)
    let words = ["read", "name:B*", "fff1"]
    let result = try Blectl.run(words + ["--wait", "-t", "30"], adapter: "sim:" + file)
    #expect(result.status == 0 && result.text == "01\n", "\(result.errors)")
    // By the time a stronger device could appear, it is silent again.
    let late = try Blectl.run(words + ["-t", "25"], adapter: "sim:" + file)
    #expect(late.status == 4 && late.errors.contains("The device advertised for 0."), "\(late.errors)")
    #expect(late.errors.contains(" s, until 25."), "\(late.errors)")
  }

  @Test func aFailedConnectionSaysWhenTheDeviceWasHeard() throws {
    let never = try Self.device(#""failing_connections": 255"#)
    let result = try Blectl.run("read", "name:Late", "fff1", "--wait", "-t", "30", adapter: never)
    #expect(result.status == 6)
    #expect(result.errors.contains("blectl heard the device once, "), "\(result.errors)")
  }

  @Test(arguments: ["name:Late", "D1:00:00:00:00:61/random", "D1:00:00:00:00:61"])
  func itIsWaitedFor(_ peer: String) throws {
    let late = try Self.device(#""starts_after_ms": 90000"#)
    let impatient = try Blectl.run("read", peer, "fff1", adapter: late)
    #expect(impatient.status == (peer.hasSuffix("/random") ? 4 : 2), "\(impatient.errors)")
    let patient = try Blectl.run("read", peer, "fff1", "--wait", adapter: late)
    #expect(patient.status == 0 && patient.text == "07\n", "\(patient.errors)")
    let limited = try Blectl.run("read", peer, "fff1", "--wait", "-t", "60", adapter: late)
    #expect(limited.status == impatient.status, "\(limited.errors)")
  }

  /// The device is present, but the connection fails repeatedly.
  @Test func aConnectionIsWaitedForToo() throws {
    let flaky = try Self.device(#""failing_connections": 9"#)
    #expect(try Blectl.run("read", "name:Late", "fff1", "--wait", adapter: flaky).text == "07\n")
    #expect(try Blectl.run("read", "name:Late", "fff1", adapter: flaky).status == 6)
    let never = try Self.device(#""failing_connections": 255"#)
    let limited = try Blectl.run("read", "name:Late", "fff1", "--wait", "-t", "30", adapter: never)
    #expect(limited.status == 6, "\(limited.errors)")
  }

  /// The longest advertising interval exceeds 10 s.
  @Test(arguments: ["D1:00:00:00:00:61", "name:Late"]) func theLongestIntervalIsWaitedFor(_ peer: String) throws {
    let late = try Self.device(#""starts_after_ms": 10500"#)
    let result = try Blectl.run("read", peer, "fff1", adapter: late)
    #expect(result.status == 0 && result.text == "07\n", "\(result.errors)")
    let never = try Blectl.run("read", peer.replacing("1", with: "2"), "fff1", "-v", adapter: try Self.device(#""starts_after_ms": 11200"#))
    #expect(never.status == 2, "\(never.errors)")
    for word in ["in 11 s", "-t SECONDS", "--wait"] { #expect(never.errors.contains(word), "\(never.errors)") }
  }

  @Test func shortForms() throws {
    #expect(try Blectl.run("scan", "-d2", "-n1", "--json").records.count == 1)
    #expect(try Blectl.run("scan", "-d", "2", "-n", "1", "--json").records.count == 1)
    #expect(try Blectl.run("notify", "name:Band-7", "2a37", "-n", "2").lines.count == 2)
    #expect(try Blectl.run("notify", "name:Band-7", "2a37", "-d", "3", "-t", "1.5").status == 0)
    #expect(try Blectl.run("-t", "5", "read", "name:Band-7", "2a19").text == "3c  60 %\n")
    #expect(try Blectl.run("scan", "-n", "1", "--count", "2").errors.contains("twice"))
  }
}
