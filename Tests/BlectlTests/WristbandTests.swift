import TestSupport

/// The wristband: properties, a command answered by a notification, heart beats, and two ways to the MAC.
@Suite(.timeLimit(.minutes(15))) struct WristbandTests {
  static let band = "name:Band-7"

  @Test func theWholeTree() throws {
    let result = try Blectl.run("services", Self.band, "--json")
    #expect(result.status == 0, "\(result.errors)")
    let services = try result.records
    #expect(services.allSatisfy { $0.string("event") == "service" && $0.bool("primary") == true })
    #expect(Set(services.compactMap { $0.string("uuid") }).isSuperset(of: ["1800", "1801", "180a", "180f", "180d", "fee0"]))
    var last = 0
    for service in services {
      let start = try #require(service.int("handle"))
      let end = try #require(service.int("end_handle"))
      #expect(start > last && end >= start)
      last = end
      for characteristic in service.records("characteristics") {
        let handle = try #require(characteristic.int("handle"))
        let value = try #require(characteristic.int("value_handle"))
        #expect(start < handle && handle < value && value <= end)
      }
    }
  }

  @Test func battery() throws {
    #expect(try Blectl.run("read", Self.band, "battery_level", "--as", "u8").text == "60\n")
    let record = try Blectl.run("read", Self.band, "2a19", "--json").records.first
    #expect(record?.string("event") == "value")
    #expect(record?.string("uuid") == "2a19")
    #expect(record?.string("value") == "3c")
    let decoded = record?["decoded"]?["battery_level"]
    #expect(decoded?.int("value") == 60 && decoded?.string("unit") == "%")
    #expect(try Blectl.run("read", Self.band, "2a19").text == "3c  60 %\n")
    #expect(try Blectl.run("read", Self.band, "2a19", "--as", "hex").text == "3c\n")
  }

  @Test func whatWasAskedForIsDecodedInJSONToo() throws {
    #expect(try Blectl.run("read", Self.band, "2a19", "--as", "u8", "--json").records.first?.int("decoded") == 60)
    #expect(try Blectl.run("read", Self.band, "2a19", "--as", "hex", "--json").records.first?.string("decoded") == "3c")
    #expect(try Blectl.run("read", Self.band, "2a29", "--as", "utf8", "--json").records.first?.string("decoded") == "Simulated Bands")
    #expect(
      try Blectl.run("read", Self.band, "2a29", "--json").records.first?["decoded"]?["manufacturer_name"]?.string("value")
        == "Simulated Bands")
  }

  @Test(arguments: [["read"], ["read", "--json"], ["notify", "--count", "1"]])
  func aSizeThatDoesNotFitIsAnError(_ command: [String]) throws {
    let result = try Blectl.run(command + [Self.band, command[0] == "read" ? "2a19" : "2a37", "--as", "u32le"])
    #expect(result.status == 7 && result.output.isEmpty, "\(result.text)")
    #expect(result.errors.contains("u32le"))
  }

  @Test func aHeartBeatIsANumber() throws {
    let result = try Blectl.run("notify", Self.band, "2a37", "--count", "1")
    #expect(result.lines.first?.hasSuffix(" 2a37 0048  72 bpm") == true, "\(result.text)")
    #expect(try Blectl.run("services", Self.band, "--values").text.contains("= 3c  60 %"))
  }

  @Test func aValueThatIsNotAsDescribedSaysSo() throws {
    let file = try TemporaryFolder.file(
      """
      { "name": "Odd", "address": "D1:00:00:00:00:42/random", "advertisement": { "name": "Odd" }, "services": [
        { "uuid": "180d", "characteristics": [
          { "uuid": "2a37", "properties": ["read"], "value": "0048ff" }, { "uuid": "2a29", "properties": ["read"], "value": "41636d6500" },
          { "uuid": "2a6d", "properties": ["read"], "value": "16485503" } ] } ] }
      """)
    let text = try Blectl.run(["read", "name:Odd", "2a37"], adapter: "sim:\(file)")
    #expect(text.text == "0048ff  does not fit Heart Rate Measurement: 1 byte too many\n", "\(text.errors)")
    let record = try Blectl.run(["read", "name:Odd", "2a37", "--json"], adapter: "sim:\(file)").records.first
    #expect(record?.string("value") == "0048ff" && record?.string("decoded") == nil)
    #expect(record?.string("decoded_error") == "1 byte too many")
    #expect(try Blectl.run(["read", "name:Odd", "2a29"], adapter: "sim:\(file)").text == "Acme\n")
    #expect(try Blectl.run(["read", "name:Odd", "2a6d"], adapter: "sim:\(file)").text == "16485503  5592066.2 Pa\n")
  }

  @Test func commandAndAnswer() throws {
    let result = try Blectl.run("write", Self.band, "ff02", "1b9901", "--expect", "ff01=567b", "--json")
    #expect(result.status == 0, "\(result.errors)")
    let value = try #require(try result.records.last?.string("value"))
    #expect(value.hasPrefix("567b3c"))
    // 56 + 7b + 3c = 10d: the low byte is the checksum.
    #expect(value == "567b3c0d")
  }

  @Test func whatWasNotAskedForDoesNotCome() throws {
    let result = try Blectl.run("notify", Self.band, "ff01", "--count", "3", "--duration", "20", "--json")
    #expect(result.status == 4 && result.output.isEmpty, "\(result.errors)")
  }

  @Test func historyComesInThreePackets() throws {
    let result = try Blectl.run("write", Self.band, "ff02", "1b9902", "--expect", "ff01=567c0303", "--json")
    #expect(result.status == 0, "\(result.errors)")
    let passedOver = result.errors.matches(of: /does not match --expect: ([0-9a-f]+)/).map { String($0.1) }
    let answers = try result.records.filter { $0.string("event") == "notification" }.compactMap { $0.string("value") }
    #expect(passedOver == ["567c030100148e1c94", "567c0302ab280010ba"])
    #expect(answers == ["567c030343236a31d9"])
  }

  @Test func heartBeatsOnceASecond() throws {
    let result = try Blectl.run("notify", Self.band, "2a37", "--count", "3", "--json")
    #expect(result.status == 0, "\(result.errors)")
    let records = try result.records
    #expect(records.count == 3)
    #expect(records.allSatisfy { $0.string("event") == "notification" && $0.string("uuid") == "2a37" && $0.int("handle") != nil })
    let seconds = records.compactMap { $0.string("time")?.suffix(7).prefix(2) }
    #expect(Set(seconds).count == 3, "one a second: \(seconds)")
  }

  @Test func theMACByAdvertisementAndBySystemID() throws {
    let advertised = try Blectl.run("mac-from-adv", Self.band, "--json").records.first
    #expect(advertised?.string("mac") == "C0:FF:EE:00:00:07")
    #expect(advertised?.bool("matches_sender") == true)
    let connected = try Blectl.run("read", Self.band, "180a/2a23", "--json").records.first
    #expect(connected?.string("value") == "070000feffeeffc0")
  }

  @Test func severalAttributesOneLineEach() throws {
    let result = try Blectl.run("read", Self.band, "180a/2a29", "battery_level")
    #expect(result.lines.count == 2)
    #expect(result.lines.last?.hasPrefix("battery_level\t") == true)
  }
}
