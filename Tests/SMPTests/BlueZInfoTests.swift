import Testing

@testable import BluetoothLE

/// Files of bluetoothd with the keys of a device.
@Suite(.timeLimit(.minutes(15))) struct BlueZInfoTests {
  private static let identity = Address(rawValue: 0xD100_0000_0050)
  private static let adapter = Address(rawValue: 0x5E00_5301)

  private static func fields(_ type: String, size: String = "16", ediv: String = "0", rand: String = "0") -> String {
    "Key=00112233445566778899AABBCCDDEEFF\nAuthenticated=\(type)\nEncSize=\(size)\nEDiv=\(ediv)\nRand=\(rand)\n"
  }

  private static let key: UInt128 = 0xFFEE_DDCC_BBAA_9988_7766_5544_3322_1100

  @Test func aBondOfSecureConnections() throws {
    let text = """
      # comment
      [General]
      Name=SafeLock
      AddressType=static
      SupportedTechnologies=LE;

      [IdentityResolvingKey]
      Key=01000000000000000000000000000080

      [PeripheralLongTermKey]
      \(Self.fields("3"))
      [SlaveLongTermKey]
      \(Self.fields("3"))
      """
    let stored = try BlueZInfo.bond(in: text, of: Self.identity, Self.adapter, created: 7)
    #expect(stored.bond.identity == PeerAddress(Self.identity, .random) && stored.name == "SafeLock" && stored.created == 7)
    #expect(stored.bond.irk == UInt128(0x80) << 120 | 1)
    #expect(
      stored.bond.keys == [
        LongTermKey(key: Self.key, security: LinkSecurity(keySize: 16, isAuthenticated: true, isSecureConnections: true))
      ])
    #expect(stored.bond.method == .passkeyEntry(displayedBy: nil))
  }

  /// Legacy pairing leaves a key for each role. The key of LongTermKey is the one that the peripheral gave us.
  @Test func aLegacyBond() throws {
    let text =
      "[LongTermKey]\n\(Self.fields("0", ediv: "65535", rand: "18446744073709551615"))[SlaveLongTermKey]\n\(Self.fields("0", size: "7"))"
    let bond = try BlueZInfo.bond(in: text, of: Self.identity, Self.adapter, created: 0).bond
    #expect(bond.identity.type == .public && bond.method == .justWorks && bond.irk == nil)
    #expect(bond.keys.map(\.role) == [.central, .peripheral] && bond.keys.map(\.security.keySize) == [16, 7])
    // bluetoothd stores a short key whole.
    #expect(bond.keys.map(\.key) == [Self.key, Self.key & 0xFF_FFFF_FFFF_FFFF])
    #expect(bond.centralKey?.ediv == 65535 && bond.centralKey?.rand == .max)
  }

  @Test(
    arguments: [
      ("", nil, "no LE key"), ("[LinkKey]\nKey=00\n", nil, "no LE key"), ("[LongTermKey]\n\(fields("4"))", nil, "no LE key"),
      ("[LongTermKey]\n\(fields("5"))", 3, "Authenticated: Expected 0 to 4"),
      ("[LongTermKey]\n\(fields("1", size: "17"))", 4, "EncSize: Expected 7 to 16"),
      ("[LongTermKey]\n\(fields("1", ediv: "65536"))", 5, "EDiv: Expected 0 to 65535"),
      ("[LongTermKey]\n\(fields("1", rand: "-1"))", 6, "Rand: Expected 0 to 18446744073709551615"),
      ("[LongTermKey]\nKey=00\nEncSize=16\n", 2, "Key: Expected 32 hex digits"), ("[LongTermKey]\nKey=00\n", nil, "EncSize: missing"),
      ("[LongTermKey]\nEncSize=16\n", nil, "Key: missing"),
      ("[LongTermKey]\n\(fields("1"))[IdentityResolvingKey]\nKey=x\n", 8, "Key: Expected 32 hex digits"),
    ] as [(String, Int?, String)])
  func faults(_ text: String, _ line: Int?, _ reason: String) {
    #expect(throws: BlueZInfo.Fault(line: line, reason: reason)) {
      try BlueZInfo.bond(in: text, of: Self.identity, Self.adapter, created: 0)
    }
  }
}
