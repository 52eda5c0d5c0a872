import TestSupport

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct MACSearchTests {
  /// The wristband's advertisement, with the MAC in the last six bytes of the data of company 0157.
  private static let band = Hex.decode("1bff5701020a0700ffffffffffffffffffffffffff03c0ffee000007") ?? []

  @Test func eachIsGivenOutOnce() {
    var search = MACSearch()
    #expect(search.add(Self.band, sender: peer(1)).map(\.text) == ["C0:FF:EE:00:00:07"])
    #expect(search.add(Self.band, sender: peer(1)).isEmpty)
    #expect(search.add(Self.band, sender: peer(2)).count == 1, "another sender")
    #expect(search.found == 2)
    #expect(throws: Never.self) { try search.finish() }
  }

  /// ABTemp (April Brother) fills its advertisement with an iBeacon, which identifies the service data in the scan response.
  @Test func advertisementAndScanResponseBelongTogether() throws {
    let beacon = try #require(Advertisement(structures: [mfg(0x004C, "0215b5b182c7eab14988aa99b5c1517008d90001641ac5")])).bytes
    let response = try #require(Advertisement(structures: [svc(0xAB01, "7dac4915fed57dac530680")])).bytes
    var search = MACSearch()
    #expect(search.add(response, sender: peer(1)).isEmpty && search.add(beacon, sender: peer(1)).isEmpty)
    #expect(search.add(response, sender: peer(2)).isEmpty, "another sender")
    #expect(search.add(response, sender: peer(1)).map(\.text) == ["D5:FE:15:49:AC:7D"])
    // Lines are independent, and unknown senders may be different devices.
    var apart = MACSearch()
    for (sender, line) in [(peer(1), 1), (peer(1), 2), (nil, nil), (nil, nil)] as [(PeerAddress?, Int?)] {
      for data in [beacon, response] { #expect(apart.add(data, sender: sender, line: line).isEmpty) }
    }
  }

  @Test func everyLineForItself() {
    var search = MACSearch()
    for line in 1...3 { #expect(search.add(Self.band, sender: nil, line: line).count == 1) }
    #expect(search.found == 3)
  }

  /// Six bytes under a chip maker's or an example's identifier are weak evidence, unless they equal the sender's address.
  @Test(arguments: [[9, 0xFF, 0x59, 0, 0xFE, 2, 0x34, 0x9E, 0xA6, 0xBA], [9, 0xFF, 0x34, 0x12, 0xBA, 0xA6, 0x9E, 0x34, 2, 0xFE]])
  func whatIsNotSureEnoughIsKeptBack(_ data: [UInt8]) throws {
    var search = MACSearch(leastConfidence: .medium)
    #expect(search.add(data, sender: nil).isEmpty && search.add(data, sender: peer(1)).isEmpty)
    #expect {
      try search.finish()
    } throws: {
      if case .notSureEnough(let mac)? = $0 as? MACSearchError { mac.text == "FE:02:34:9E:A6:BA" && mac.confidence == .low } else { false }
    }
    #expect(search.add(data, sender: PeerAddress(Address(rawValue: 0xFE02_349E_A6BA), .random)).map(\.confidence) == [.high])
    var all = MACSearch()
    #expect(all.add(data, sender: nil).map(\.confidence) == [.low])
  }

  @Test func ofWhatIsNotSureEnoughTheSurestIsNamed() throws {
    let chip: [UInt8] = [9, 0xFF, 0x59, 0, 0xFE, 2, 0x34, 0x9E, 0xA6, 0xBA]
    let names = ["ATC_112233", "ATC_445566"].map { [11, 9] + Array($0.utf8) }
    var search = MACSearch(leastConfidence: .high)
    for data in [chip] + names + [chip] { #expect(search.add(data, sender: nil).isEmpty) }
    guard case .notSureEnough(let mac)? = search.problem else {
      Issue.record("\(String(describing: search.problem))")
      return
    }
    // The first of several equally certain findings.
    #expect(mac.confidence == .medium && mac.text.hasSuffix("11:22:33"))
  }

  @Test func whyThereWasNone() throws {
    #expect(throws: MACSearchError.nothingHeard) { try MACSearch().finish() }
    var search = MACSearch()
    #expect(search.add([2, 1, 6], sender: nil).isEmpty)
    #expect(throws: MACSearchError.noRuleFits([], advertisements: 1)) { try search.finish() }
    var own = MACSearch(.rules([try MACRule("mfg:0305@0:le")]))
    #expect(own.add([2, 1, 6], sender: nil).isEmpty)
    #expect(throws: MACSearchError.noRuleFits(["mfg:0305@0:le"], advertisements: 1)) { try own.finish() }
    #expect(own.add([3, 1, 6], sender: nil, line: 4).isEmpty)
    #expect {
      try own.finish()
    } throws: {
      if case .malformed(_, line: 4)? = $0 as? MACSearchError { true } else { false }
    }
    var learning = MACSearch(.learn())
    #expect(learning.add(Self.band, sender: peer(1)).isEmpty)
    #expect(throws: MACSearchError.senderNotInData(advertisements: 1)) { try learning.finish() }
    #expect(learning.add(Self.band, sender: nil).isEmpty)
    #expect(throws: MACSearchError.senderUnknown) { try learning.finish() }
  }

  @Test func whatIsLearntIsARule() throws {
    var search = MACSearch(.learn())
    let sender = PeerAddress(Address(rawValue: 0xC0FF_EE00_0007), .public)
    let learnt = try #require(search.add(Self.band, sender: sender).first)
    var again = MACSearch(.rules([try MACRule(learnt.rule)]))
    #expect(again.add(Self.band, sender: nil).map(\.mac) == [sender.address])
  }

  /// A device is returned again only with more bytes of the label.
  @Test func aLabelOnceForEachDevice() throws {
    let label = try #require(Address("A4:C1:38:00:11:22"))
    var search = MACSearch(.learn(label), leastConfidence: .medium)
    let (part, whole): ([UInt8], [UInt8]) = ([4, 0xFF, 1, 2, 3], [9, 0xFF, 1, 2, 0xA4, 0xC1, 0x38, 0, 0x11, 0x22])
    let last: [UInt8] = [7, 0xFF, 1, 2, 0x38, 0, 0x11, 0x22]
    #expect(search.add(part, sender: peer(1)).isEmpty)
    #expect(throws: MACSearchError.notInData(label, advertisements: 1, devices: 1)) { try search.finish() }
    let counts = [last, last, whole, whole, last].map { search.add($0, sender: peer(1)).count }
    #expect(counts == [1, 0, 1, 0, 0] && search.add(whole, sender: peer(2)).count == 1)
    #expect(search.add(whole, sender: nil).map(\.matchesSender) == [nil])
  }

  /// Every printed place of a rule parses again.
  @Test(arguments: [.manufacturer(0x0305), .service(0xFE95), .anyService, .structure(0x1B)] as [MACRule.Place])
  func placesAreReadAsTheyArePrinted(_ place: MACRule.Place) throws {
    for order in [ByteOrder.big, .little] {
      let rule = try MACRule(MACRule.text(place, -6, order))
      #expect(rule.place == place && rule.location == .offset(-6) && rule.order == order)
    }
    #expect(try MACRule(MACRule.text(.name, -6, .big)).place == .name)
  }

  @Test func anyServiceIsAnyService() throws {
    var search = MACSearch(.rules([try MACRule("svc:*@0:be")]))
    #expect(search.add([9, 0x16, 0x95, 0xFE, 1, 2, 3, 4, 5, 6], sender: nil).map(\.text) == ["01:02:03:04:05:06"])
    #expect(search.add([9, 0x16, 0x0F, 0x18, 1, 2, 3, 4, 5, 7], sender: nil).count == 1)
  }

  @Test(arguments: [
    ("", MACRuleError.Part.halves), ("mfg:0305", .halves), ("mfg@0:le", .place), ("bus:1@0:le", .kind), ("mfg:12345@0:le", .company),
    ("svc:xy@0:le", .service), ("ad:100@0:le", .type), ("name@-5", .nameDigits), ("mfg:0305@0", .offset),
    ("mfg:0305@-5:le", .offsetFromEnd),
    ("mfg:0305@0:me", .order), ("mfg:0305/9-8@0:le", .length),
  ])
  func whatIsWrongWithARule(_ text: String, _ part: MACRuleError.Part) {
    #expect(throws: MACRuleError(text: text, part: part)) { try MACRule(text) }
  }

  @Test func linesOfRecordedAdvertisements() throws {
    func line(_ text: String) throws -> ([UInt8], PeerAddress?)? { try OfflineAdvertisement.parse(Array(text.utf8), number: 7) }
    #expect(try line(" # a comment") == nil)
    #expect(try line("{\"event\":\"value\"}") == nil)
    #expect(try line("020106")?.0 == [2, 1, 6])
    #expect(try line("D1:00:00:00:00:01/random 020106")?.1 == peer(1))
    let record = try line(#"{"raw":"020106","address":"D1:00:00:00:00:01","address_type":"random"}"#)
    #expect(record?.0 == [2, 1, 6] && record?.1 == peer(1))
    #expect(try line(String(repeating: "00", count: 1650))?.0.count == 1650)
    for (text, error) in [
      ("{", OfflineAdvertisementError.notJSON(line: 7)), (#"{"raw":"zz"}"#, .rawNotHex(line: 7)),
      ("D1:00:00:00:00:01 zz", .notHexAfterAddress(line: 7)), ("hello", .unknown(line: 7)),
      ("02010", .lacksDigit(line: 7)), ("D1:00:00:00:00:01 -58 dBm adv_ind 020", .lacksDigit(line: 7)),
      (#"{"raw":"0"}"#, .lacksDigit(line: 7)),
      (String(repeating: "00", count: 1651), .tooLong(line: 7)),
      ("D1:00:00:00:00:01 \(String(repeating: "00", count: 1651))", .tooLong(line: 7)),
      (String(repeating: " ", count: 200_000), .tooLong(line: 7)),
    ] {
      #expect(throws: error) { try line(text) }
    }
  }
}
