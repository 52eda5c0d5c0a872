import TestSupport

/// A transfer resumes after a lost link, at the device's own rate.
@Suite(.timeLimit(.minutes(15))) struct ResumeTests {
  private static let picture = SendFileTests.picture

  /// - Parameter link: The `link` of the peripheral file.
  private static func device(_ link: String, report: String = #""read", "notify""#) throws -> String {
    try Blectl.simulator(
      """
      {"name": "Sink", "address": "D1:00:00:00:00:12/random", "advertisement": {"name": "Sink"}, "mtu": 247, "link": {\(link)},
        "services": [{"uuid": "fff0", "characteristics": [
          {"uuid": "fff6", "properties": ["write", "write_without_response"], "sink": {"report": "fff7"}},
          {"uuid": "fff7", "properties": [\(report)]}]}]}
      """)
  }

  private static func state() -> [String: String] { ["XDG_STATE_HOME": TemporaryFolder.path()] }

  private static func send(
    _ file: String, _ options: [String], to adapter: String, _ environment: [String: String]? = nil, attribute: String = "fff6"
  ) throws -> (sent: Record?, result: Blectl.Result) {
    let result = try Blectl.run(
      ["send-file", "name:*", attribute, file, "--json"] + options, environment: environment ?? state(), adapter: adapter)
    return (try result.records.last { $0.string("event") == "sent" }, result)
  }

  /// After several losses, the device has every byte once, because it reports its count.
  @Test(arguments: [["--mode", "command"], ["--mode", "request"]]) func reconnects(_ mode: [String]) throws {
    let device = try Self.device(#""cut_after_octets": 30000"#)
    let (sent, result) = try Self.send(
      TemporaryFolder.file(Self.picture), ["--reconnect", "5", "--verify", "notify:fff7"] + mode, to: device)
    #expect(result.status == 0 && sent?.bool("verified") == true && sent?.int("bytes") == 77_831, "\(result.errors)")
    #expect(sent?.int("reconnects") ?? 0 >= 2 && result.errors.contains("fff7 reports "), "\(result.errors)")
  }

  /// The session keeps the restored connection and its subscription.
  @Test(arguments: ["", "name:Sink "], ["command", "request"]) func reconnectsInASession(_ peer: String, _ mode: String) throws {
    let device = try Self.device(#""cut_after_octets": 30000"#)
    let path = try TemporaryFolder.file(Self.picture)
    let send = "send-file \(peer)fff6 \(path) --mode \(mode) --verify notify:fff7 --reconnect 5"
    let result = try Blectl.run(["repl", "--json"], input: Array("connect name:Sink\n\(send)\nparams\n".utf8), adapter: device)
    #expect(try result.statuses == ["1": 0, "2": 0, "3": 0], "\(result.text.suffix(3000))\(result.errors)")
    let sent = try result.records.last { $0.string("event") == "sent" }
    #expect(sent?.bool("verified") == true && sent?.int("reconnects") ?? 0 >= 1, "\(result.text.suffix(3000))")
    #expect(try result.records.contains { $0.string("event") == "reconnected" })
  }

  @Test func butNotMoreOftenThanAskedFor() throws {
    let device = try Self.device(#""cut_after_octets": 30000"#)
    let (_, result) = try Self.send(
      TemporaryFolder.file(Self.picture), ["--reconnect", "1", "--verify", "notify:fff7"], to: device)
    #expect(result.status == 6, "\(result.errors)")
    let arrived = try #require(result.error?.int("resume_offset"))
    #expect(arrived > 20_000 && arrived < 60_000)
  }

  /// A device that does not report its count may get some bytes twice, which the user learns.
  @Test func whatMayArriveTwiceIsSaid() throws {
    let device = try Self.device(#""cut_after_octets": 40000"#)
    let (sent, result) = try Self.send(TemporaryFolder.file(Self.picture), ["--reconnect", "3"], to: device)
    #expect(result.status == 0 && sent?.int("bytes") == 77_831 && sent?.int("acknowledged") == 77_831)
    #expect(result.errors.contains("may arrive twice"), "\(result.errors)")
  }

  /// Another process resumes from the saved state.
  @Test func resumes() throws {
    let state = Self.state()
    let path = try TemporaryFolder.file(Self.picture)
    let (_, lost) = try Self.send(path, [], to: Self.device(#""cut_after_octets": 40000"#), state)
    #expect(lost.status == 6 && lost.error?.int("resume_offset") ?? 0 > 0)
    let whole = try Self.device("")
    let (other, otherResult) = try Self.send(TemporaryFolder.file(Self.picture.reversed()), ["--resume"], to: whole, state)
    #expect(other?.int("bytes") == 77_831 && otherResult.errors.contains("is not the file"), "\(otherResult.errors)")
    let (_, lostAgain) = try Self.send(path, [], to: Self.device(#""cut_after_octets": 40000"#), state)
    let offset = try #require(lostAgain.error?.int("resume_offset"))
    // The attribute is known by its handle, whatever its selector.
    let (sent, result) = try Self.send(path, ["--resume"], to: whole, state, attribute: "fff0/fff6")
    #expect(sent?.int("offset") == offset && sent?.int("bytes") == 77_831 - offset, "\(result.errors)")
    #expect(
      result.errors.contains("Resuming at byte \(offset). Later bytes may arrive twice: "), "\(result.errors)")
    // The file is complete now.
    let (again, note) = try Self.send(path, ["--resume"], to: whole, state)
    #expect(again?.int("offset") == 0 && note.errors.contains("No earlier transfer"), "\(note.errors)")
  }

  /// The device lost the data: the simulator was restarted.
  @Test func aDeviceThatForgot() throws {
    let state = Self.state()
    let path = try TemporaryFolder.file(Self.picture)
    func lose() throws -> Int {
      try #require(Self.send(path, [], to: Self.device(#""cut_after_octets": 40000"#), state).result.error?.int("resume_offset"))
    }
    let offset = try lose()
    let (sent, result) = try Self.send(path, ["--resume", "--verify", "notify:fff7"], to: Self.device(""), state)
    #expect(sent?.int("offset") == 0 && sent?.int("bytes") == 77_831 && sent?.int("verified_from") == 0, "\(result.errors)")
    let sentence = "fff7 reports 0 bytes, so the device lost the \(offset) that arrived. Starting over at byte 0."
    #expect(result.errors.contains(sentence), "\(result.errors)")
    // A device that cannot be asked compares its count, which is not that of the file.
    let again = try lose()
    let part = try Self.send(path, ["--resume", "--verify", "notify:fff7"], to: Self.device("", report: #""notify""#), state)
    #expect(part.sent?.bool("verified") == true && part.sent?.int("verified_from") == again && again > 0, "\(part.result.errors)")
    #expect(part.result.errors.contains("because fff7 cannot be read"), "\(part.result.errors)")
    // A pipe cannot go back.
    let long = [UInt8](repeating: 7, count: 300_000)
    let (_, lost) = try Self.send(TemporaryFolder.file(long), [], to: Self.device(#""cut_after_octets": 250000"#), state)
    let pipe = try Blectl.run(
      ["send-file", "name:*", "fff6", "-", "--resume", "--verify", "notify:fff7", "--json"], input: long, environment: state,
      adapter: Self.device(""))
    #expect(
      lost.error?.int("resume_offset") ?? 0 > 100_000 && pipe.status == 7 && pipe.errors.contains("does not match the start of the file"),
      "\(pipe.errors)")
  }

  /// A device with other data does not have the file.
  @Test func aDeviceWithOtherBytes() throws {
    let path = try TemporaryFolder.file(Self.picture)
    let result = try Blectl.run(
      [
        "-k", "-e", "send-file fff6 \(path); connect; write fff6 00 --mode request; send-file fff6 \(path) --resume --verify notify:fff7",
        "name:Sink",
      ], environment: Self.state(), adapter: Self.device(#""cut_after_octets": 40000, "cuts": 1"#))
    #expect(result.errors.contains("does not match the start of the file"), "\(result.errors)")
    #expect(!result.text.contains("Verified by the device"), "\(result.text)")
  }

  @Test func theFinalLine() throws {
    let path = try TemporaryFolder.file(Self.picture)
    let result = try Blectl.run(
      [
        "-k", "-e",
        "send-file fff6 \(path) --verify notify:fff7; send-file fff6 \(path) --resume --verify notify:fff7; send-file fff6 \(path) --offset 77000 --verify notify:fff7",
        "name:Sink",
      ], environment: Self.state(), adapter: Self.device(""))
    let lines = result.text.split(separator: "\n")
    #expect(lines.first?.contains(". Verified by the device: whole file, CRC-32 ") == true, "\(result.text)")
    #expect(
      lines.dropFirst().first?.hasPrefix("Nothing left to send: the device has all 77831 bytes. Verified by the device: whole file")
        == true,
      "\(result.text)\(result.errors)")
    let part = try Blectl.run(
      ["send-file", "name:Sink", "fff6", path, "--offset", "77000", "--verify", "notify:fff7"], environment: Self.state(),
      adapter: Self.device(""))
    #expect(part.text.contains(" NOT verified before byte 77000. The device confirms the rest: CRC-32 "), "\(part.text)")
  }

  /// More bytes arrived than were confirmed. The device reports them, and gets nothing twice.
  @Test func resumesWhereTheDeviceIs() throws {
    let path = try TemporaryFolder.file(Self.picture)
    let result = try Blectl.run(
      [
        "-k", "-e", "send-file fff6 \(path) --json; connect; send-file fff6 \(path) --resume --verify notify:fff7 --json", "name:Sink",
      ],
      environment: Self.state(), adapter: Self.device(#""cut_after_octets": 40000, "cuts": 1"#))
    let begin = try #require(result.text.firstMatch(of: /"verified":true,"offset":(\d+)/).flatMap { Int($0.1) }, "\(result.errors)")
    let known = try #require(result.errors.firstMatch(of: /--offset (\d+) to the same/).flatMap { Int($0.1) })
    #expect(begin > known && known > 0 && result.errors.contains("fff7 reports \(begin) bytes. Continuing there."), "\(result.errors)")
  }

  /// Unconfirmed bytes from a pipe are kept for the resumption.
  @Test func aPipeGoesOnToo() throws {
    let result = try Blectl.run(
      ["send-file", "name:*", "fff6", "-", "--reconnect", "5", "--verify", "notify:fff7", "--json"], input: Self.picture,
      environment: Self.state(), adapter: Self.device(#""cut_after_octets": 30000"#))
    #expect(result.status == 0, "\(result.errors)")
    #expect(try result.records.last?.bool("verified") == true)
  }

  /// This device loses half the data at a gap of 4 ms and some at 6 ms. The pace here loses nothing and beats a safe gap of 8 ms.
  @Test(arguments: [[], ["--chunk", "182"], ["--interval", "7.5"], ["--phy", "2m"]]) func aSlowDeviceLosesNothing(_ options: [String])
    throws
  {
    let slow = "sim:\(ExampleTests.folder)/slow-panel.json"
    let state = Self.state()
    let path = try TemporaryFolder.file(Self.picture)
    let fixed = try Self.send(path, ["--gap", "8", "--chunk", "182", "--verify", "notify:fff7"], to: slow)
    for _ in 0..<2 {
      let (sent, result) = try Self.send(path, options + ["--verify", "notify:fff7"], to: slow, state)
      #expect(result.status == 0 && sent?.bool("verified") == true, "\(result.errors)")
      let (seconds, limit) = (try #require(sent?.double("seconds")), try #require(fixed.sent?.double("seconds")))
      #expect(seconds < limit, "\(seconds) s, \(limit) s with a gap of 8 ms")
      #expect(sent?.double("gap_ms") ?? 0 > 3)
    }
  }

  /// Segments follow the link: the data length that is agreed on late, and the PHY.
  @Test func plansAnew() throws {
    let (sent, result) = try Self.send(
      TemporaryFolder.file(Self.picture), ["--verify", "notify:fff7"],
      to: Self.device(#""changes": [{"after_octets": 20000, "data_length": 27}]"#))
    #expect(result.status == 0 && sent?.bool("verified") == true, "\(result.errors)")
    #expect(sent?.int("data_length") == 27 && sent?.int("chunk") == 236, "\(sent?.int("chunk") ?? 0)")
    #expect(
      result.errors.contains("The connection parameters changed") && result.errors.contains("Bytes per segment: 236 instead of "),
      "\(result.errors)")
  }
}
