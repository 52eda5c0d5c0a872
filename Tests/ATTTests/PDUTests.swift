import TestSupport

@Suite(.timeLimit(.minutes(15))) struct PDUTests {
  struct Vector: Sendable, CustomTestStringConvertible {
    let hex: String
    let pdu: PDU
    init(_ hex: String, _ pdu: PDU) {
      self.hex = hex
      self.pdu = pdu
    }
    var bytes: [UInt8] { Hex.decode(hex) ?? [] }
    var testDescription: String { hex }
  }

  static let own = UUID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
  static let ownHex = "1032547698badcfeefcdab8967452301"

  static let vectors: [Vector] = [
    Vector("010a150003", .response(.error(request: .request(.read), handle: 0x0015, code: .writeNotPermitted))),
    Vector("010a150000", .response(.error(request: .request(.read), handle: 0x0015, code: ErrorCode(rawValue: 0)))),
    Vector("020502", .request(.exchangeMTU(clientRxMTU: 517))),
    Vector("030000", .response(.exchangeMTU(serverRxMTU: 0))),
    Vector("040100ffff", .request(.findInformation(.all))),
    Vector("050104000229050003ff", .response(.findInformation([HandleType(4, UUID(0x2902)), HandleType(5, UUID(0xFF03))]))),
    Vector("05020400\(ownHex)", .response(.findInformation([HandleType(4, own)]))),
    Vector("060100ffff00280f18", .request(.findByTypeValue(.all, type: 0x2800, value: [0x0F, 0x18]))),
    Vector("060100ffff0028", .request(.findByTypeValue(.all, type: 0x2800, value: []))),
    Vector("07010005001000ffff", .response(.findByTypeValue([HandleRange(1, 5), HandleRange(0x10, 0xFFFF)]))),
    Vector("080100ffff0328", .request(.readByType(.all, type: UUID(0x2803)))),
    Vector("080100ffff\(ownHex)", .request(.readByType(.all, type: own))),
    Vector("09070200020300002a", .response(.readByType([HandleValue(2, [2, 3, 0, 0, 0x2A])]))),
    Vector("090201000200", .response(.readByType([HandleValue(1, []), HandleValue(2, [])]))),
    Vector("0a1500", .request(.read(0x15))),
    Vector("0b", .response(.read([]))),
    Vector("0b0102", .response(.read([1, 2]))),
    Vector("0c15001600", .request(.readBlob(0x15, offset: 22))),
    Vector("0d", .response(.readBlob([]))),
    Vector("0e15001700", .request(.readMultiple([0x15, 0x17]))),
    Vector("0f010203", .response(.readMultiple([1, 2, 3]))),
    Vector("100100ffff0028", .request(.readByGroupType(.all, type: UUID(0x2800)))),
    Vector("110601000500001806000700 0118", .response(.readByGroupType([HandleGroup(1, 5, [0, 0x18]), HandleGroup(6, 7, [1, 0x18])]))),
    Vector("12130001 00", .request(.write(0x13, value: [1, 0]))),
    Vector("121300", .request(.write(0x13, value: []))),
    Vector("13", .response(.write)),
    Vector("1615000500abcd", .request(.prepareWrite(0x15, offset: 5, value: [0xAB, 0xCD]))),
    Vector("1715000500abcd", .response(.prepareWrite(0x15, offset: 5, value: [0xAB, 0xCD]))),
    Vector("1801", .request(.executeWrite(flags: 1))),
    Vector("19", .response(.executeWrite)),
    Vector("1b1200", .unsolicited(.notification(HandleValue(0x12, [])))),
    Vector("1b120001", .unsolicited(.notification(HandleValue(0x12, [1])))),
    Vector("1d12000102", .unsolicited(.indication(HandleValue(0x12, [1, 2])))),
    Vector("1e", .confirmation),
    Vector("2015001700", .request(.readMultipleVariable([0x15, 0x17]))),
    Vector("210100aa0000", .response(.readMultipleVariable([[0xAA], []], truncated: nil))),
    Vector("210100aa0900bb", .response(.readMultipleVariable([[0xAA], [0xBB]], truncated: 9))),
    Vector("21", .response(.readMultipleVariable([], truncated: nil))),
    Vector(
      "2312000100aa14000000", .unsolicited(.multipleNotification([HandleValue(0x12, [0xAA]), HandleValue(0x14, [])], isTruncated: false))),
    Vector("521500aabb", .command(.write(0x15, value: [0xAA, 0xBB]))),
    Vector("d21500aa0102030405060708090a0b0c", .command(.signedWrite(0x15, value: [0xAA], signature: Array(1...12)))),
  ]

  @Test(arguments: vectors) func decodesAndEncodes(_ vector: Vector) throws {
    #expect(try PDU(parsing: vector.bytes) == vector.pdu)
    #expect(Hex.encode(vector.pdu.bytes) == Hex.encode(vector.bytes))
  }

  @Test func everyAssignedOpcodeHasAVector() {
    let seen = Set(Self.vectors.compactMap(\.bytes.first))
    for value in UInt8.min...UInt8.max {
      if case .unknown = ATTOpcode(rawValue: value) { continue }
      #expect(seen.contains(value), "0x\(Hex.encode([value]))")
    }
    #expect(seen.count == 31)
  }

  @Test(arguments: [
    "", "01", "010a", "010a1500", "010a15000300", "02", "0217", "02170000", "03", "03000200", "04010005", "0400000500ff", "05", "0501",
    "050004000229",
    "050304000229", "05010400022905", "05020400000000000000000000000000000000", "0601000500", "07", "0701000500ff", "070100", "0801000500",
    "080100ffff28", "080100ffff00280000", "080100ffff000000000000000000000000000000", "09", "0900", "0900aabbcc", "090105", "0902",
    "09070200020300002aff",
    "09050a000102", "0a", "0a15", "0a150000", "0c15", "0c150000", "0c15000000ff", "0e1500", "0e150017", "10", "1001", "11", "1100",
    "1103010005",
    "110601000500001806", "1106", "12", "1215", "13ff", "16150000", "17", "17150000", "18", "180100", "19ff", "1b", "1b12", "1d", "1d12",
    "1eff", "20", "201500",
    "23", "5215", "52", "d21500", "d215000102030405060708090a0b",
  ]) func refuses(_ hex: String) throws {
    let bytes = Hex.decode(hex) ?? []
    #expect(throws: MalformedPacket.self) { try PDU(parsing: bytes) }
  }

  @Test func saysWhatAndWhere() {
    #expect { try PDU(parsing: [0x09, 0x00]) } throws: { error in
      (error as? MalformedPacket)?.description == "Read By Type Response: item length 0 is below the minimum, 2 (at byte 1)"
    }
  }

  @Test(arguments: [
    ("231200", 0), ("2312000100", 0), ("2312000100aa12", 1), ("2312000100aa1200ffff01", 1), ("2312000200aa", 0),
  ]) func keepsWholeTuplesOfACutNotification(_ hex: String, _ whole: Int) throws {
    guard case .unsolicited(.multipleNotification(let items, isTruncated: true)) = try PDU(parsing: Hex.decode(hex) ?? []) else {
      Issue.record("\(hex) is not a truncated Multiple Handle Value Notification")
      return
    }
    #expect(items.count == whole)
  }

  /// Every opcode has one number and one name, and both map back to it.
  @Test func opcodesAreDeclaredOnce() {
    var names: [String: UInt8] = [:]
    for value in UInt8.min...UInt8.max {
      let opcode = ATTOpcode(rawValue: value)
      #expect(opcode.rawValue == value && names.updateValue(value, forKey: opcode.description) == nil)
    }
    #expect(names.keys.filter { !$0.hasPrefix("Opcode") }.count == 31)
  }

  @Test(arguments: [(UInt8(0xBF), false), (0xFF, true), (0x42, true), (0x00, false), (0x24, false)])
  func unknownOpcodesFollowTheCommandFlag(_ value: UInt8, _ isCommand: Bool) throws {
    #expect(ATTOpcode(rawValue: value).isUnknownCommand == isCommand)
    #expect(try PDU(parsing: [value, 1, 2]) == .unknown(ATTOpcode(rawValue: value)))
  }

  @Test func thirtyTwoBitTypesAreWidened() {
    #expect(Request.readByType(.all, type: UUID(0x1234_5678)).bytes.count == 21)
  }

  /// Every prefix and 100 000 mutations give a value or an error. A decoded value encodes and decodes to the same value.
  @Test func neverTraps() {
    var accepted = 0
    hostile(Self.vectors.map(\.bytes)) { bytes in
      guard let pdu = try? PDU(parsing: bytes), !pdu.bytes.isEmpty else { return }
      accepted += 1
      if case .unsolicited(.multipleNotification(_, isTruncated: true)) = pdu { return }
      #expect((try? PDU(parsing: pdu.bytes)) == pdu, "\(Hex.encode(bytes))")
    }
    #expect(accepted > 20_000)
  }

  @Test(arguments: [
    (UInt8(0x03), "Write Not Permitted (0x03)", "write_not_permitted"), (0x0F, "Insufficient Encryption (0x0f)", "insufficient_encryption"),
    (0x80, "Application Error (0x80)", "application_error"), (0x9F, "Application Error (0x9f)", "application_error"),
    (0x00, "Reserved Error Code (0x00)", "reserved_error_code"),
    (0xE5, "Common Profile or Service Error (0xe5)", "common_profile_or_service_error"),
    (0xFF, "Out of Range (0xff)", "out_of_range"), (0x0A, "Attribute Not Found (0x0a)", "attribute_not_found"),
  ]) func errorCodesHaveTheirNames(_ value: UInt8, _ text: String, _ snake: String) {
    #expect(ErrorCode(rawValue: value).description == text)
    #expect(ErrorCode(rawValue: value).snakeName == snake)
  }
}
