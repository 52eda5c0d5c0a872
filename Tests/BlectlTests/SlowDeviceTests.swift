import TestSupport

/// Devices that cannot process data at full speed: man/examples/slow-panel.json, and others.
@Suite(.timeLimit(.minutes(15))) struct SlowDeviceTests {
  private static let slow = "sim:\(ExampleTests.folder)/slow-panel.json"

  /// Sends 77 831 bytes in segments of 182. - Returns: The bytes that arrived, the duration in seconds, and the result.
  private static func send(_ options: [String], to adapter: String = slow) throws -> (arrived: Int, seconds: Double, Blectl.Result) {
    let path = try TemporaryFolder.file(SendFileTests.picture)
    let result = try Blectl.run(
      ["send-file", "name:SlowPanel", "fff6", path, "--chunk", "182", "--verify", "notify:fff7", "--json"] + options, adapter: adapter)
    let sent = try #require(try result.records.last { $0.string("event") == "sent" }, "\(result.errors)")
    let seconds = try #require(sent.double("seconds"))
    if sent.bool("verified") == true { return (77_831, seconds, result) }
    let report = result.errors.firstMatch(of: /but fff7 reports (\d+) bytes/)
    return (try #require(report.flatMap { Int($0.1) }, "\(result.errors)"), seconds, result)
  }

  /// After a loss, blectl waits two more seconds before it accepts the device's count. A fixed pause of 4 ms loses half, 6 ms almost
  /// nothing, 8 ms nothing. Requests lose nothing and take 16 s.
  @Test(arguments: [("4", 0.42...0.58, 3.5...4.0), ("6", 0.0001...0.012, 4.5...4.8), ("8", 0...0, 3.3...3.7)])
  func fixedPauses(_ gap: String, _ lost: ClosedRange<Double>, _ seconds: ClosedRange<Double>) throws {
    let (arrived, took, result) = try Self.send(["--mode", "command", "--gap", gap])
    let share = 1 - Double(arrived) / 77_831
    #expect(lost.contains(share) && seconds.contains(took), "\(share) in \(took) s: \(result.errors)")
    #expect(result.status == (lost.upperBound > 0 ? 7 : 0))
  }

  private static func device(_ firmware: String) throws -> String {
    try Blectl.simulator(
      """
      {"name": "SlowPanel", "address": "D1:00:00:00:00:11/random", "advertisement": {"name": "SlowPanel"}, "mtu": 247, "firmware": {\(firmware)},
        "services": [{"uuid": "fff0", "characteristics": [
          {"uuid": "fff6", "properties": ["write", "write_without_response"], "sink": {"report": "fff7"}},
          {"uuid": "fff7", "properties": ["read", "notify"]}]}]}
      """)
  }

  /// A device that slows the link layer loses nothing. The transfer takes as long as the device: at least 428 packets of 5 ms.
  @Test(
    arguments: [
      (#""buffers": 3, "ms_per_packet": 5"#, 2.14...2.4), (#""buffers": 1, "ms_per_packet": 5"#, 2.14...3.6),
      (#""ms_per_packet": 1, "short_octets": 100, "ms_per_long_octet": 0.05"#, 2.16...2.9),
    ] as [(String, ClosedRange<Double>)])
  func holdsBack(_ firmware: String, _ seconds: ClosedRange<Double>) throws {
    let (arrived, took, result) = try Self.send([], to: Self.device(firmware))
    #expect(arrived == 77_831 && seconds.contains(took) && result.status == 0, "\(arrived) in \(took) s: \(result.errors)")
  }

  /// The device falls behind by half a millisecond per segment. The answers show this long before the buffers are full. 319 packets of 3
  /// ms, and the measurement, take rather more than 1.4 s.
  @Test(arguments: [("7.5", 6), ("15", 6), ("15", 16)]) func onlyALittleSlower(_ interval: String, _ buffers: Int) throws {
    let path = try TemporaryFolder.file(SendFileTests.picture)
    let adapter = try Self.device(#""buffers": \#(buffers), "ms_per_packet": 3, "when_full": "drop""#)
    let result = try Blectl.run(
      ["send-file", "name:SlowPanel", "fff6", path, "--verify", "notify:fff7", "--interval", interval, "--json"], adapter: adapter)
    let seconds = try result.records.last { $0.string("event") == "sent" }?.double("seconds")
    #expect(result.status == 0 && (0.95...1.8).contains(seconds ?? 0), "\(seconds ?? 0) s: \(result.errors)")
  }

  /// Repeated reports of one number do not erase an earlier one, which confirmed the start of the file.
  @Test func whatArrivedBeforeTheFirstDropIsKnown() throws {
    let path = try TemporaryFolder.file(SendFileTests.picture)
    let adapter = try Self.device(#""drops_after": 6, "drops": 2"#)
    let result = try Blectl.run(
      ["send-file", "name:SlowPanel", "fff6", path, "--verify", "notify:fff7", "--interval", "15", "--json"], adapter: adapter)
    #expect(result.status == 7 && (result.error?.int("resume_offset") ?? 0) >= 4 * 244, "\(result.errors)")
  }

  /// An answer from the ATT layer says nothing about the application above it.
  @Test func answersAtOnceAndDropsBehind() throws {
    let path = try TemporaryFolder.file(SendFileTests.picture)
    let adapter = try Self.device(#""buffers": 4, "ms_per_packet": 50, "when_full": "drop", "answers_at_once": true"#)
    let sent = try Blectl.run(["send-file", "name:SlowPanel", "fff6", path, "--chunk", "182"], adapter: adapter)
    #expect(sent.status == 0 && sent.text.contains(" in 0.9"), "\(sent.text) \(sent.errors)")
    // A check with the application is reliable, and keeps its pace.
    let asked = try Blectl.run(["send-file", "name:SlowPanel", "fff6", path, "--verify", "notify:fff7"], adapter: adapter)
    #expect(asked.status == 0 && asked.text.contains("the device is slower"), "\(asked.text) \(asked.errors)")
  }

  /// If even the first packets have no space, a transfer that asks the application ends early.
  @Test func hasNoRoomAtAll() throws {
    let path = try TemporaryFolder.file(SendFileTests.picture)
    let adapter = try Self.device(#""buffers": 2, "ms_per_packet": 50, "when_full": "drop", "answers_at_once": true"#)
    let asked = try Blectl.run(["send-file", "name:SlowPanel", "fff6", path, "--verify", "notify:fff7", "--json"], adapter: adapter)
    let arrived = try #require(asked.error?.int("resume_offset"), "\(asked.errors)")
    #expect(asked.status == 7 && arrived < 1000 && asked.errors.contains("it drops commands that arrive too fast"), "\(asked.errors)")
  }

  /// A pace from a slow link (27 bytes of data length) says nothing about a faster one (251).
  @Test func keptUpWithASlowerLink() throws {
    let state = TemporaryFolder.path()
    let path = try TemporaryFolder.file(SendFileTests.picture)
    for dataLength in ["27", "251"] {
      let result = try Blectl.run(
        ["send-file", "name:SlowPanel", "fff6", path, "--verify", "notify:fff7", "--data-length", dataLength],
        environment: ["XDG_STATE_HOME": state], adapter: Self.slow)
      #expect(result.status == 0 && result.text.contains("slower") == (dataLength == "251"), "\(result.text) \(result.errors)")
    }
  }

  /// Frequent proofs do not hide how slow the device is.
  @Test(arguments: ["1", "2", "8"]) func provedOften(_ every: String) throws {
    let path = try TemporaryFolder.file(SendFileTests.picture)
    let result = try Blectl.run(
      ["send-file", "name:SlowPanel", "fff6", path, "--verify", "notify:fff7", "--interval", "7.5", "--ack-every", every],
      adapter: Self.slow)
    #expect(result.status == 0 && result.text.contains("slower"), "\(result.text) \(result.errors)")
  }

  /// Pauses are found on long intervals too, and a pause from a short interval is not used there.
  @Test(arguments: [[15, 30], [30, 15], [40], [15, 50]]) func onLongIntervals(_ intervals: [Int]) throws {
    let state = TemporaryFolder.path()
    let path = try TemporaryFolder.file(SendFileTests.picture)
    for interval in intervals {
      let result = try Blectl.run(
        ["send-file", "name:SlowPanel", "fff6", path, "--verify", "notify:fff7", "--interval", "\(interval)"],
        environment: ["XDG_STATE_HOME": state], adapter: Self.slow)
      #expect(result.status == 0 && result.text.contains("slower"), "\(interval): \(result.text) \(result.errors)")
    }
  }

  /// The device silently drops one packet, or all that follow. blectl notices before the end.
  @Test(arguments: [(#""drops_after": 100, "drops": 1"#, nil), (#""drops_after": 100"#, 18_200)])
  func beginsToDrop(_ firmware: String, _ expected: Int?) throws {
    let path = try TemporaryFolder.file(SendFileTests.picture)
    let result = try Blectl.run(
      ["send-file", "name:SlowPanel", "fff6", path, "--chunk", "182", "--verify", "notify:fff7", "--mode", "command"],
      adapter: Self.device(firmware))
    let told = try #require(result.errors.firstMatch(of: /received (\d+) of (\d+) bytes/), "\(result.errors)")
    let (arrived, sent) = (try #require(Int(told.1)), try #require(Int(told.2)))
    #expect(result.status == 7 && arrived == expected ?? (sent - 182) && sent < 50_000, "\(result.errors)")
  }

  @Test func requestsLoseNothing() throws {
    let (arrived, took, result) = try Self.send(["--mode", "request", "--interval", "30"])
    #expect(arrived == 77_831 && abs(took - 16) < 0.5 && result.status == 0, "\(arrived) in \(took) s: \(result.errors)")
  }
}
