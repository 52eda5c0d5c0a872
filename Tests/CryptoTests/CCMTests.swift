import TestSupport

@Suite(.timeLimit(.minutes(15))) struct CCMTests {
  private func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex) ?? [] }

  /// Vectors: FIPS 197 appendices B and C.1; NIST SP 800-38A F.1.1; Vol 6 Part C §1 (the session key of the encryption sample data).
  @Test(arguments: [
    ("2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"),
    ("000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"),
    ("2b7e151628aed2a6abf7158809cf4f3c", "6bc1bee22e409f96e93d7e117393172a", "3ad77bb40d7a3660a89ecaf32466ef97"),
    ("2b7e151628aed2a6abf7158809cf4f3c", "f69f2445df4f9b17ad2b417be66c3710", "7b0c785e27e8ad3f8223207104725dd4"),
    ("4c68384139f574d836bcf34e9dfb01bf", "0213243546576879acbdcedfe0f10213", "99ad1b5226a37e3e058e3b8e27c2c666"),
  ]) func aes(_ key: String, _ plaintext: String, _ ciphertext: String) throws {
    let block = try #require(AES128(key: bytes(key))).encrypt(AES128.Block(padding: bytes(plaintext)))
    #expect((0..<16).map { block[$0] } == bytes(ciphertext))
  }

  @Test(arguments: [0, 15, 17]) func keysHaveSixteenBytes(_ count: Int) {
    #expect(AES128(key: [UInt8](repeating: 0, count: count)) == nil)
  }

  /// Vectors: RFC 3610 §8 (1, 2 and 7); Vol 6 Part C §1 (the Central's LL_START_ENC_RSP); bthome.io/encryption.
  @Test(arguments: [
    (
      "c0c1c2c3c4c5c6c7c8c9cacbcccdcecf", "00000003020100a0a1a2a3a4a5", "0001020304050607",
      "588c979a61c663d2f066d0c2c0f989806d5f6b61dac384", "17e8d12cfdf926e0", "08090a0b0c0d0e0f101112131415161718191a1b1c1d1e"
    ),
    (
      "c0c1c2c3c4c5c6c7c8c9cacbcccdcecf", "00000004030201a0a1a2a3a4a5", "0001020304050607",
      "72c91a36e135f8cf291ca894085c87e3cc15c439c9e43a3b", "a091d56e10400916", "08090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    ),
    (
      "c0c1c2c3c4c5c6c7c8c9cacbcccdcecf", "0000000a090807a0a1a2a3a4a5", "0001020304050607",
      "7b75399ac0831dd2f0bbd75879a2fd8f6cae6b6cd9b7db", "09dc2b08f5ea67d7c144", "08090a0b0c0d0e0f101112131415161718191a1b1c1d1e"
    ),
    ("99ad1b5226a37e3e058e3b8e27c2c666", "000000008024abdcbabebaafde", "03", "9f", "cda7f448", "06"),
    ("231d39c1d7cc1ab1aee224cd096db932", "5448e68f80a5d2fc4133221100", "", "e445f3c9962b", "6c7c4519", "02ca0903bf13"),
  ]) func vectors(_ key: String, _ nonce: String, _ additional: String, _ ciphertext: String, _ mic: String, _ plaintext: String) throws {
    let key = try #require(AES128(key: bytes(key)))
    let (nonce, additional, ciphertext, mic) = (bytes(nonce), bytes(additional), bytes(ciphertext), bytes(mic))
    #expect(CCM.open(ciphertext, mic: mic, nonce: nonce, additional: additional, key: key) == bytes(plaintext))
    // A changed bit in any of them makes decryption fail.
    func flipped(_ bytes: [UInt8], _ index: Int) -> [UInt8] {
      bytes.enumerated().map { $0.offset == index ? $0.element ^ 1 : $0.element }
    }
    for index in ciphertext.indices {
      #expect(CCM.open(flipped(ciphertext, index), mic: mic, nonce: nonce, additional: additional, key: key) == nil)
    }
    for index in mic.indices {
      #expect(CCM.open(ciphertext, mic: flipped(mic, index), nonce: nonce, additional: additional, key: key) == nil)
    }
    for index in nonce.indices {
      #expect(CCM.open(ciphertext, mic: mic, nonce: flipped(nonce, index), additional: additional, key: key) == nil)
    }
    for index in additional.indices {
      #expect(CCM.open(ciphertext, mic: mic, nonce: nonce, additional: flipped(additional, index), key: key) == nil)
    }
  }

  /// Lengths that CCM does not allow are refused without a trap.
  @Test func everyLength() throws {
    let key = try #require(AES128(key: 0..<16))
    for nonce in 0...16 {
      for mic in 0...18 {
        for count in [0, 1, 15, 16, 17, 40] {
          let opened = CCM.open(
            [UInt8](repeating: 1, count: count), mic: [UInt8](repeating: 2, count: mic), nonce: [UInt8](repeating: 3, count: nonce),
            key: key)
          #expect(opened == nil)
        }
      }
    }
    #expect(CCM.open([], mic: [0, 0, 0, 0], nonce: 0..<13, additional: [UInt8](repeating: 0, count: 0xFF00), key: key) == nil)
  }
}
