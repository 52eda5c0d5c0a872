import BluetoothLEText
import TestSupport
import Testing

@testable import BluetoothLEFirmware

@Suite(.timeLimit(.minutes(15))) struct ManagementMessageTests {
  @Test func theHeaderIsBigEndian() {
    let message = ManagementMessage(operation: 2, group: 0x0102, sequence: 0xFF, command: 5, body: [0xA0])
    #expect(message.encoded == [0x0A, 0, 0, 1, 1, 2, 0xFF, 5, 0xA0])
  }

  @Test func partsAreJoinedByTheLengthInTheHeader() {
    var message = ManagementMessage(operation: 3, group: 1, sequence: 7, command: 1, body: (0..<300).map { UInt8(truncatingIfNeeded: $0) })
    message.version = 0
    let bytes = message.encoded
    for first in 8..<bytes.count {
      var joiner = MessageJoiner()
      #expect(joiner.add(Array(bytes[..<first])) == nil)
      #expect(joiner.add(Array(bytes[first...]) + [0xEE]) == message)
      #expect(joiner.add(bytes) == message)
    }
  }

  @Test func shortValuesAndLostPartsDoNotHideTheNextMessage() {
    let bytes = ManagementMessage(operation: 1, group: 1, sequence: 1, command: 0, body: [0xA0]).encoded
    var joiner = MessageJoiner()
    for count in 0..<8 { #expect(joiner.add(Array(bytes[..<count])) == nil) }
    #expect(joiner.add(bytes) != nil)
    #expect(joiner.add(Array(bytes[..<8])) == nil)
    joiner.reset()
    #expect(joiner.add(bytes) != nil)
  }

  @Test(
    arguments: [
      ("a0", nil), ("a1627263 00", nil), ("a1627263 08", (nil, 8)), ("a1627263 190100", (nil, 256)), ("a1627263 20", (nil, -1)),
      // {"err": {"group": 1, "rc": 9}}, the same of groups 0 and 77, and with 0.
      ("a163657272 a26567726f757001627263 09", (1, 9)), ("a163657272 a26567726f757000627263 03", (0, 3)),
      ("a163657272 a26567726f7570184d627263 19012c", (77, 300)), ("a163657272 a26567726f757001627263 00", nil),
      // {"rc": 3, "off": 5}: an error beside values.
      ("a2627263 03636f666605", (nil, 3)), ("bf627263 0aff", (nil, 10)),
    ] as [(String, (UInt16?, Int)?)])
  func bothFormsOfErrorsAreRead(_ hex: String, _ expected: (UInt16?, Int)?) throws {
    let body = try #require(Hex.decode(hex.filter { $0 != " " }))
    let refusal = expected.map { ManagementRefusal(group: $0.0, code: $0.1) }
    do {
      _ = try ManagementClient.values(body, .images)
      #expect(refusal == nil)
    } catch { #expect(error == refusal.map { .refused(.images, $0, reason: nil) }) }
  }

  @Test(arguments: [
    "", "00", "80", "a0a0", "a1627263 61", "a162726361 61", "a163657272 00", "a163657272 a1627263 01",
    "a163657272 a26567726f757020627263 01",
    "a2627263 00627263 00",
  ])
  func unreadableAnswersAreErrors(_ hex: String) throws {
    let body = try #require(Hex.decode(hex.filter { $0 != " " }))
    #expect(throws: ManagementError.invalidAnswer(.erase)) { try ManagementClient.values(body, .erase) }
  }

  @Test func theTextOfAnOldServerIsKept() {
    let body = CBOR.map(["rc": .integer(1), "rsn": .text("flash")]).encoded
    #expect(throws: ManagementError.refused(.erase, ManagementRefusal(code: 1), reason: "flash")) {
      try ManagementClient.values(body, .erase)
    }
  }

  @Test func oddEntriesDoNotHideGoodOnes() throws {
    let good = CBOR.map(["slot": .integer(1), "version": .text("1.2.3.4"), "hash": .bytes([1, 2]), "pending": .bool(true)])
    let odd: [CBOR] = [
      .null, .map([:]), .map(["slot": .integer(-1)]), .map(["slot": .text("0")]), .map(["slot": .integer(0), "image": .text("a")]),
      .map(["slot": .unsigned(.max)]),
    ]
    let half = CBOR.map(["slot": .integer(0), "version": .integer(1), "hash": .text("x"), "active": .integer(1), "new": .null])
    let list = try #require(ImageList(.map(["images": .array(odd + [good] + odd + [half])])))
    #expect(list.unreadable == 12)
    #expect(list.images.map(\.slot) == [1, 0])
    #expect(list.images[0].isPending && list.images[0].version == "1.2.3+4" && list.images[0].hash == [1, 2])
    #expect(!list.images[1].isActive && list.images[1].version == nil && list.images[1].hash == nil)
    #expect(ImageList(.map(["image": .array([])])) == nil)
  }

  @Test(arguments: BootloaderMode.allCases) func modesKnowWhetherTheyRevert(_ mode: BootloaderMode) {
    #expect(mode.canRevert == [1, 3, 5, 9].contains(mode.rawValue))
    #expect(BootloaderInfo(name: nil, mode: .map(["mode": .integer(mode.rawValue)])).mode == mode)
    #expect(BootloaderInfo(name: nil, mode: .map(["mode": .integer(10)])).mode == .unknown)
  }
}
