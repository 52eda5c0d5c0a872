import Presentation
import TestSupport

/// A transfer of 77 831 bytes without loss, which no fixed pause achieves.
@Suite(.timeLimit(.minutes(15))) struct SendFileTests {
  static let picture = (0..<77_831).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

  @Test(arguments: [
    ["--mode", "command"], ["--mode", "request"], ["--window", "4"], ["--ack-every", "50"], ["--chunk", "182"], ["--phy", "2m"],
    ["--interval", "15"],
  ])
  func arrivesWhole(_ options: [String]) throws {
    let path = try TemporaryFolder.file(Self.picture)
    let result = try Blectl.run(["send-file", "name:Panel", "fff6", path, "--verify", "notify:fff7", "--json"] + options)
    #expect(result.status == 0, "\(result.errors)")
    let records = try result.records
    let sent = try #require(records.last)
    #expect(sent.string("event") == "sent")
    #expect(sent.int("bytes") == 77_831)
    #expect(sent.int("mtu") == 247)
    #expect(sent.bool("verified") == true)
    let chunk = try #require(sent.int("chunk"))
    #expect(sent.int("segments") == (77_831 + chunk - 1) / chunk)
    #expect(records.dropLast().allSatisfy { $0.string("event") == "progress" && $0.int("total") == 77_831 })
  }

  @Test func commandsFillTheAir() throws {
    let path = try TemporaryFolder.file(Self.picture)
    let sent = try #require(try Blectl.run("send-file", "name:Panel", "fff6", path, "--json").records.last)
    #expect(sent.int("chunk") == 244)
    // 1M with data length 251 carries 98.9 kB/s. Finding the pace must cost at most a tenth.
    #expect((sent.double("bytes_per_second") ?? 0) > 88_000)
    let limit = try #require(sent.double("limit_bytes_per_second"))
    #expect(abs(limit - 97_600) < 1 && (sent.double("bytes_per_second") ?? 0) < limit)
  }

  @Test func theSameTransferTwiceIsTheSame() throws {
    let path = try TemporaryFolder.file(Self.picture)
    let arguments = ["send-file", "name:Panel", "fff6", path, "--json", "--verify", "notify:fff7"]
    #expect(try Blectl.run(arguments).text == Blectl.run(arguments).text)
  }

  @Test func fromStandardInputAndFromAnOffset() throws {
    let result = try Blectl.run(["send-file", "name:Panel", "fff6", "-", "--offset", "77000", "--json"], input: Self.picture)
    #expect(result.status == 0, "\(result.errors)")
    #expect(try result.records.last?.int("bytes") == 831)
  }

  @Test(arguments: [
    (["/nonexistent/file"], 66), (["/"], 66), (["/dev/null"], 66), (["/dev/null", "--chunk", "0"], 64),
    (["/dev/null", "--data-length", "9"], 64),
  ])
  func refusesBeforeConnecting(_ arguments: [String], _ status: Int) throws {
    let result = try Blectl.run(["send-file", "name:Panel", "fff6"] + arguments)
    #expect(result.status == Int32(status), "\(result.errors)")
    #expect(result.output.isEmpty)
  }

  /// A sink that requires encryption would drop every command. Nothing is sent, and nothing is reported as arrived.
  @Test(arguments: [["send-file", "-"], ["write", "0102", "--mode", "command"], ["write", "0102"]])
  func whatWouldBeDropped(_ words: [String]) throws {
    let file = try TemporaryFolder.file(
      """
      [{"name": "Enc", "address": "C1:00:00:00:00:01/random", "advertisement": {"name": "Enc"}, "services": [{"uuid": "ffe0", "characteristics": [
        {"uuid": "ffe1", "properties": ["write_without_response"], "permissions": ["write_without_response", "write_encrypted"]},
        {"uuid": "ffe2", "properties": ["write"]}]}]}]
      """)
    func run(_ attribute: String, _ more: [String] = []) throws -> Blectl.Result {
      try Blectl.run(
        [words[0], "name:Enc", attribute] + words.dropFirst() + more + ["-vv"], input: words[0] == "send-file" ? Self.picture : nil,
        adapter: "sim:\(file)")
    }
    let refused = try run("ffe1")
    #expect(refused.status == 5 && refused.errors.contains("needs encryption (ATT 0x0f)"), "\(refused.errors)")
    #expect(!refused.errors.contains("Write Command"))
    guard words.contains("command") || words[0] == "send-file" else { return }
    let forced = try run("ffe2", words.contains("command") ? [] : ["--mode", "command"])
    #expect(forced.status == 0 && forced.errors.contains("ffe2 does not offer write_without_response"), "\(forced.errors)")
    if words[0] == "send-file" { #expect(forced.text.hasSuffix(". Not verified.\n")) }
  }

  /// After a lost link, the error has a recent offset by default.
  @Test func whatIsProvenMeanwhile() throws {
    let file = try TemporaryFolder.file(
      """
      [{"name": "Sink", "address": "C1:00:00:00:00:01/random", "advertisement": {"name": "Sink"}, "services": [{"uuid": "ffe0", "characteristics": [
        {"uuid": "ffe1", "properties": ["write_without_response", "notify"], "on_subscribe": [{"disconnect": true, "after_ms": 700}]}]}]}]
      """)
    let result = try Blectl.run(
      ["send-file", "name:Sink", "ffe1", "-", "--verify", "notify:ffe1", "--json"], input: Self.picture, adapter: "sim:\(file)")
    #expect(result.status == 6)
    let message = try #require(result.error?.string("message"))
    let offset = try #require(result.error?.int("resume_offset"))
    let sent = try #require(message.firstMatch(of: /and (\d+) of \d+ bytes arrived/).flatMap { Int($0.1) })
    // At most the bytes between two proofs, and those in the buffers.
    #expect(offset > 16_384 && offset <= sent && sent - offset < 3 * 16_384, "\(message)")
  }

  @Test func readBackIsRefusedWhereItCannotWork() throws {
    let result = try Blectl.run(["send-file", "name:Panel", "fff6", "-", "--verify", "read-back"], input: [1])
    #expect(result.status == 64)
    #expect(result.errors.contains("fff6 is not readable"), "\(result.errors)")
  }

  @Test func aChunkThatDoesNotFitIsRefused() throws {
    let result = try Blectl.run(["send-file", "name:Panel", "fff6", "-", "--chunk", "245"], input: [1])
    #expect(result.status == 64)
    #expect(result.errors.contains("244"))
  }

  @Test func aFailedVerificationIsOneErrorRecord() throws {
    let file = try TemporaryFolder.file(
      """
      { "name": "Liar", "address": "D1:00:00:00:00:20/random", "advertisement": { "name": "Liar" }, "services": [
        { "uuid": "fff0", "characteristics": [
          { "uuid": "fff1", "properties": ["read", "write"], "max_length": 4, "value": "00" } ] } ] }
      """)
    let result = try Blectl.run(
      ["send-file", "name:Liar", "fff1", "-", "--chunk", "4", "--verify", "read-back", "--json"], input: [1, 2, 3, 4, 5, 6, 7, 8],
      adapter: "sim:\(file)")
    #expect(result.status == 7)
    #expect(result.error?.string("kind") == "expectation", "\(result.errors)")
    #expect(try result.records.last?.bool("verified") == false)
    #expect(try result.records.filter { $0.string("event") == "progress" && $0.int("bytes") == 8 }.count == 1)
  }

  /// A simulated controller without air time is faster than any link.
  @Test func aRateAboveTheCapacityHasNoShare() {
    #expect(TransferText.share(0.954) == ", 95 % of link capacity" && TransferText.share(1.004) == ", 100 % of link capacity")
    #expect(TransferText.share(2.38).isEmpty && TransferText.share(.infinity).isEmpty && TransferText.share(.nan).isEmpty)
  }
}
