import Bluetooth
import Testing
import Text

@testable import ATT

@Suite struct SignatureTests {
  /// FIPS 197, appendix C.1.
  @Test func aes() throws {
    let cipher = try #require(AES128(key: Hex.decode("000102030405060708090a0b0c0d0e0f") ?? []))
    #expect(Hex.encode(cipher.encrypt(Hex.decode("00112233445566778899aabbccddeeff") ?? [])) == "69c4e0d86a7b0430d8cdb78070b4c55a")
    #expect(AES128(key: [1, 2, 3]) == nil)
  }

  /// RFC 4493 §4.
  @Test(arguments: [
    ("", "bb1d6929e95937287fa37d129b756746"), ("6bc1bee22e409f96e93d7e117393172a", "070a16b46b4d4144f79bdd9dd04a287c"),
    ("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411", "dfa66747de9ae63030ca32611497c827"),
    (
      "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
      "51f0bebf7e3b9d92fc49741779363cfe"
    ),
  ]) func cmac(_ message: String, _ mac: String) throws {
    let key = try #require(SigningKey((Hex.decode("2b7e151628aed2a6abf7158809cf4f3c") ?? []).reversed()))
    #expect(Hex.encode(key.cmac(Hex.decode(message) ?? [])) == mac)
  }

  @Test func aSignatureHasTheCounterFirst() throws {
    let key = try #require(SigningKey([UInt8](repeating: 7, count: 16)))
    guard case .signedWrite(_, _, let signature) = Command.signedWrite(0x15, value: [1], key: key, counter: 0x0102_0304) else {
      Issue.record("not a Signed Write Command")
      return
    }
    #expect(signature.count == 12 && signature.starts(with: [4, 3, 2, 1]))
  }
}
