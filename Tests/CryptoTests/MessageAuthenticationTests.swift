import TestSupport

@Suite(.timeLimit(.minutes(15))) struct MessageAuthenticationTests {
  private func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex) ?? [] }

  /// Vectors: RFC 4493 §4. The last message needs more than one read of a whole block.
  @Test(arguments: [
    ("", "bb1d6929e95937287fa37d129b756746"), ("6bc1bee22e409f96e93d7e117393172a", "070a16b46b4d4144f79bdd9dd04a287c"),
    (
      "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411", "dfa66747de9ae63030ca32611497c827"
    ),
    (
      "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
      "51f0bebf7e3b9d92fc49741779363cfe"
    ),
  ]) func cmac(_ message: String, _ code: String) {
    let found = MessageAuthentication.aesCMAC.code(of: bytes(message), key: bytes("2b7e151628aed2a6abf7158809cf4f3c"))
    #expect(found == bytes(code))
  }

  /// Vectors: RFC 4231 §4.2, §4.3, §4.4.
  @Test(arguments: [
    (
      "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "4869205468657265",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", String(repeating: "dd", count: 50),
      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
    ),
  ]) func hmac(_ key: String, _ message: String, _ code: String) {
    #expect(MessageAuthentication.hmacSHA256.code(of: bytes(message), key: bytes(key)) == bytes(code))
  }

  @Test func keysThatAreNone() {
    #expect(MessageAuthentication.hmacSHA256.isAvailable)
    for count in [0, 15, 17, 64] {
      #expect(MessageAuthentication.aesCMAC.code(of: [1], key: [UInt8](repeating: 0, count: count)) == nil)
    }
    for count in [0, 65] { #expect(MessageAuthentication.hmacSHA256.code(of: [1], key: [UInt8](repeating: 0, count: count)) == nil) }
  }
}
