import TestSupport

@testable import BluetoothLELinux

private let random = PeerAddress(Address(rawValue: 0xC1C2_C3C4_C5C6), .random)
private let known = PeerAddress(Address(rawValue: 0x0011_2233_4455), .public)
private let key: UInt128 = 0x0F0E_0D0C_0B0A_0908_0706_0504_0302_0100
private let keyBytes = "000102030405060708090a0b0c0d0e0f"
private let cutBytes = "00010203040506" + "000000000000000000"
private let authenticated = LinkSecurity(keySize: 16, isAuthenticated: true, isSecureConnections: true)
private let legacy = LinkSecurity(keySize: 7, isAuthenticated: false, isSecureConnections: false)

private func bytes(_ hex: String) -> [UInt8] {
  let digits = Array(hex)
  return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0..<$0 + 2]), radix: 16) }
}

/// The bytes of commands and events on the management channel, written by hand from the formats of the kernel.
@Suite(.timeLimit(.minutes(15))) struct ManagementCodecTests {
  private static let bonds = [
    Bond(
      identity: random, irk: key, keys: [LongTermKey(key: key, security: authenticated)], method: .passkeyEntry(displayedBy: .peripheral)),
    Bond(
      identity: known, irk: nil,
      keys: [
        LongTermKey(key: key, ediv: 0x1234, rand: 0x0807_0605_0403_0201, role: .central, security: legacy),
        LongTermKey(key: key, ediv: 0x5678, rand: 1, role: .peripheral, security: legacy),
      ], method: .justWorks),
  ]

  @Test(
    arguments: [
      (ManagementCommand.readInformation, 0x0004, ""), (.setBondable(true), 0x0009, "01"), (.setBondable(false), 0x0009, "00"),
      (.setSecureConnections(true), 0x002D, "01"), (.pair(random, .keyboardDisplay), 0x0019, "c6c5c4c3c2c10204"),
      (.pair(known, .noInputNoOutput), 0x0019, "5544332211000103"), (.cancelPairing(random), 0x001A, "c6c5c4c3c2c102"),
      (.unpair(known, disconnects: true), 0x001B, "5544332211000101"), (.unpair(random, disconnects: false), 0x001B, "c6c5c4c3c2c10200"),
      (.confirm(random, true), 0x001C, "c6c5c4c3c2c102"), (.confirm(random, false), 0x001D, "c6c5c4c3c2c102"),
      (.enter(random, SixDigits(246_810)), 0x001E, "c6c5c4c3c2c1021ac40300"), (.enter(random, nil), 0x001F, "c6c5c4c3c2c102"),
      (.loadIdentityKeys([]), 0x0030, "0000"), (.loadIdentityKeys(bonds), 0x0030, "0100" + "c6c5c4c3c2c102" + keyBytes),
      (
        .loadLongTermKeys(bonds), 0x0013,
        "0300" + "c6c5c4c3c2c102" + "03" + "00" + "10" + "0000" + "0000000000000000" + keyBytes
          + "554433221100" + "01" + "00" + "01" + "07" + "3412" + "0102030405060708" + cutBytes
          + "554433221100" + "01" + "00" + "00" + "07" + "7856" + "0100000000000000" + cutBytes
      ),
    ] as [(ManagementCommand, UInt16, String)])
  func commands(_ command: ManagementCommand, _ opcode: UInt16, _ parameters: String) {
    #expect(command.opcode == opcode)
    #expect(Bytes.hex(command.parameters) == parameters)
  }

  @Test(
    arguments: [
      ("0100", "190000c6c5c4c3c2c102", .answer(command: 0x19, .init(status: 0, parameters: bytes("c6c5c4c3c2c102")))),
      ("0200", "190014", .answer(command: 0x19, .init(status: 0x14, parameters: []))),
      (
        "0a00", "01c6c5c4c3c2c102" + "03" + "00" + "10" + "0000" + "0000000000000000" + keyBytes,
        .longTermKey(random, LongTermKey(key: key, security: authenticated), isLasting: true)
      ),
      (
        "0a00", "00554433221100" + "01" + "00" + "01" + "07" + "3412" + "0102030405060708" + keyBytes,
        .longTermKey(
          known, LongTermKey(key: key, ediv: 0x1234, rand: 0x0807_0605_0403_0201, role: .central, security: legacy), isLasting: false)
      ),
      (
        "0a00", "01c6c5c4c3c2c102" + "04" + "00" + "10" + "0000" + "0000000000000000" + keyBytes, .longTermKey(random, nil, isLasting: true)
      ),
      ("0c00", "c6c5c4c3c2c10204", .disconnected(random, reason: 4)),
      ("0f00", "c6c5c4c3c2c102001ac40300", .confirmation(random, SixDigits(246_810))),
      ("0f00", "c6c5c4c3c2c102011ac40300", .confirmation(random, nil)), ("1000", "c6c5c4c3c2c102", .passkeyRequest(random)),
      ("1100", "c6c5c4c3c2c10205", .authenticationFailed(random, status: 5)),
      ("1700", "c6c5c4c3c2c1021ac4030001", .passkeyDisplay(random, SixDigits(lastOf: 246_810))),
      ("1800", "01ffffffffff7fc6c5c4c3c2c102" + keyBytes, .identityKey(key, random, of: Address(rawValue: 0x7FFF_FFFF_FFFF))),
    ] as [(String, String, ManagementEvent)])
  func events(_ code: String, _ parameters: String, _ expected: ManagementEvent) throws {
    let packet = bytes(code + "0300" + "0000" + parameters)
    let found = try #require(try ManagementEvent.parse(packet))
    #expect(found.adapter == 3 && found.event == expected)
    // A short event is an error at every length, except that an answer needs no return parameters.
    for length in 0..<packet.count - 1 {
      if case .answer = expected, length >= 9 { continue }
      #expect(throws: MalformedPacket.self) { if try ManagementEvent.parse(Array(packet[..<length])) != nil { throw Complete() } }
    }
  }

  private struct Complete: Error {}

  @Test(arguments: [
    // A passkey of seven digits, keys of 6 and 17 bytes, and an unknown type of key.
    "17000000" + "0000" + "c6c5c4c3c2c10240420f0000", "0f000000" + "0000" + "c6c5c4c3c2c10200ffffffff",
    "0a000000" + "0000" + "01c6c5c4c3c2c102" + "0300060000" + "0000000000000000" + keyBytes,
    "0a000000" + "0000" + "01c6c5c4c3c2c102" + "0300110000" + "0000000000000000" + keyBytes,
    "0a000000" + "0000" + "01c6c5c4c3c2c102" + "0500100000" + "0000000000000000" + keyBytes,
  ])
  func invalidEvents(_ packet: String) {
    #expect(throws: MalformedPacket.self) { _ = try ManagementEvent.parse(bytes(packet)) }
  }

  /// BR/EDR devices, other events, and 20,000 packets of random bytes.
  @Test func otherEvents() throws {
    #expect(try ManagementEvent.parse(bytes("10000000" + "0000" + "c6c5c4c3c2c100")) == nil)
    #expect(try ManagementEvent.parse(bytes("06000000" + "0000" + "ffffffff")) == nil)
    var generator = SplitMix64(seed: 7)
    for _ in 0..<20_000 {
      var packet = (0..<Int.random(in: 0...60, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
      if packet.count > 1 { (packet[0], packet[1]) = (UInt8.random(in: 0...0x20, using: &generator), 0) }
      _ = try? ManagementEvent.parse(packet)
    }
  }
}
