import TestSupport

/// Every record names its device.
@Suite(.timeLimit(.minutes(15))) struct PeerRecordTests {
  @Test(arguments: [
    ["read", "PEER", "2a19", "180a/2a29"], ["write", "PEER", "ff02", "1b9901", "--expect", "ff01"],
    ["notify", "PEER", "2a37", "--count", "2"],
    ["connect", "PEER"], ["services", "PEER"],
  ])
  func theDeviceIsNamed(_ words: [String]) throws {
    for (peer, name) in [("name:Band-7", "Band-7"), ("C0:FF:EE:00:00:07/public", nil)] {
      let result = try Blectl.run(words.map { $0 == "PEER" ? peer : $0 } + ["--json"])
      let records = try result.records
      #expect(result.status == 0 && !records.isEmpty, "\(result.errors)")
      for record in records {
        #expect(record.string("address") == "C0:FF:EE:00:00:07" && record.string("address_type") == "public", "\(words)")
        #expect(record.keys.contains("name") && record.string("name") == name, "\(words) \(record.keys)")
      }
    }
  }

  @Test func soDoesATransfer() throws {
    let result = try Blectl.run(
      "send-file", "name:Panel", "fff6", try TemporaryFolder.file(SendFileTests.picture), "--offset", "7831", "--json")
    let records = try result.records
    #expect(records.count > 1 && records.allSatisfy { $0.string("name") == "Panel" && $0.string("address_type") == "random" })
    #expect(records.last?.int("offset") == 7831 && records.last?.int("acknowledged") == 77_831, "\(result.errors)")
    #expect(records.last?.isNull("verified") == true)
    let written = try Blectl.run("write", "name:Panel", "fff6", "0102", "--json").records.first
    #expect(written?.int("acknowledged") == 2)
  }

  @Test func uniqueRefusesWhenTwoMatch() throws {
    let two = try Blectl.run("read", "name:GateLock", "ffe2", "--unique", "--json")
    #expect(two.status == 2 && two.output.isEmpty)
    #expect(two.error?.string("kind") == "ambiguous")
    let message = two.error?.string("message") ?? ""
    #expect(message.contains("D1:00:00:00:00:01/random") && message.contains("D1:00:00:00:00:02/random"), "\(message)")
    #expect(try Blectl.run("read", "name:Band-7", "2a19", "--unique").status == 0)
    #expect(try Blectl.run("read", "mac:A4:C1:38:00:11:22", "ffe2", "--unique").status == 0)
    #expect(try Blectl.run("read", "name:GateLock", "ffe2", "--unique", "--first").status == 64)
  }

  @Test func notesAreRecords() throws {
    let result = try Blectl.run("read", "name:GateLock", "ffe2", "--json")
    #expect(result.status == 0)
    #expect(try Record(result.errors).string("note")?.contains("2 devices match") == true, "\(result.errors)")
  }
}
