import BluetoothLESimulator
import TestSupport

/// Checks requests and answers of our own server cases, at ATT_MTU 23 unless the case raises it.
@Suite(.timeLimit(.minutes(15))) struct ServerProcedureTests {
  /// 0001 service 1800 · 0003 name "Gate" rw max 20 · 0010 service 180d · 0012 heart rate notify · 0013 its configuration
  /// 0015 control point, write request only · 0017 write command only, indicate · 0018 its configuration · 0019 description "Gate of wrath"
  /// 001b reliable 1, 001c 2900 · 001e reliable 2, 001f 2900 · 0021 encrypted · 0023 authenticated · 0025 60 bytes, rw
  /// 0030 secondary service of 128 bits, includes 1800 · 0033 a characteristic of 128 bits
  static func database() throws -> AttributeDatabase {
    typealias Service = AttributeDatabase.ServiceDescription
    typealias Characteristic = AttributeDatabase.CharacteristicDescription
    typealias Descriptor = AttributeDatabase.DescriptorDescription
    var access = Service(uuid("1800"))
    var name = Characteristic(uuid("2a00"), [.read, .write])
    name.value = Array("Gate".utf8)
    name.maximumLength = 20
    access.characteristics = [name]

    var heart = Service(uuid("180d"))
    heart.handle = 0x0010
    var description = Descriptor(uuid("2901"))
    description.value = Array("Gate of wrath".utf8)
    var command = Characteristic(uuid("ff02"), [.writeWithoutResponse, .indicate])
    command.descriptors = [description]
    var reliable = Characteristic(uuid("ff03"), [.read, .write, .extendedProperties])
    reliable.value = [1, 2, 3]
    var extended = Descriptor(uuid("2900"))
    extended.value = [1, 0]
    reliable.descriptors = [extended]
    var encrypted = Characteristic(uuid("ff04"), [.read, .write])
    encrypted.permissions = [.read, .write, .readEncrypted, .writeEncrypted]
    encrypted.value = [4]
    var authenticated = encrypted
    authenticated.permissions = [.read, .write, .readAuthenticated, .writeAuthenticated]
    var long = Characteristic(uuid("ff05"), [.read, .write])
    long.value = (0..<60).map { UInt8($0) }
    heart.characteristics = [
      Characteristic(uuid("2a37"), .notify), Characteristic(uuid("2a39"), .write), command, reliable, reliable, encrypted, authenticated,
      long,
    ]

    var wide = Service(uuid("12345678-1234-5678-1234-56789abcdef0"))
    wide.handle = 0x0030
    wide.includes = [.init(0)]
    wide.isPrimary = false
    var first = Characteristic(uuid("12345678-1234-5678-1234-56789abcdef1"), .read)
    first.value = [7, 7]
    wide.characteristics = [first]
    return try AttributeDatabase(services: [access, heart, wide])
  }

  static let wideUUID = "f0debc9a785634127856341278563412"

  /// The title of each case, then questions and answers in turn. An empty answer means silence.
  static let cases: [(String, [(String, String)])] = [
    ("MTU: the smaller of the two, once", [("020002", "030502"), ("02f700", "030502"), ("0a2500", "0b" + Hex.encode(0..<60))]),
    (
      "MTU: a value below 23 changes nothing",
      [("021600", "030502"), ("0a2500", "0b" + Hex.encode(0..<22)), ("021e00", "030502"), ("0a2500", "0b" + Hex.encode(0..<29))]
    ),
    ("MTU: requests longer than it are refused", [("12250000112233445566778899aabbccddeeff0011223344", "0112000004")]),
    ("MTU: commands longer than it are ignored", [("52170000112233445566778899aabbccddeeff0011223344", "")]),
    ("Find Information: 16 bits", [("0401000400", "05010100002802000328" + "0300002a"), ("0404000f00", "010404000a")]),
    (
      "Find Information: 128 bits stand alone",
      [("0430003500", "050130000128310002283200" + "0328"), ("0433003300", "05023300f1debc9a785634127856341278563412")]
    ),
    ("Find Information: bad ranges", [("040000ffff", "0104000001"), ("0405000400", "0104050001")]),
    ("Find By Type Value: a primary service", [("060100ffff00280d18", "0710002500")]),
    ("Find By Type Value: a secondary service of 128 bits", [("060100ffff0128" + wideUUID, "0730003300")]),
    ("Find By Type Value: a characteristic declaration ends with its descriptors", [("060100ffff0328" + "10120037" + "2a", "0711001300")]),
    ("Find By Type Value: a value", [("060100ffff002a47617465", "0703000300"), ("060100ffff002a4761746500", "010601000a")]),
    ("Find By Type Value: what may not be read is not found", [("060100ffff392a", "010601000a")]),
    ("Read By Group Type: primary services", [("100100ffff0028", "110601000300001810002500" + "0d18"), ("102600ffff0028", "011026000a")]),
    ("Read By Group Type: a secondary service of 128 bits", [("100100ffff0128", "111430003300" + wideUUID)]),
    ("Read By Group Type: other types", [("100100ffff0328", "0110010010"), ("100100ffff" + wideUUID, "0110010010")]),
    ("Read By Type: include declarations", [("080100ffff0228", "09083100" + "010003000018")]),
    ("Read By Type: three declarations fit", [("081000ffff0328", "090711001012" + "00372a" + "14000815" + "00392a" + "160024170002ff")]),
    ("Read By Type: a UUID of 128 bits", [("080100fffff1debc9a785634127856341278563412", "090433000707")]),
    ("Read By Type: the first may not be read", [("080100ffff372a", "0108120002")]),
    (
      "Read By Type: equal lengths only",
      [("080100ffff00" + "29", "09041c00" + "0100" + "1f000100"), ("080100ffff05ff", "09152500" + Hex.encode(0..<19))]
    ),
    ("Read By Type: encrypted", [("080100ffff04ff", "010821000f")]),
    (
      "Read: a client configuration is this client's own",
      [("0a1300", "0b0000"), ("1213000100", "13"), ("0a1300", "0b0100"), ("0c13000100", "0d00")]
    ),
    ("Read: security", [("0a2100", "010a21000f"), ("0a2300", "010a230005"), ("1221000a", "011221000f"), ("1223000a", "0112230005")]),
    (
      "Read Blob: parts, end, beyond",
      [
        ("0c25001600", "0d" + Hex.encode(22..<44)), ("0c25002c00", "0d" + Hex.encode(44..<60)), ("0c25003c00", "0d"),
        ("0c25003d00", "010c250007"),
      ]
    ),
    (
      "Read Multiple",
      [("0e03001b00", "0f47617465010203"), ("0e03001200", "010e120002"), ("0e0300", "010e000004"), ("0e03000400", "010e040001")]
    ),
    (
      "Read Multiple Variable",
      [("2003001b00", "210400476174650300010203"), ("20250003" + "00", "213c00" + Hex.encode(0..<20)), ("201b0004" + "00", "0120040001")]
    ),
    ("Write: replaces, and is checked against the maximum", [("12030041", "13"), ("0a0300", "0b41"), ("120300", "13"), ("0a0300", "0b")]),
    (
      "Write: not permitted",
      [("121700" + "01", "0112170003"), ("121200" + "01", "0112120003"), ("12190001", "0112190003"), ("12400001", "0112400001")]
    ),
    (
      "Write Command: silent, whatever happens",
      [("52170001", ""), ("52150001", ""), ("52400001", ""), ("52", ""), ("5217", ""), ("521700", "")]
    ),
    ("Signed Write Command: ignored", [("d2030041000000000000000000000000", ""), ("d203", ""), ("0a0300", "0b47617465")]),
    (
      "Client configuration: lengths and bits",
      [
        ("12130001", "011213000d"), ("121300010000", "011213000d"), ("1213000300", "0112130013"), ("1213000200", "0112130013"),
        ("1213000080", "0112130013"), ("0a1300", "0b0000"),
      ]
    ),
    ("Client configuration: a command does not reach it", [("5213000100", ""), ("0a1300", "0b0000")]),
    (
      "Prepare: long write starts anew",
      [
        ("162500000041", "172500000041"), ("162500010042", "172500010042"), ("0a2500", "0b" + Hex.encode(0..<22)), ("1801", "19"),
        ("0a2500", "0b4142"),
      ]
    ),
    (
      "Prepare: parts without a beginning change what is there",
      [("1603000200" + "5858", "17030002005858"), ("1801", "19"), ("0a0300", "0b47615858")]
    ),
    (
      "Prepare: a gap is found at execution, nothing is written",
      [
        ("16030000" + "0041", "170300000041"), ("1603000300" + "42", "170300030042"), ("1801", "0118030007"), ("0a0300", "0b47617465"),
        ("1801", "19"),
      ]
    ),
    (
      "Prepare: too long is found at execution",
      [
        ("16030000" + "00" + Hex.encode(0..<18), "17030000" + "00" + Hex.encode(0..<18)), ("1603001200" + "414243", "1703001200414243"),
        ("1801", "011803000d"), ("0a0300", "0b47617465"),
      ]
    ),
    ("Prepare: cancelled", [("160300000041", "170300000041"), ("1800", "19"), ("1801", "19"), ("0a0300", "0b47617465")]),
    ("Prepare: reserved flags", [("1802", "0118000004"), ("18ff", "0118000004")]),
    (
      "Prepare: not permitted",
      [("1617000000" + "41", "0116170003"), ("1612000000" + "41", "0116120003"), ("16400000" + "0041", "0116400001")]
    ),
    (
      "Reliable: two characteristics that allow it",
      [("161b000000aa", "171b000000aa"), ("161e000000bb", "171e000000bb"), ("1801", "19"), ("0a1b00", "0baa"), ("0a1e00", "0bbb")]
    ),
    (
      "Reliable: one that does not spoils all",
      [("161b000000aa", "171b000000aa"), ("160300000041", "170300000041"), ("1801", "0118030006"), ("0a1b00", "0b010203")]
    ),
    (
      "Prepared client configuration",
      [("161300000001", "171300000001"), ("161300010000", "171300010000"), ("1801", "19"), ("0a1300", "0b0100")]
    ),
    ("Unknown requests and commands", [("3f", "013f000006"), ("bf0102", "01bf000006"), ("7f00", ""), ("ff", "")]),
    (
      "Responses and notifications are not for a server",
      [("0b00", ""), ("0101000001", ""), ("1b030041", ""), ("230300010041", ""), ("1e", ""), ("1e00", ""), ("", "")]
    ),
    ("A peer that indicates is confirmed", [("1d030041", "1e"), ("1d", "1e")]),
  ]

  @Test(arguments: cases.indices)
  func procedure(_ index: Int) throws {
    let (title, steps) = Self.cases[index]
    var peer = ServerTestPeer(try Self.database())
    for (question, answer) in steps { #expect(peer.ask(question) == answer, "\(title): \(question)") }
  }

  @Test func eventsFollowTheAnswer() throws {
    var peer = ServerTestPeer(try Self.database())
    #expect(peer.ask(bytes("12030041")).events == [.wrote(3, value: [0x41], .request)])
    #expect(peer.ask(bytes("52170042")).events == [.wrote(0x17, value: [0x42], .command)])
    #expect(peer.ask(bytes("1213000100")).events == [.configured(valueHandle: 0x12, bits: 1)])
    #expect(peer.ask(bytes("026400")).events.isEmpty && peer.state.mtu == 100)
    _ = peer.ask(bytes("1603000000" + "5a"))
    #expect(peer.ask(bytes("1801")).events == [.wrote(3, value: [0x5A], .long)])
    #expect(peer.ask(bytes("12170042")).events.isEmpty)
  }

  /// An attribute's own errors replace the usual ones. Without a condition to fulfil, they refuse every access.
  @Test func ownErrors() throws {
    func attribute(_ handle: AttributeHandle, _ permissions: AttributeDatabase.Permissions) -> AttributeDatabase.Attribute {
      var attribute = AttributeDatabase.Attribute(handle: handle, type: UUID(0xFF00), permissions: permissions, value: [4])
      (attribute.readError, attribute.writeError) = (.insufficientAuthorization, .encryptionKeySizeTooShort)
      return attribute
    }
    var peer = ServerTestPeer(
      try AttributeDatabase(attributes: [
        attribute(1, []), attribute(2, [.read, .write]), attribute(3, [.read, .readEncrypted, .write, .writeEncrypted]),
        attribute(4, [.read, .readAuthenticated, .write, .writeAuthenticated]),
      ]))
    for security in [.none, .encrypted, .authenticated] as [ServerSession.Security] {
      peer.session.security = security
      for handle in 1...4 {
        let isOpen = handle == 3 && security >= .encrypted || handle == 4 && security >= .authenticated
        #expect(peer.ask("0a0\(handle)00") == (isOpen ? "0b04" : "010a0\(handle)0008"), "\(security) \(handle)")
        #expect(peer.ask("120\(handle)0004") == (isOpen ? "13" : "01120\(handle)000c"), "\(security) \(handle)")
      }
    }
  }

  @Test func securityOpensWhatAsksForIt() throws {
    var peer = ServerTestPeer(try Self.database())
    peer.session.security = .encrypted
    #expect(peer.ask("0a2100") == "0b04" && peer.ask("0a2300") == "010a230005")
    peer.session.security = .authenticated
    #expect(peer.ask("0a2300") == "0b04" && peer.ask("12230005") == "13")
  }
}
