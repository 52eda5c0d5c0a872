import TestSupport

/// "Open the door with 100-odd bytes": two locks have the same name, and their advertisements contain different MACs.
@Suite(.timeLimit(.minutes(15))) struct DoorLockTests {
  /// An open code of 104 bytes whose sum modulo 256 is 0.
  static let openCode = [UInt8](repeating: 0x41, count: 103) + [217]
  static let lock = "mac:A4:C1:38:00:11:22"

  @Test func theMACInTheAdvertisementTellsTheLocksApart() throws {
    let result = try Blectl.run("mac-from-adv", "--json", "--duration", "3")
    #expect(result.status == 0)
    let macs = try result.records.reduce(into: [String: String]()) { $0[$1.string("address") ?? ""] = $1.string("mac") }
    #expect(macs["D1:00:00:00:00:01"] == "A4:C1:38:00:11:22")
    #expect(macs["D1:00:00:00:00:02"] == "A4:C1:38:00:11:33")
    let first = try #require(try result.records.first { $0.string("address") == "D1:00:00:00:00:01" })
    #expect(first.string("source") == "manufacturer_data/0305")
    #expect(first.string("order") == "little")
    #expect(first.bool("matches_sender") == false)
  }

  @Test func opensWithACodeInSegmentsAndWaitsForTheAnswer() throws {
    let result = try Blectl.run(["write", Self.lock, "ffe1", "-", "--json", "--expect", "ffe2=4f50454e"], input: Self.openCode)
    #expect(result.status == 0, "\(result.errors)")
    let records = try result.records
    #expect(records.map { $0.string("event") } == ["written", "notification"])
    #expect(records.first?.string("mode") == "command")
    #expect(records.first?.int("bytes") == 104)
    #expect(records.first?.int("segments") == 6)
    #expect(records.last?.string("value") == "4f50454e")
    #expect(records.last?.string("uuid") == "ffe2")
  }

  @Test func aWrongCodeIsAFailedExpectation() throws {
    let wrong = [UInt8](repeating: 0x41, count: 104)
    let result = try Blectl.run(["write", Self.lock, "ffe1", "-", "--expect", "ffe2=4f50454e", "--timeout", "5"], input: wrong)
    #expect(result.status == 7)
    #expect(result.errors.contains("4641494c"), "\(result.errors)")
  }

  /// ATT error 0x03 on a write with response cost users days.
  @Test func aWriteRequestIsRefusedWithTheRemedy() throws {
    let result = try Blectl.run("write", Self.lock, "ffe1", "01", "--mode", "request", "--json")
    #expect(result.status == 5)
    #expect(result.error?.string("kind") == "att")
    #expect(result.error?.int("code") == 3)
    #expect(result.error?.string("name") == "write_not_permitted")
    let message = result.error?.string("message") ?? ""
    #expect(message.contains("it takes only Write Commands (ATT 0x03)") && message.contains("--mode command"), "\(message)")
  }

  @Test(arguments: [("A4:C1:38:00:11:22", "D1:00:00:00:00:01"), ("A4:C1:38:00:11:33", "D1:00:00:00:00:02")])
  func theLockWithThisMACIsTaken(_ mac: String, _ address: String) throws {
    let result = try Blectl.run("connect", "mac:\(mac)", "--json")
    #expect(try result.records.first?.string("address") == address, "\(result.errors)")
  }

  /// If two devices share a name, the stronger one wins, with a note. Neither file order nor advertising frequency matters.
  @Test func theSameNameTwiceIsSaidAndTheStrongestWins() throws {
    func door(_ address: String, _ rssi: Int, _ interval: Int) -> String {
      """
      {"name": "Door", "address": "\(address)/random", "rssi": \(rssi), "interval_ms": \(interval), "advertisement": {"name": "Door"}}
      """
    }
    let (weak, strong) = ("D1:00:00:00:00:21", "D1:00:00:00:00:22")
    let file = try TemporaryFolder.file("[\(door(weak, -85, 50)), \(door(strong, -45, 500))]")
    let result = try Blectl.run("connect", "name:door", "--json", adapter: "sim:\(file)")
    #expect(try result.records.first?.string("address") == strong, "\(result.errors)")
    #expect(result.errors.contains("2 devices match name:door. Using the strongest, \(strong)/random"), "\(result.errors)")
    #expect(result.errors.contains("not \(weak)/random"), "\(result.errors)")
    let first = try Blectl.run("connect", "name:door", "--first", "--json", adapter: "sim:\(file)")
    #expect(try first.records.first?.string("address") == weak, "\(first.errors)")
  }

  @Test func readsWhatCanBeReadAndSubscribesToTheRest() throws {
    let tree = try Blectl.run("services", Self.lock, "--values", "--json").records
    let service = try #require(tree.first { $0.string("uuid") == "ffe0" })
    let characteristics = service.records("characteristics")
    #expect(characteristics.map { $0.string("uuid") } == ["ffe1", "ffe2"])
    #expect(characteristics.first?.strings("properties") == ["write_without_response"])
    #expect(characteristics.last?.strings("properties") == ["read", "notify"])
    #expect(characteristics.last?.records("descriptors").first?.string("uuid") == "2902")
    #expect(characteristics.last?.keys.contains("value") == true)
  }

  @Test func aChunkMayBeSmallerAndPaced() throws {
    let result = try Blectl.run(
      ["write", Self.lock, "ffe1", "-", "--json", "--chunk", "13", "--gap", "10", "--expect", "ffe2=4f50454e"], input: Self.openCode)
    #expect(result.status == 0, "\(result.errors)")
    #expect(try result.records.first?.int("segments") == 8)
  }
}
