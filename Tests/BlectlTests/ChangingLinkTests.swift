import TestSupport

/// Transfers over links from a peripheral file, which also change during the transfer.
@Suite(.timeLimit(.minutes(15))) struct ChangingLinkTests {
  private static func send(
    _ link: String, _ more: String = "", bytes: [UInt8] = SendFileTests.picture, _ options: [String] = []
  ) throws -> (sent: Record?, result: Blectl.Result) {
    let device = try TemporaryFolder.file(
      """
      {"name": "Link", "address": "D1:00:00:00:00:11/random", "advertisement": {"name": "Link"}, "mtu": 247, "phys": ["1m", "2m", "coded"],
        \(more) "link": {\(link)}, "services": [{"uuid": "fff0", "characteristics": [
          {"uuid": "fff6", "properties": ["write", "write_without_response"], "sink": {"report": "fff7"}},
          {"uuid": "fff7", "properties": ["read", "notify"]}]}]}
      """)
    let result = try Blectl.run(
      ["send-file", "name:Link", "fff6", try TemporaryFolder.file(bytes), "--verify", "notify:fff7", "--json"] + options,
      adapter: "sim:\(device)")
    return (try result.records.last { $0.string("event") == "sent" }, result)
  }

  /// A device that kept up may not do so after the link changes: its rate is measured again.
  @Test(arguments: [
    #"{"after_ms": 10, "data_length": 27}, {"after_octets": 25000, "data_length": 251}"#,
    #"{"after_ms": 10, "phy": "coded"}, {"after_octets": 25000, "phy": "1m"}"#, #"{"after_octets": 25000, "interval_ms": 50}"#,
  ]) func keepsUpNoMore(_ changes: String) throws {
    let (sent, result) = try Self.send(
      #""changes": [\#(changes)]"#, #""firmware": {"buffers": 16, "ms_per_packet": 6, "when_full": "drop"},"#)
    #expect(result.status == 0 && sent?.bool("verified") == true && sent?.double("gap_ms") ?? 0 > 4, "\(result.errors)")
  }

  /// Every byte arrives, whatever changes during the transfer.
  @Test(
    arguments: [
      (#"{"after_ms": 900, "data_length": 251}"#, #""data_length": 27,"#, "1m", 251, nil),
      (#"{"after_octets": 9000, "data_length": 251}"#, #""data_length": 27,"#, "1m", 251, nil),
      (#"{"after_octets": 20000, "data_length": 27}"#, "", "1m", 27, nil),
      (
        #"{"after_octets": 20000, "phy": "2m"}, {"after_octets": 40000, "phy": "1m"}, {"after_octets": 50000, "phy": "2m"}"#, "", "2m", 251,
        nil
      ),
      (#"{"after_octets": 10000, "phy": "coded"}"#, "", "coded", 251, nil),
      (
        #"{"after_octets": 9000, "interval_ms": 100}, {"after_octets": 15000, "interval_ms": 7.5, "latency": 2, "timeout_ms": 3000}"#, "",
        "1m", 251,
        7.5
      ),
    ] as [(String, String, String, Int, Double?)])
  func changes(_ changes: String, _ more: String, _ phy: String, _ dataLength: Int, _ interval: Double?) throws {
    for errors in [0, 0.05] {
      let (sent, result) = try Self.send(#""packet_error_rate": \#(errors), "changes": [\#(changes)]"#, more)
      #expect(result.status == 0 && sent?.bool("verified") == true, "\(result.errors)")
      #expect(sent?.string("phy") == phy && sent?.int("data_length") == dataLength)
      if let interval { #expect(sent?.double("interval_ms") == interval) }
    }
  }

  /// The rate in kB/s. With 1M, 251 bytes and 15 ms it is 97.6.
  @Test(
    arguments: [
      ("", 92.0...97.6), (#""controller_buffers": 2, "controller_buffer_length": 27"#, 10.0...50), (#""guard_us": 2000"#, 75...82),
      (#""encrypted": true, "guard_us": 250"#, 76...82), (#""inter_frame_space_us": 50"#, 94...106),
    ] as [(String, ClosedRange<Double>)])
  func rates(_ link: String, _ rate: ClosedRange<Double>) throws {
    let (sent, result) = try Self.send(
      link, bytes: SendFileTests.picture + SendFileTests.picture + SendFileTests.picture, ["--interval", "15"])
    let measured = try #require(sent?.double("bytes_per_second"), "\(result.errors)") / 1000
    #expect(rate.contains(measured) && sent?.bool("verified") == true, "\(measured)")
  }

  /// S=2 is more than three times as fast as S=8.
  @Test func whatTheCodedPHYSendsWith() throws {
    let seconds = try ["s2", "s8"].map { coding in
      let (sent, result) = try Self.send(
        #""coded": "\#(coding)""#, bytes: Array(SendFileTests.picture.prefix(20_000)), ["--phy", "coded"])
      return try #require(sent?.double("seconds"), "\(result.errors)")
    }
    #expect(seconds[1] / seconds[0] > 2.5, "\(seconds)")
  }

  @Test func aLinkThatIsCut() throws {
    let (_, result) = try Self.send(#""cut_after_octets": 30000"#)
    #expect(result.status == 6, "\(result.errors)")
  }

  /// Another random seed gives another time.
  @Test func seeds() throws {
    let times = try [0, 0, 1, 2, 3, 4].map { try Self.send(#""packet_error_rate": 0.05, "seed": \#($0)"#).sent?.double("seconds") }
    #expect(times[0] == times[1] && Set(times).count >= 3)
  }
}
