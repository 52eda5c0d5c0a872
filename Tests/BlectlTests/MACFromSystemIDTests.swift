import TestSupport

/// `mac-from-adv --connect` finds the MAC of devices that do not advertise it.
@Suite(.timeLimit(.minutes(15))) struct MACFromSystemIDTests {
  /// The System ID of "Told" has a MAC, of "Same" its own, of "Vague" none. "Band" advertises its MAC and has another there.
  static let file = """
    [
      {"name": "Told", "address": "D1:00:00:00:00:31/random", "advertisement": {"name": "Told"}, "services": [
        {"uuid": "180a", "characteristics": [{"uuid": "2a23", "properties": ["read"], "value": "332211feff38c1a4"}]}]},
      {"name": "Same", "address": "A4:C1:38:11:22:33/public", "advertisement": {"name": "Same"}, "services": [
        {"uuid": "180a", "characteristics": [{"uuid": "2a23", "properties": ["read"], "value": "332211feff38c1a4"}]}]},
      {"name": "Vague", "address": "D1:00:00:00:00:32/random", "advertisement": {"name": "Vague"}, "services": [
        {"uuid": "180a", "characteristics": [{"uuid": "2a23", "properties": ["read"], "value": "332211feff38c1"}]}]},
      {"name": "Bare", "address": "D1:00:00:00:00:33/random", "advertisement": {"name": "Bare"}},
      {"name": "Band", "address": "C0:FF:EE:00:00:07/public",
       "advertisement": {"manufacturer_data": {"0157": "020a0700ffffffffffffffffffffffffff03c0ffee000007"}}, "services": [
        {"uuid": "180a", "characteristics": [{"uuid": "2a23", "properties": ["read"], "value": "332211feff38c1a4"}]}]}
    ]
    """

  private func run(_ peer: String, _ options: String...) throws -> Blectl.Result {
    try Blectl.run(["mac-from-adv", peer, "--json"] + options, adapter: "sim:\(TemporaryFolder.file(Self.file))")
  }

  @Test func theSystemIDIsAskedFor() throws {
    let result = try run("name:told", "--connect")
    #expect(result.status == 0, "\(result.errors)")
    let records = try result.records
    #expect(records.count == 1)
    #expect(records.first?.string("mac") == "A4:C1:38:11:22:33" && records.first?.string("address") == "D1:00:00:00:00:31")
    #expect(records.first?.bool("matches_sender") == false)
  }

  @Test func theSystemIDOfThatAddress() throws {
    let record = try #require(try run("A4:C1:38:11:22:33", "--connect").records.first)
    #expect(record.string("mac") == "A4:C1:38:11:22:33" && record.bool("matches_sender") == true)
    let text = try Blectl.run(["mac-from-adv", "name:told", "--connect"], adapter: "sim:\(TemporaryFolder.file(Self.file))")
      .text
    #expect(text.hasPrefix("A4:C1:38:11:22:33  system_id/2a23 ") && text.hasSuffix("≠ sender D1:00:00:00:00:31\n"), "\(text)")
  }

  @Test func notWithoutBeingAsked() throws {
    let result = try run("name:told")
    #expect(result.status == 2 && result.output.isEmpty, "\(result.errors)")
  }

  /// There is no connection, so the MAC must be from the advertisement.
  @Test func notWhenTheAdvertisementSaysIt() throws {
    let result = try run("C0:FF:EE:00:00:07", "--connect", "-v")
    #expect(try result.records.map { $0.string("mac") } == ["C0:FF:EE:00:00:07"], "\(result.errors)")
  }

  @Test(arguments: [("name:vague", "332211feff38c1"), ("name:bare", "180a")])
  func aSystemIDWithoutMACAndNone(_ peer: String, _ mention: String) throws {
    let result = try run(peer, "--connect")
    #expect(result.status == 2 && result.output.isEmpty)
    #expect(result.error?.string("message")?.contains(mention) == true, "\(result.errors)")
  }

  @Test func itNeedsAPeer() throws {
    let result = try Blectl.run("mac-from-adv", "--connect")
    #expect(result.status == 64 && result.errors.contains("PEER"), "\(result.errors)")
  }
}
