import Foundation
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct MACFinderTests {
  @Test(arguments: MACVector.all) func vector(_ vector: MACVector) throws {
    #expect(vector.advertisement.errors.isEmpty)
    let outcome = MACFinder.find(in: vector.advertisement)
    guard let mac = vector.mac else {
      if case .found(let found) = outcome { Issue.record("found \(found.map(\.text)) by \(found.map(\.rule))") }
      return
    }
    let first = try #require(Self.found(outcome).first, "\(outcome)")
    #expect(first.text == mac)
    #expect(first.rule == vector.rule)
    #expect(first.source == vector.source)
    #expect(first.offset == vector.offset)
    #expect(first.order == vector.order)
    #expect(first.matchesSender == nil)
    #expect(first.isPartial == mac.contains("?"))

    // The same frame from the device itself, and from another device.
    let address = try #require(Address(mac.replacingOccurrences(of: "??", with: "5A")))
    let own = Self.found(MACFinder.find(in: vector.advertisement, sender: PeerAddress(address, .public)))
    #expect(own.first?.matchesSender == true)
    #expect(own.first?.text == mac)
    let foreign = PeerAddress(Address(rawValue: address.rawValue ^ 0x0100_0000_0001), .random)
    #expect(Self.found(MACFinder.find(in: vector.advertisement, sender: foreign)).first?.matchesSender == false)
  }

  /// The finder checks every structure of a kind: the first, the middle and the last.
  @Test(arguments: [
    ("le_device_address", [1, 2, 3].map { ADStructure(type: 0x1B, data: [$0, 0x11, 0x22, 0x33, 0x44, 0xC5, 1]) }),
    ("mibeacon", [1, 2, 3].map { svc(0xFE95, "50 20 aa 01 da 0\($0) 11 22 33 44 c5") }),
    ("ruuvi_rawv2", [1, 2, 3].map { mfg(0x0499, "05" + String(repeating: "00", count: 17) + "c5443322110\($0)") }),
  ])
  func everyStructureIsLookedAt(_ rule: String, _ structures: [ADStructure]) throws {
    let found = Self.found(MACFinder.find(in: try #require(Advertisement(structures: structures))))
    #expect(found.map(\.text) == (1...3).map { "C5:44:33:22:11:0\($0)" } && found.allSatisfy { $0.rule == rule }, "\(found)")
  }

  /// A flag bit or a length that rules out a MAC differs from an unknown layout.
  @Test(
    arguments: [
      ([svc(0xFE95, "4855c211165068b6fe3c878095c8a5834f000000463221c6")], "bit 4"), ([svc(0x181A, "b462c538c1a48a09c215bf")], "encrypted"),
      ([svc(0x181A, "b462c538c1a48a09")], "encrypted"), ([svc(0xFD50, "00")], "encrypts"), ([mfg(0x07D0, "")], "encrypts"),
      ([svc(0xFE95, "5020aa01da2193")], "too short for an address"),
      ([svc(0xFCD2, "4004138a01")], "bit 1"), ([svc(0xFCD2, "42b2188d38c1")], "too short for an address"),
      ([mfg(0x0BA9, "0101000b0700")], "too short for an address"),
      ([mfg(0x0499, "0512fc5394c37c0004fffc040cac364200cdffffffffffff")], "FF:FF:FF:FF:FF:FF"),
      ([mfg(0x0969, "000000000000")], "00:00:00:00:00:00"),
      ([mfg(0x0211, "110200000000")], "is blank"), ([], nil), ([mfg(0x004C, "1005011ca1b2c3")], nil), ([svc(0x181A, "01020304")], nil),
      ([name("Thing")], nil),
    ] as [([ADStructure], String?)])
  func noneInThisFrame(_ structures: [ADStructure], _ reason: String?) throws {
    let outcome = MACFinder.find(in: try #require(Advertisement(structures: structures)))
    switch (outcome, reason) {
    case (.unknown, nil): break
    case (.noneInThisFrame(let why), .some(let reason)): #expect(why.contains(reason), "\(why)")
    default: Issue.record("\(outcome)")
    }
  }

  /// Weak layouts count only if they contain the sender's own address.
  @Test(arguments: [
    ([name("Sensor_2762")], "A4:C1:38:11:27:62", "??:??:??:??:27:62", "name_suffix"),
    ([name("Sensor_112762")], "A4:C1:38:11:27:62", "??:??:??:11:27:62", "name_suffix"),
    ([ADStructure(type: 0xFF, data: [0xA3, 0xB6, 0x63, 0x45, 0x28, 0x70])], "70:28:45:63:B6:A3", "70:28:45:63:B6:A3", "whole_data"),
    ([ADStructure(type: 0xFF, data: [0x28, 0x06, 0x0A, 0xC6, 0x7B, 0x90])], "90:7B:C6:0A:06:28", "90:7B:C6:0A:06:28", "whole_data"),
    ([name("C03DAAED")], "C0:3D:AA:ED:C6:39", "C0:3D:AA:ED:??:??", "name_prefix"),
    ([mfg(0x0000, "0000d7652e9aec28f000")], "28:EC:9A:2E:65:D7", "28:EC:9A:2E:65:D7", "inkbird_reversed"),
    ([mfg(0x0001, "0000aabbccddeeff4c014f01")], "AA:BB:CC:DD:EE:FF", "AA:BB:CC:DD:EE:FF", "inkbird_2x_reversed"),
  ])
  func onlyTheSender(_ structures: [ADStructure], _ sender: String, _ text: String, _ rule: String) throws {
    let advertisement = try #require(Advertisement(structures: structures))
    let address = try #require(Address(sender))
    let first = try #require(Self.found(MACFinder.find(in: advertisement, sender: PeerAddress(address, .public))).first)
    #expect(first.text == text)
    #expect(first.rule == rule)
    #expect(zip(first.text, address.description).allSatisfy { $0 == $1 || $0 == "?" })
    let other = PeerAddress(Address(rawValue: ~address.rawValue), .public)
    for finding in Self.found(MACFinder.find(in: advertisement, sender: other)) + Self.found(MACFinder.find(in: advertisement)) {
      #expect(finding.rule != rule)
    }
  }

  @Test func sendersOwnAddressComesFirst() throws {
    let advertisement = try #require(Advertisement(structures: [mfg(0x0969, "c4f92675df22dc"), mfg(0x0059, "fe02349ea6ba")]))
    let sender = try #require(Address("FE:02:34:9E:A6:BA"))
    let found = Self.found(MACFinder.find(in: advertisement, sender: PeerAddress(sender, .random)))
    #expect(found.map(\.matchesSender) == [true, false])
    #expect(Self.found(MACFinder.find(in: advertisement)).map(\.rule) == ["switchbot", "switchbot_nordic"])
  }

  // MARK: Rules of users

  @Test(arguments: [
    ("mfg:0x0305@-6:le", [mfg(0x0305, "010221110038c1a4")], "A4:C1:38:00:11:21", 2),
    ("mfg:0305@2:LE", [mfg(0x0305, "010221110038c1a4")], "A4:C1:38:00:11:21", 2),
    ("MFG:0X305@2:be", [mfg(0x0305, "0102a4c138001121")], "A4:C1:38:00:11:21", 2),
    ("svc:fe95@5:le", [svc(0xFE95, "4020aa01da219335342d58")], "58:2D:34:35:93:21", 5),
    ("svc:0000fe95-0000-1000-8000-00805f9b34fb@5:le", [svc(0xFE95, "5020aa01da219335342d58")], "58:2D:34:35:93:21", 5),
    ("ad:1b@0:le", [ADStructure(type: 0x1B, data: [0x22, 0x11, 0, 0x38, 0xC1, 0xA4, 0])], "A4:C1:38:00:11:22", 0),
    ("ad:ff@0:be", [mfg(0xC1A4, "38001122")], "A4:C1:38:00:11:22", 0),
    ("mfg:0157/24@18:be", [mfg(0x0157, "020aff54ffffffffffffffffffffffffff03c5093f890b4b")], "C5:09:3F:89:0B:4B", 18),
    ("mfg:0157/6-24@0:be", [mfg(0x0157, "c8478cc09589")], "C8:47:8C:C0:95:89", 0),
    ("name@-12", [name("X-C1DD9272E8C1")], "C1:DD:92:72:E8:C1", 2),
    ("name@-4", [name("X 2762")], "??:??:??:??:27:62", 2),
  ])
  func userRule(_ text: String, _ structures: [ADStructure], _ mac: String, _ offset: Int) throws {
    let rule = try MACRule(text)
    #expect(rule.description == text)
    let advertisement = try #require(Advertisement(structures: structures))
    let first = try #require(Self.found(MACFinder.find(in: advertisement, rules: [rule])).first)
    #expect(first.text == mac)
    #expect(first.rule == text)
    #expect(first.offset == offset)
  }

  @Test(arguments: [
    ("mfg:0x0305/7@-6:le", "010221110038c1a4", MACFinder.Outcome.unknown), ("mfg:0x0306@-6:le", "010221110038c1a4", .unknown),
    (
      "mfg:0x0305@3:le", "010221110038c1a4",
      .noneInThisFrame("manufacturer_data/0305 (mfg:0x0305@3:le): too short for an address (8 bytes)")
    ),
    (
      "mfg:0x0305@-9:le", "010221110038c1a4",
      .noneInThisFrame("manufacturer_data/0305 (mfg:0x0305@-9:le): too short for an address (8 bytes)")
    ),
    ("name@-4", "", .unknown),
  ])
  func userRuleThatFindsNothing(_ text: String, _ hex: String, _ outcome: MACFinder.Outcome) throws {
    let advertisement = try #require(Advertisement(structures: [mfg(0x0305, hex), name("ABC")]))
    #expect(MACFinder.find(in: advertisement, rules: [try MACRule(text)]) == outcome)
  }

  @Test(arguments: [
    "", "@", "mfg", "mfg:0x0305", "mfg:0x0305@", "mfg:0x0305@-6", "mfg:0x0305@-6:", "mfg:0x0305@-6:xe", "mfg:0x0305@-5:le",
    "mfg:0x0305@:le",
    "mfg:0x10305@0:le", "mfg:@0:le", "mfg:0x@0:le", "mfg:zz@0:le", "mfg:0x0305@1651:le", "mfg:0x0305@99999999999999999999:le",
    "mfg:0x0305@1@2:le",
    "mfg:0x0305@+1:le", "svc:fe9@0:le", "svc:@0:le", "ad:100@0:le", "adv:1b@0:le", "mfg:0305/@0:le", "mfg:0305/x@0:le", "mfg:0305/5-4@0:le",
    "mfg:0305/1-2-3@0:le", "mfg:0305/1/2@0:le", "name@4", "name@-5", "name:x@-4", "name@-4:be", "name@--4", "mfg:0x0305@--6:le",
    "\u{1B}[2J@0:le",
    "mfg:0x0305@٣:le",
  ])
  func badRule(_ text: String) {
    let error = #expect(throws: MACRuleError.self) { _ = try MACRule(text) }
    #expect(error?.text == text)
  }

  @Test func knownRulesAreSound() {
    for rule in MACRule.known {
      #expect(!rule.id.isEmpty)
      #expect((1...6).contains(rule.bytes))
      if case .offset(let offset) = rule.location {
        // A value of the minimum length has room, unless a flag bit may cut it.
        if rule.flag == nil { #expect(rule.lengths.lowerBound >= (offset < 0 ? -offset : offset + rule.bytes), "\(rule)") }
      }
    }
  }

  // MARK: Learning

  @Test(arguments: [
    ([mfg(0x0305, "021240b000f4f953657f8a43b9f0f7")], "F7:F0:B9:43:8A:7F", ["mfg:0x0305@-6:le"]),
    ([svc(0xFE95, "5020aa01da219335342d580d10")], "58:2D:34:35:93:21", ["svc:fe95@5:le"]),
    ([mfg(0x0969, "c4f92675df22")], "C4:F9:26:75:DF:22", ["mfg:0x0969@0:be"]),
    ([mfg(0xC1A4, "38001122")], "A4:C1:38:00:11:22", ["ad:ff@0:be"]),
    ([ADStructure(type: 0x1B, data: [0, 0x22, 0x11, 0, 0x38, 0xC1, 0xA4])], "A4:C1:38:00:11:22", ["ad:1b@-6:le"]),
    ([ADStructure(type: 0x1B, data: [0x22, 0x11, 0, 0x38, 0xC1, 0xA4, 0])], "A4:C1:38:00:11:22", ["ad:1b@0:le"]),
    ([name("ATC_C562B4"), svc(0x181A, "b462c538c1a48a")], "A4:C1:38:C5:62:B4", ["svc:181a@0:le", "name@-6"]),
    ([name("X_A4C138C562B4")], "A4:C1:38:C5:62:B4", ["name@-12"]), ([name("GVH5075_2762")], "A4:C1:38:00:27:62", ["name@-4"]),
    ([mfg(0x0305, "021240b000")], "F7:F0:B9:43:8A:7F", []), ([mfg(0x0059, "000000000000")], "00:00:00:00:00:00", []),
    ([ADStructure(type: 0x09, data: Array("ABCDEF".utf8))], "41:42:43:44:45:46", ["ad:09@0:be"]),
  ])
  func learns(_ structures: [ADStructure], _ sender: String, _ rules: [String]) throws {
    let advertisement = try #require(Advertisement(structures: structures))
    let address = try #require(Address(sender))
    let learnt = MACFinder.learn(in: advertisement, sender: address)
    #expect(learnt.map(\.rule) == rules)
    #expect(learnt.allSatisfy { $0.matchesSender == true })
    // A learned rule finds the same address again.
    for finding in learnt {
      let again = Self.found(MACFinder.find(in: advertisement, sender: PeerAddress(address, .public), rules: [try MACRule(finding.rule)]))
      #expect(again.first?.text == finding.text)
      #expect(again.first?.offset == finding.offset)
    }
  }

  /// A MAC from a label, in the data of any sender.
  @Test(arguments: [
    ("ff1102 0278732143", "34:13:43:21:73:78", ["mfg:0x0211@-4:le:last4"], "??:??:43:21:73:78"),
    ("ff1102 7878732143", "34:13:43:21:73:78", ["mfg:0x0211@-4:le:last4"], "??:??:43:21:73:78"),
    ("ff1102 01217378ff", "34:13:43:21:73:78", ["mfg:0x0211@1:be:last3"], "??:??:??:21:73:78"),
    ("1695fe 0134134321", "34:13:43:21:73:78", ["svc:fe95@-4:be:first4"], "34:13:43:21:??:??"),
    ("1695fe 2143133401", "34:13:43:21:73:78", ["svc:fe95@0:le:first4"], "34:13:43:21:??:??"),
    // A neighbor of the same vendor.
    ("1695fe 34134321737901", "34:13:43:21:73:78", [], ""),
    // The whole address hides its parts.
    ("1695fe 341343217378", "34:13:43:21:73:78", ["svc:fe95@0:be"], "34:13:43:21:73:78"),
    ("ff1102 000000", "34:13:43:00:00:00", [], ""),
  ])
  func learnsALabel(_ hex: String, _ label: String, _ rules: [String], _ text: String) throws {
    let bytes = try Hex.parse(hex.replacing(" ", with: ""))
    let advertisement = Advertisement([UInt8(bytes.count)] + bytes)
    let sender = try #require(Address("D1:00:00:00:00:01"))
    let learnt = MACFinder.learn(in: advertisement, sender: sender, label: Address(label))
    #expect(learnt.map(\.rule) == rules && learnt.allSatisfy { $0.text == text && $0.matchesSender == false })
    for finding in learnt {
      let again = Self.found(MACFinder.find(in: advertisement, rules: [try MACRule(finding.rule)]))
      #expect(again.map(\.text) == [text] && again.first?.offset == finding.offset)
    }
  }

  @Test(arguments: ["mfg:0x0211@-3:le:last4", "mfg:0x0211@1:le:last6", "mfg:0x0211@1:le:", "mfg:0x0211@1:le:last4:be"])
  func wrongParts(_ rule: String) { #expect(throws: MACRuleError.self) { try MACRule(rule) } }

  // MARK: System ID

  @Test(
    arguments: [
      ("debc9afeff563412", "12:34:56:9A:BC:DE", ByteOrder.little, FoundMAC.Confidence.high),
      ("debc9affff563412", "12:34:56:9A:BC:DE", .little, .medium), ("123456fffe9abcde", "12:34:56:9A:BC:DE", .big, .medium),
      ("debc9a0102563412", "12:34:56:9A:BC:DE", .little, .low), ("0000000000000000", nil, .little, .low),
      ("ffffffffffffffff", nil, .little, .low),
      ("000000feff000000", nil, .little, .low), ("debc9afeff5634", nil, .little, .low), ("debc9afeff56341200", nil, .little, .low),
      ("", nil, .little, .low),
    ] as [(String, String?, ByteOrder, FoundMAC.Confidence)])
  func systemID(_ hex: String, _ mac: String?, _ order: ByteOrder, _ confidence: FoundMAC.Confidence) throws {
    let found = MACFinder.fromSystemID(try #require(Hex.decode(hex)))
    #expect(found?.text == mac)
    if let found {
      #expect(found.order == order)
      #expect(found.confidence == confidence)
      #expect(found.source == "system_id/2a23")
    }
  }

  // MARK: Hostile bytes

  @Test func hostileBytes() {
    let sender = Address(rawValue: 0xA4C1_3800_1122)
    let rules = ["mfg:0x0305@-6:le", "svc:fe95@5:le", "ad:ff@0:be", "name@-4"].compactMap { try? MACRule($0) }
    hostile(MACVector.all.map(\.advertisement.bytes), mutations: 50_000) { bytes in
      let advertisement = Advertisement(bytes)
      for outcome in [
        MACFinder.find(in: advertisement),
        MACFinder.find(in: advertisement, sender: PeerAddress(sender, .public), rules: MACRule.known + rules),
      ] {
        guard case .found(let found) = outcome else { continue }
        if found.isEmpty || found.contains(where: { $0.mac.rawValue == 0 || $0.mac.rawValue == $0.knownBits }) {
          Issue.record("\(Hex.encode(bytes)): \(found)")
        }
      }
      _ = MACFinder.learn(in: advertisement, sender: sender)
      _ = MACFinder.fromSystemID(bytes)
    }
    hostile(["mfg:0x0305/6-24@-6:le", "svc:fe95@5:le", "name@-4"].map { Array($0.utf8) }, mutations: 20_000) { bytes in
      _ = try? MACRule(String(decoding: bytes, as: UTF8.self))
    }
  }

  /// Checks the lines that were extracted from other projects' tests.
  @Test(.enabled(if: Vectors.folder != nil, "BLECTL_VECTORS names no folder: the MAC was not looked for in 97 frames of other projects"))
  func vectors() throws {
    let data = try Vectors.data("mac_in_adv.jsonl")
    var positives = 0
    var negatives = 0
    for line in data.split(separator: UInt8(ascii: "\n")) {
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
      let comment = Comment(rawValue: "\(object["source"] ?? "")")
      let address = try #require(object["address"] as? String)
      let outcome = MACFinder.find(in: try Self.advertisement(object))
      if object["kind"] as? String == "positive" {
        positives += 1
        let first = Self.found(outcome).first
        #expect(first?.text == address, comment)
        #expect(first?.order == (object["order"] as? String == "BE" ? .big : .little), comment)
        if let offset = object["offset_after_id"] as? Int { #expect(first?.offset == offset, comment) }
      } else {
        negatives += 1
        guard case .noneInThisFrame = outcome else {
          Issue.record("\(comment): \(outcome)")
          continue
        }
      }
    }
    #expect(positives == 91)
    #expect(negatives == 6)
  }

  private static func advertisement(_ object: [String: Any]) throws -> Advertisement {
    if let hex = (object["adv"] ?? object["ad"]) as? String { return Advertisement(try #require(Hex.decode(hex))) }
    if let value = object["value_after_id"] as? String {
      let text = try #require(object["id"] as? String)
      let id = try #require(UUID(text))
      let bytes = try #require(Hex.decode(value))
      return try #require(Advertisement(structures: [.serviceData(id, bytes)]))
    }
    // Test tables of another project: names, address, UUIDs, values. Manufacturer data include the company identifier.
    let fields = try #require(object["fields"] as? [String])
    let index = try #require(object["field_index"] as? Int)
    let source = object["source"] as? String ?? ""
    var structures: [ADStructure] = []
    var service = UUID(fields.contains("0xfe95") || source.contains("test_servicedata") ? 0xFE95 : 0xAB01)
    for field in fields.dropFirst() { if let uuid = UUID(field), uuid.short != nil, field.count <= 6 { service = uuid } }
    // The name of the table shows which values are manufacturer data.
    let isManufacturers: (Int) -> Bool = { position in
      source.contains("mfgsvcdata") ? position == fields.count - 2 : source.contains("mfgdata")
    }
    for position in fields.indices where position == index || (source.contains("mfgsvcdata") && position >= fields.count - 2) {
      guard let bytes = Hex.decode(fields[position]) else { continue }
      structures.append(
        isManufacturers(position) ? ADStructure(type: ADType.manufacturerData, data: bytes) : .serviceData(service, bytes))
    }
    return try #require(Advertisement(structures: structures))
  }

  private static func found(_ outcome: MACFinder.Outcome) -> [FoundMAC] {
    if case .found(let found) = outcome { return found }
    return []
  }
}
