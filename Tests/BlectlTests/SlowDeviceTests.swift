import TestSupport
import Testing

/// Devices that cannot take everything at once: man/examples/slow-panel.json, and others.
@Suite(.timeLimit(.minutes(1))) struct SlowDeviceTests {
  private static let slow = "sim:\(ExampleTests.folder)/slow-panel.json"

  /// Sends 77 831 octets in segments of 182. - Returns: octets that arrived, the seconds that it took, and the result.
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

  /// Where some are lost, two more seconds pass until the device is believed that there will be no more.
  /// A fixed pause of 4 ms loses half, one of 6 ms nearly nothing, one of 8 ms nothing; requests lose nothing and take 16 s.
  @Test(arguments: [("4", 0.42...0.58, 3.5...4.0), ("6", 0.0001...0.012, 4.5...4.8), ("8", 0...0, 3.3...3.7)])
  func fixedPauses(_ gap: String, _ lost: ClosedRange<Double>, _ seconds: ClosedRange<Double>) throws {
    let (arrived, took, result) = try Self.send(["--mode", "command", "--gap", gap])
    let share = 1 - Double(arrived) / 77_831
    #expect(lost.contains(share) && seconds.contains(took), "\(share) in \(took) s: \(result.errors)")
    #expect(result.status == (lost.upperBound > 0 ? 7 : 0))
  }

  private static func device(_ firmware: String) throws -> String {
    let path = try TemporaryFolder.file(
      Array(
        """
        {"name": "SlowPanel", "address": "D1:00:00:00:00:11/random", "advertisement": {"name": "SlowPanel"}, "mtu": 247, "firmware": {\(firmware)},
          "services": [{"uuid": "fff0", "characteristics": [
            {"uuid": "fff6", "properties": ["write", "write_without_response"], "sink": {"report": "fff7"}},
            {"uuid": "fff7", "properties": ["read", "notify"]}]}]}
        """.utf8))
    return "sim:\(path)"
  }

  /// A device that holds the link layer back loses nothing, and the transfer takes as long as the device: 428 packets of 5 ms, or more for long ones.
  @Test(
    arguments: [
      (#""buffers": 3, "ms_per_packet": 5"#, 2.14...2.4), (#""buffers": 1, "ms_per_packet": 5"#, 2.14...3.6),
      (#""ms_per_packet": 1, "short_octets": 100, "ms_per_long_octet": 0.05"#, 2.16...2.9),
    ] as [(String, ClosedRange<Double>)])
  func holdsBack(_ firmware: String, _ seconds: ClosedRange<Double>) throws {
    let (arrived, took, result) = try Self.send([], to: Self.device(firmware))
    #expect(arrived == 77_831 && seconds.contains(took) && result.status == 0, "\(arrived) in \(took) s: \(result.errors)")
  }

  /// It falls behind by half a millisecond with each segment, which answers tell long before the buffers are full. Rather more than 1.4 s are 319 packets
  /// of 3 ms, and what finding it out takes.
  @Test(arguments: [("7.5", 6), ("15", 6), ("15", 16)]) func onlyALittleSlower(_ interval: String, _ buffers: Int) throws {
    let path = try TemporaryFolder.file(SendFileTests.picture)
    let adapter = try Self.device(#""buffers": \#(buffers), "ms_per_packet": 3, "when_full": "drop""#)
    let result = try Blectl.run(
      ["send-file", "name:SlowPanel", "fff6", path, "--verify", "notify:fff7", "--interval", interval, "--json"], adapter: adapter)
    let seconds = try result.records.last { $0.string("event") == "sent" }?.double("seconds")
    #expect(result.status == 0 && (0.95...1.8).contains(seconds ?? 0), "\(seconds ?? 0) s: \(result.errors)")
  }

  /// However often it tells of the same number before it is believed: what it told before, which was the file's beginning, is not forgotten.
  @Test func whatArrivedBeforeTheFirstDropIsKnown() throws {
    let path = try TemporaryFolder.file(SendFileTests.picture)
    let adapter = try Self.device(#""drops_after": 6, "drops": 2"#)
    let result = try Blectl.run(
      ["send-file", "name:SlowPanel", "fff6", path, "--verify", "notify:fff7", "--interval", "15", "--json"], adapter: adapter)
    #expect(result.status == 7 && (result.error?.int("resume_offset") ?? 0) >= 4 * 244, "\(result.errors)")
  }

  /// What an ATT layer answers says nothing about the application behind it.
  @Test func answersAtOnceAndDropsBehind() throws {
    let path = try TemporaryFolder.file(SendFileTests.picture)
    let adapter = try Self.device(#""buffers": 4, "ms_per_packet": 50, "when_full": "drop", "answers_at_once": true"#)
    let sent = try Blectl.run(["send-file", "name:SlowPanel", "fff6", path, "--chunk", "182"], adapter: adapter)
    #expect(sent.status == 0 && sent.text.contains(" in 0.9"), "\(sent.text) \(sent.errors)")
    // Who asks the application is not deceived, and keeps its pace.
    let asked = try Blectl.run(["send-file", "name:SlowPanel", "fff6", path, "--verify", "notify:fff7"], adapter: adapter)
    #expect(asked.status == 0 && asked.text.contains("the device is slower"), "\(asked.text) \(asked.errors)")
  }

  /// Where there is no room for the first few, who asks the application ends early.
  @Test func hasNoRoomAtAll() throws {
    let path = try TemporaryFolder.file(SendFileTests.picture)
    let adapter = try Self.device(#""buffers": 2, "ms_per_packet": 50, "when_full": "drop", "answers_at_once": true"#)
    let asked = try Blectl.run(["send-file", "name:SlowPanel", "fff6", path, "--verify", "notify:fff7", "--json"], adapter: adapter)
    let arrived = try #require(asked.error?.int("resume_offset"), "\(asked.errors)")
    #expect(asked.status == 7 && arrived < 1000 && asked.errors.contains("it drops commands that arrive too fast"), "\(asked.errors)")
  }

  /// That it kept up with a slow link says nothing about a faster one: 27 octets of data length, and then 251.
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

  /// Proofs that are asked for more often than questions about the pace do not hide how slow it is.
  @Test(arguments: ["1", "2", "8"]) func provedOften(_ every: String) throws {
    let path = try TemporaryFolder.file(SendFileTests.picture)
    let result = try Blectl.run(
      ["send-file", "name:SlowPanel", "fff6", path, "--verify", "notify:fff7", "--interval", "7.5", "--ack-every", every],
      adapter: Self.slow)
    #expect(result.status == 0 && result.text.contains("slower"), "\(result.text) \(result.errors)")
  }

  /// Pauses are found on long intervals too, and what was found on a short one is not used there.
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

  /// Without a word: one of them, or all that follow. It is noticed before all is sent.
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
