import TestSupport

private let fast = ConnectionParameters(intervalMin: 12, intervalMax: 24, latency: 0, supervisionTimeout: 400)
private let phone = Address(rawValue: 0x11_22_33_44_55_66)

/// One command of each type, with its bytes from the specification's tables (Vol 4 Part E §7).
let commandVectors: [(any Command, String)] = [
  (Reset(), "01030c00"),
  (SetEventMask(0x3DBF_F807_FFFB_FFFF), "01010c08fffffbff07f8bf3d"),
  (Disconnect(handle: 0x0040, reason: .remoteUserTerminated), "01060403400013"),
  (ReadRemoteVersion(handle: 0x0040), "011d04024000"),
  (ReadLocalVersion(), "01011000"),
  (ReadLocalSupportedCommands(), "01021000"),
  (ReadLocalSupportedFeatures(), "01031000"),
  (ReadBufferSize(), "01051000"),
  (ReadBDADDR(), "01091000"),
  (ReadRSSI(handle: 1), "010514020100"),
  (LESetEventMask(0x1F), "010120081f00000000000000"),
  (LEReadBufferSize(), "01022000"),
  (LEReadLocalSupportedFeatures(), "01032000"),
  (LESetRandomAddress(phone), "01052006665544332211"),
  (
    LESetAdvertisingParameters(
      intervalMin: 0x20, intervalMax: 0x4000, type: 4, ownAddressType: 1, peer: PeerAddress(phone, .random), channelMap: 1, filterPolicy: 3),
    "0106200f200000400401016655443322110103"
  ),
  (LEReadAdvertisingPhysicalChannelTXPower(), "01072000"),
  (LESetAdvertisingData([2, 1, 6]), "0108202003020106" + String(repeating: "00", count: 28)),
  (LESetScanResponseData([UInt8](repeating: 0xAB, count: 31)), "010920201f" + String(repeating: "ab", count: 31)),
  (LESetAdvertisingEnable(true), "010a200101"),
  (
    LESetScanParameters(ScanTiming(isActive: true, interval: 16, window: 16), ownAddressType: 1, filterPolicy: 0),
    "010b2007011000100001" + "00"
  ),
  (LESetScanEnable(true, filterDuplicates: false), "010c20020100"),
  (
    LECreateConnection(scanInterval: 96, scanWindow: 48, peer: PeerAddress(phone, .random), ownAddressType: 0, parameters: fast),
    "010d20196000300000016655443322110" + "00c0018000000900100000000"
  ),
  (LECreateConnectionCancel(), "010e2000"),
  (LEConnectionUpdate(handle: 0x40, fast), "0113200e40000c0018000000900100000000"),
  (LEReadRemoteFeatures(handle: 0x40), "011620024000"),
  (
    LEEnableEncryption(
      handle: 0x40, random: 0x1122_3344_5566_7788, ediv: 0x99AA, longTermKey: 0x0011_2233_4455_6677_8899_AABB_CCDD_EEFF),
    "0119201c400088776655443322" + "11aa99ffeeddccbbaa99887766554433221100"
  ),
  (
    LELongTermKeyRequestReply(handle: 0x40, 0x0011_2233_4455_6677_8899_AABB_CCDD_EEFF), "011a20124000ffeeddccbbaa9988" + "7766554433221100"
  ),
  (LELongTermKeyRequestNegativeReply(handle: 0x40), "011b20024000"),
  (LERemoteConnectionParameterRequestReply(handle: 0x40, fast), "0120200e40000c0018000000900100000000"),
  (LERemoteConnectionParameterRequestNegativeReply(handle: 0x40, reason: .unacceptableParameters), "0121200340003b"),
  (LESetDataLength(handle: 0x40, txOctets: 251, txTime: 2120), "012220064000fb004808"),
  (LEReadSuggestedDefaultDataLength(), "01232000"),
  (LEWriteSuggestedDefaultDataLength(txOctets: 251, txTime: 2120), "01242004fb004808"),
  (LEReadMaximumDataLength(), "012f2000"),
  (LEReadPHY(handle: 0x40), "013020024000"),
  (LESetDefaultPHY(allPHYs: 0, tx: [.le1M, .le2M], rx: .le2M), "01312003000302"),
  (LESetPHY(handle: 0x40, allPHYs: 0, tx: .le2M, rx: .le2M, options: 0), "013220074000000202" + "0000"),
  (LESetAdvertisingSetRandomAddress(advertisingHandle: 2, phone), "0135200702665544332211"),
  (
    LESetExtendedAdvertisingParameters(
      advertisingHandle: 2, properties: 0x0040, intervalMin: 0x20, intervalMax: 0xFFFFFF, channelMap: 1, ownAddressType: 1,
      peer: PeerAddress(phone, .random), filterPolicy: 3, txPower: -4, primaryPHY: 3, secondaryMaxSkip: 5, secondaryPHY: 2, sid: 15,
      reportsScanRequests: true),
    "013620190240" + "00200000ffffff0101016655443322" + "1103fc0305020f01"
  ),
  (LESetExtendedAdvertisingData(advertisingHandle: 2, [2, 1, 6]), "01372007020301" + "03020106"),
  (LESetExtendedScanResponseData(advertisingHandle: 2, operation: 1, fragmentPreference: 0, []), "013820040201" + "0000"),
  (
    LESetExtendedAdvertisingEnable(
      true, sets: [.init(advertisingHandle: 2, duration: 100, maxEvents: 7), .init(advertisingHandle: 0xEF)]),
    "0139200a01020264" + "0007ef000000"
  ),
  (LESetExtendedAdvertisingEnable(false, sets: []), "013920020000"),
  (LEReadMaximumAdvertisingDataLength(), "013a2000"),
  (LEReadNumberOfSupportedAdvertisingSets(), "013b2000"),
  (LERemoveAdvertisingSet(advertisingHandle: 2), "013c200102"),
  (LEClearAdvertisingSets(), "013d2000"),
  (
    LESetExtendedScanParameters(
      ownAddressType: 0, filterPolicy: 0, phys: [.le1M, .coded],
      [ScanTiming(isActive: true, interval: 96, window: 48), ScanTiming(isActive: false, interval: 96, window: 48)]),
    "0141200d000005016000300000" + "60003000"
  ),
  (LESetExtendedScanEnable(true, filterDuplicates: 0, duration: 0, period: 0), "01422006010000000000"),
  (
    LEExtendedCreateConnection(
      ownAddressType: 0, peer: PeerAddress(phone, .public), phys: .le1M,
      initiating: [LEExtendedCreateConnection.Initiating(scanInterval: 96, scanWindow: 96, parameters: fast)]),
    "0143201a00000066554433221101" + "600060000c0018000000900100000000"
  ),
]

/// The opcode, name and Supported Commands bit of each command (Vol 4 Part E §7 and §6.27).
private let declarations: [(UInt16, String, (byte: Int, bit: Int)?)] = [
  (0x0406, "Disconnect", (0, 5)), (0x041D, "Read Remote Version Information", (2, 7)), (0x0C01, "Set Event Mask", (5, 6)),
  (0x0C03, "Reset", (5, 7)), (0x1001, "Read Local Version Information", (14, 3)), (0x1002, "Read Local Supported Commands", nil),
  (0x1003, "Read Local Supported Features", (14, 5)), (0x1005, "Read Buffer Size", (14, 7)), (0x1009, "Read BD_ADDR", (15, 1)),
  (0x1405, "Read RSSI", (15, 5)), (0x2001, "LE Set Event Mask", (25, 0)), (0x2002, "LE Read Buffer Size", (25, 1)),
  (0x2003, "LE Read Local Supported Features", (25, 2)), (0x2005, "LE Set Random Address", (25, 4)),
  (0x2006, "LE Set Advertising Parameters", (25, 5)), (0x2007, "LE Read Advertising Physical Channel TX Power", (25, 6)),
  (0x2008, "LE Set Advertising Data", (25, 7)), (0x2009, "LE Set Scan Response Data", (26, 0)),
  (0x200A, "LE Set Advertising Enable", (26, 1)),
  (0x200B, "LE Set Scan Parameters", (26, 2)), (0x200C, "LE Set Scan Enable", (26, 3)), (0x200D, "LE Create Connection", (26, 4)),
  (0x200E, "LE Create Connection Cancel", (26, 5)), (0x2013, "LE Connection Update", (27, 2)),
  (0x2016, "LE Read Remote Features", (27, 5)), (0x2019, "LE Enable Encryption", (28, 0)),
  (0x201A, "LE Long Term Key Request Reply", (28, 1)), (0x201B, "LE Long Term Key Request Negative Reply", (28, 2)),
  (0x2020, "LE Remote Connection Parameter Request Reply", (33, 4)),
  (0x2021, "LE Remote Connection Parameter Request Negative Reply", (33, 5)), (0x2022, "LE Set Data Length", (33, 6)),
  (0x2023, "LE Read Suggested Default Data Length", (33, 7)), (0x2024, "LE Write Suggested Default Data Length", (34, 0)),
  (0x202F, "LE Read Maximum Data Length", (35, 3)), (0x2030, "LE Read PHY", (35, 4)), (0x2031, "LE Set Default PHY", (35, 5)),
  (0x2032, "LE Set PHY", (35, 6)), (0x2041, "LE Set Extended Scan Parameters", (37, 5)),
  (0x2035, "LE Set Advertising Set Random Address", (36, 1)), (0x2036, "LE Set Extended Advertising Parameters", (36, 2)),
  (0x2037, "LE Set Extended Advertising Data", (36, 3)), (0x2038, "LE Set Extended Scan Response Data", (36, 4)),
  (0x2039, "LE Set Extended Advertising Enable", (36, 5)), (0x203A, "LE Read Maximum Advertising Data Length", (36, 6)),
  (0x203B, "LE Read Number of Supported Advertising Sets", (36, 7)), (0x203C, "LE Remove Advertising Set", (37, 0)),
  (0x203D, "LE Clear Advertising Sets", (37, 1)),
  (0x2042, "LE Set Extended Scan Enable", (37, 6)), (0x2043, "LE Extended Create Connection", (37, 7)),
]

@Suite(.timeLimit(.minutes(15))) struct CommandTests {
  @Test(arguments: commandVectors.indices) func vectorsBothWays(_ index: Int) throws {
    let (command, hex) = commandVectors[index]
    try bothWays(command, hex)
  }

  private func bothWays<C: Command>(_ command: C, _ hex: String) throws {
    #expect(Hex.encode(command.encoded) == hex)
    let bytes = try #require(Hex.decode(hex))
    #expect(try Packet(bytes) == .command(command.packet))
    #expect(try command.packet.decoded() == command)
    #expect(C(command.packet) == command)
    #expect(command.opcode.rawValue == UInt16(bytes[1]) | UInt16(bytes[2]) << 8)
    for length in 0..<bytes.count { #expect(throws: MalformedPacket.self) { try Packet(Array(bytes.prefix(length))) } }
    #expect(throws: MalformedPacket.self) { try Packet(bytes + [0]) }
    // Missing or extra parameters, with a matching length.
    let parameters = Array(bytes[4...])
    for changed in (0..<parameters.count).map({ Array(parameters.prefix($0)) }) + [parameters + [0]] {
      let packet = CommandPacket(opcode: C.opcode, parameters: changed)
      #expect(try Packet(packet.encoded) == .command(packet))
      #expect(throws: MalformedPacket.self) { try packet.decoded(as: C.self) }
      #expect(C(packet) == nil)
    }
  }

  @Test func othersAreKeptAsTheyAre() throws {
    let packet = CommandPacket(opcode: Opcode(rawValue: 0xFC01), parameters: [1, 2])
    #expect(Hex.encode(packet.encoded) == "0101fc020102")
    #expect(try Packet(packet.encoded) == .command(packet))
    #expect(try packet.decoded(as: Reset.self) == nil)
    #expect(LESetScanEnable(true, filterDuplicates: false).packet.description == "LE Set Scan Enable (0x200c) 0100")
  }

  @Test func hostileBytesNeverTrap() {
    func survives<C: Command>(_: C, _ packet: CommandPacket) -> Bool {
      guard let command = C(packet) else { return true }
      return C(command.packet) == command
    }
    hostile(commandVectors.map { $0.0.encoded }, mutations: 100_000) { bytes in
      guard let packet = try? Packet(bytes), case .command(let command) = packet else { return }
      if (try? Packet(command.encoded)) != packet { Issue.record("\(Hex.encode(bytes)) does not survive a round trip") }
      for (declared, _) in commandVectors where declared.opcode == command.opcode && !survives(declared, command) {
        Issue.record("\(Hex.encode(bytes)) does not survive a round trip")
      }
    }
  }

  @Test func namesAndNumbers() {
    #expect(LESetScanEnable.opcode.description == "LE Set Scan Enable (0x200c)")
    #expect(Opcode(rawValue: 0xFC01).description == "HCI command (0xfc01)")
    #expect(Opcode(rawValue: 0x200C) == LESetScanEnable.opcode)
    #expect(Set(commandVectors.map(\.0.opcode.rawValue)) == Set(declarations.map(\.0)))
    for (opcode, name, bit) in declarations {
      let declared = commandVectors.first { $0.0.opcode.rawValue == opcode }?.0.opcode
      #expect(declared?.name == name)
      var bytes = [UInt8](repeating: 0, count: 64)
      if let (byte, bit) = bit { bytes[byte] = 1 << UInt8(bit) }
      #expect(SupportedCommands([declared ?? .none]) == SupportedCommands(bytes: bytes), "\(name)")
    }
  }

  @Test func supportedCommandsHaveTheirBits() {
    // The bits that Linux tests for extended scanning and connecting: commands[37] & 0x20, 0x40, 0x80.
    var bytes = [UInt8](repeating: 0, count: 64)
    bytes[37] = 0xE0
    let commands = SupportedCommands(bytes: bytes)
    #expect(
      commands
        == SupportedCommands([LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode, LEExtendedCreateConnection.opcode]))
    #expect(commands.contains(LEExtendedCreateConnection.self))
    #expect(!commands.contains(LESetScanEnable.self))
    #expect(!SupportedCommands(bytes: [0xFF]).contains(Reset.self))
    // The command has no bit.
    #expect(!SupportedCommands(bytes: [UInt8](repeating: 0xFF, count: 80)).contains(ReadLocalSupportedCommands.self))
  }

  @Test(arguments: [
    (12, 24, 0, 400, true), (6, 3200, 0, 3200, true), (5, 24, 0, 400, false), (12, 3201, 0, 3200, false), (24, 12, 0, 400, false),
    (12, 24, 500, 3200, false), (12, 24, 0, 9, false), (12, 24, 0, 3201, false),
    // The supervision timeout equals (1 + latency) · interval · 2, which is too short. 80 ms · 2 = 160 ms.
    (64, 64, 0, 16, false), (64, 64, 0, 17, true), (3200, 3200, 499, 3200, false),
  ]) func connectionParametersAreChecked(_ row: (ConnectionInterval, ConnectionInterval, UInt16, Centiseconds, Bool)) {
    let parameters = ConnectionParameters(intervalMin: row.0, intervalMax: row.1, latency: row.2, supervisionTimeout: row.3)
    #expect(parameters.isValid == row.4)
  }
}
