import Bluetooth
import HCI
import TestSupport
import Testing
import Text

private let fast = ConnectionParameters(intervalMin: 12, intervalMax: 24, latency: 0, supervisionTimeout: 400)
private let phone = Address(rawValue: 0x11_22_33_44_55_66)

/// One of each, with the octets of the specification's tables (Vol 4 Part E §7).
let commandVectors: [(Command, String)] = [
  (.reset, "01030c00"),
  (.setEventMask(0x3DBF_F807_FFFB_FFFF), "01010c08fffffbff07f8bf3d"),
  (.disconnect(handle: 0x0040, reason: .remoteUserTerminated), "01060403400013"),
  (.readRemoteVersion(handle: 0x0040), "011d04024000"),
  (.readLocalVersion, "01011000"),
  (.readLocalSupportedCommands, "01021000"),
  (.readLocalSupportedFeatures, "01031000"),
  (.readBufferSize, "01051000"),
  (.readBDADDR, "01091000"),
  (.readRSSI(handle: 1), "010514020100"),
  (.leSetEventMask(0x1F), "010120081f00000000000000"),
  (.leReadBufferSize, "01022000"),
  (.leReadBufferSizeV2, "01602000"),
  (.leReadLocalSupportedFeatures, "01032000"),
  (.leSetRandomAddress(phone), "01052006665544332211"),
  (
    .leSetScanParameters(Command.ScanTiming(isActive: true, interval: 16, window: 16), ownAddressType: 1, filterPolicy: 0),
    "010b2007011000100001" + "00"
  ),
  (.leSetScanEnable(true, filterDuplicates: false), "010c20020100"),
  (
    .leCreateConnection(
      Command.LECreateConnection(scanInterval: 96, scanWindow: 48, peer: PeerAddress(phone, .random), ownAddressType: 0, parameters: fast)),
    "010d20196000300000016655443322110" + "00c0018000000900100000000"
  ),
  (.leCreateConnectionCancel, "010e2000"),
  (.leConnectionUpdate(handle: 0x40, fast), "0113200e40000c0018000000900100000000"),
  (.leReadRemoteFeatures(handle: 0x40), "011620024000"),
  (.leRemoteConnectionParameterRequestReply(handle: 0x40, fast), "0120200e40000c0018000000900100000000"),
  (.leRemoteConnectionParameterRequestNegativeReply(handle: 0x40, reason: .unacceptableParameters), "0121200340003b"),
  (.leSetDataLength(handle: 0x40, txOctets: 251, txTime: 2120), "012220064000fb004808"),
  (.leReadSuggestedDefaultDataLength, "01232000"),
  (.leWriteSuggestedDefaultDataLength(txOctets: 251, txTime: 2120), "01242004fb004808"),
  (.leReadMaximumDataLength, "012f2000"),
  (.leReadPHY(handle: 0x40), "013020024000"),
  (.leSetDefaultPHY(allPHYs: 0, tx: [.le1M, .le2M], rx: .le2M), "01312003000302"),
  (.leSetPHY(handle: 0x40, allPHYs: 0, tx: .le2M, rx: .le2M, options: 0), "013220074000000202" + "0000"),
  (
    .leSetExtendedScanParameters(
      ownAddressType: 0, filterPolicy: 0, phys: [.le1M, .coded],
      [Command.ScanTiming(isActive: true, interval: 96, window: 48), Command.ScanTiming(isActive: false, interval: 96, window: 48)]),
    "0141200d000005016000300000" + "60003000"
  ),
  (.leSetExtendedScanEnable(true, filterDuplicates: 0, duration: 0, period: 0), "01422006010000000000"),
  (
    .leExtendedCreateConnection(
      Command.LEExtendedCreateConnection(
        ownAddressType: 0, peer: PeerAddress(phone, .public), phys: .le1M,
        initiating: [Command.LEExtendedCreateConnection.Initiating(scanInterval: 96, scanWindow: 96, parameters: fast)])),
    "0143201a00000066554433221101" + "600060000c0018000000900100000000"
  ),
  (.other(Opcode(rawValue: 0xFC01), [1, 2]), "0101fc020102"),
]

@Suite struct CommandTests {
  @Test(arguments: commandVectors.indices) func vectorsBothWays(_ index: Int) throws {
    let (command, hex) = commandVectors[index]
    #expect(Hex.encode(command.encoded) == hex)
    let octets = try #require(Hex.decode(hex))
    #expect(try Packet(octets) == .command(command))
    #expect(command.opcode.rawValue == UInt16(octets[1]) | UInt16(octets[2]) << 8)
    for length in 0..<octets.count { #expect(throws: MalformedPacket.self) { try Packet(Array(octets.prefix(length))) } }
    #expect(throws: MalformedPacket.self) { try Packet(octets + [0]) }
    if case .other = command { return }
    // One parameter too many, with the length that says so.
    var long = octets + [0]
    long[3] += 1
    #expect(throws: MalformedPacket.self) { try Packet(long) }
  }

  @Test func hostileOctetsNeverTrap() {
    hostile(commandVectors.map { $0.0.encoded }, mutations: 100_000) { octets in
      guard let packet = try? Packet(octets), case .command(let command) = packet else { return }
      let again = try? Packet(command.encoded)
      if again != packet { Issue.record("\(Hex.encode(octets)) does not survive a round trip") }
    }
  }

  @Test func namesAndNumbers() {
    #expect(Opcode.leSetScanEnable.description == "LE Set Scan Enable (0x200c)")
    #expect(Opcode(rawValue: 0xFC01).description == "HCI command (0xfc01)")
    for (command, _) in commandVectors where command.opcode.rawValue < 0xFC00 {
      #expect(command.opcode.name != "HCI command", "\(command)")
    }
  }

  @Test func supportedCommandsHaveTheirBits() {
    // The bits that Linux tests for extended scanning and connecting: commands[37] & 0x20, 0x40, 0x80.
    var octets = [UInt8](repeating: 0, count: 64)
    octets[37] = 0xE0
    let commands = SupportedCommands(octets: octets)
    #expect(commands == SupportedCommands([.leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection]))
    #expect(commands.contains(.leExtendedCreateConnection))
    #expect(!commands.contains(.leSetScanEnable))
    #expect(!SupportedCommands(octets: [0xFF]).contains(.reset))
    #expect(!SupportedCommands(octets: [UInt8](repeating: 0xFF, count: 80)).contains(Opcode(rawValue: 0xFC01)))
  }

  @Test(arguments: [
    (12, 24, 0, 400, true), (6, 3200, 0, 3200, true), (5, 24, 0, 400, false), (12, 3201, 0, 3200, false), (24, 12, 0, 400, false),
    (12, 24, 500, 3200, false), (12, 24, 0, 9, false), (12, 24, 0, 3201, false),
    // Supervision timeout exactly (1 + latency) · interval · 2: too short. 80 ms · 2 = 160 ms.
    (64, 64, 0, 16, false), (64, 64, 0, 17, true), (3200, 3200, 499, 3200, false),
  ]) func connectionParametersAreChecked(_ row: (UInt16, UInt16, UInt16, UInt16, Bool)) {
    let parameters = ConnectionParameters(intervalMin: row.0, intervalMax: row.1, latency: row.2, supervisionTimeout: row.3)
    #expect(parameters.isValid == row.4)
  }
}
