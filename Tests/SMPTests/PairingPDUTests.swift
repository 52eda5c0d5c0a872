import TestSupport

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct PairingPDUTests {
  private static let features = PairingFeatures(
    ioCapability: .keyboardDisplay, hasOOBData: true, authentication: AuthenticationRequirements(rawValue: 0xED), maximumKeySize: 7,
    initiatorKeys: KeyDistribution(rawValue: 0x0D), responderKeys: [.encryption, .identity])
  private static let counted: UInt128 = 0x0F0E_0D0C_0B0A_0908_0706_0504_0302_0100

  static let all: [(PairingPDU, String)] = [
    (.pairingRequest(features), "010401ed070d03"),
    (.pairingResponse(features), "020401ed070d03"),
    (.confirm(counted), "03000102030405060708090a0b0c0d0e0f"),
    (.random(counted), "04000102030405060708090a0b0c0d0e0f"),
    (.failed(.numericComparisonFailed), "050c"),
    (.failed(PairingFailedReason(rawValue: 0xEE)), "05ee"),
    (.encryptionInformation(counted), "06000102030405060708090a0b0c0d0e0f"),
    (.centralIdentification(ediv: 0x2010, rand: 0x8070_6050_4030_2010), "0710201020304050607080"),
    (.identityInformation(counted), "08000102030405060708090a0b0c0d0e0f"),
    (.identityAddress(PeerAddress(Address(rawValue: 0xC1_02_03_04_05_06), .random)), "09010605040302c1"),
    (.identityAddress(PeerAddress(Address(rawValue: 0x01_02_03_04_05_06), .public)), "0900060504030201"),
    (.signingInformation(counted), "0a000102030405060708090a0b0c0d0e0f"),
    (.securityRequest([.bonding, .mitm]), "0b05"),
    (.dhKeyCheck(counted), "0d000102030405060708090a0b0c0d0e0f"),
    (.keypress(4), "0e04"),
  ]

  @Test(arguments: all) func bytesOf(_ pdu: PairingPDU, _ hex: String) throws {
    #expect(Hex.encode(pdu.bytes) == hex)
    #expect(try PairingPDU(parsing: pdu.bytes) == pdu)
    #expect(pdu.bytes.first == pdu.code)
    // Every other length is refused.
    #expect(throws: MalformedPacket.self) { try PairingPDU(parsing: pdu.bytes + [0]) }
    for count in 0..<pdu.bytes.count { #expect(throws: MalformedPacket.self) { try PairingPDU(parsing: Array(pdu.bytes.prefix(count))) } }
  }

  @Test func publicKeysHaveTheReverseOrder() throws {
    let key = try #require(P256PublicKey(x: (0..<32).map { $0 }, y: (32..<64).map { $0 }))
    let bytes = PairingPDU.publicKey(key).bytes
    #expect(bytes == [0x0C] + (0..<32).reversed() + (32..<64).reversed())
    #expect(try PairingPDU(parsing: bytes) == .publicKey(key))
    for count in [1, 33, 64, 66] {
      #expect(throws: MalformedPacket.self) { try PairingPDU(parsing: [0x0C] + [UInt8](repeating: 1, count: count - 1)) }
    }
  }

  /// Values that the specification reserves: IO capability, OOB data flag, key size, types, and addresses that identify nobody.
  @Test(arguments: [
    "01050009100000", "01030209100000", "01030009110000", "01030009060000", "02ff0009100000", "0e05", "0902060504030201",
    "0901060504030241", "0901060504030201",
  ]) func invalidValues(_ hex: String) {
    #expect(throws: MalformedPacket.self) { try PairingPDU(parsing: Hex.decode(hex) ?? []) }
  }

  @Test func reservedCodes() throws {
    for code in [UInt8(0)] + (0x0F...0xFF) {
      #expect(try PairingPDU(parsing: [code]) == .reserved(code))
      #expect(try PairingPDU(parsing: [code, 1, 2, 3]) == .reserved(code))
    }
  }

  @Test func reasons() {
    #expect(PairingFailedReason.all.map(\.rawValue) == Array(0x01...0x10))
    #expect(PairingFailedReason.passkeyEntryFailed.snakeName == "passkey_entry_failed")
    #expect(PairingFailedReason.dhKeyCheckFailed.snakeName == "dhkey_check_failed")
    #expect(PairingFailedReason(rawValue: 0x0D).snakeName == "br_edr_pairing_in_progress")
    #expect(PairingFailedReason(rawValue: 0x42).name == "Reserved Reason")
    #expect(Set(PairingFailedReason.all.map(\.name)).count == 16)
  }

  @Test func randomBytes() {
    var random = SplitMix64(seed: 1)
    for _ in 0..<20_000 {
      let code = UInt8.random(in: 0...0x10, using: &random)
      let bytes = [code] + (0..<Int.random(in: 0...70, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      guard let pdu = try? PairingPDU(parsing: bytes), pdu != .reserved(code) else { continue }
      #expect(pdu.bytes == bytes)
    }
  }
}
