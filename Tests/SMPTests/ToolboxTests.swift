import TestSupport

/// Vectors: Vol 3 Part H Appendix D, and the examples in the sections of the functions.
@Suite(.timeLimit(.minutes(15))) struct ToolboxTests {
  private func number(_ hex: String) -> UInt128 { bytes(hex).reduce(0) { $0 << 8 | UInt128($1) } }
  private func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex) ?? [] }
  private func address(_ raw: UInt64, _ type: AddressType = .public) -> PeerAddress { PeerAddress(Address(rawValue: raw), type) }

  private let u = "20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6"
  private let v = "55188b3d32f6bb9a900afcfbeed4e72a59cb9ac2f19d7cfb6b4fdd49f47fc5fd"
  private let secret = "ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698"
  private let n1 = "d5cb8454d177733effffb2ec712baeab", n2 = "a6e8e7cc25a75f6e216583f7ff3dc4cf"
  private let a1: UInt64 = 0x5612_3737_BFCE, a2: UInt64 = 0xA713_702D_CFC1

  @Test func ah() {
    #expect(Toolbox.ah(irk: number("ec0234a357c8ad05341010a60a397d9b"), prand: 0x708194) == 0x0DFBAA)
    // Only 24 bits of the random part count.
    #expect(Toolbox.ah(irk: number("ec0234a357c8ad05341010a60a397d9b"), prand: 0xFF70_8194) == 0x0DFBAA)
  }

  @Test func c1() {
    let confirm = Toolbox.c1(
      k: 0, r: number("5783d52156ad6f0e6388274ec6702ee0"), request: 0x0707_1000_0001_01, response: 0x0500_0800_0003_02,
      initiator: address(0xA1A2_A3A4_A5A6, .random), responder: address(0xB1B2_B3B4_B5B6))
    #expect(confirm == number("1e1e3fef878988ead2a74dc5bef13b86"))
  }

  @Test func s1() {
    let key = Toolbox.s1(k: 0, r1: number("000f0e0d0c0b0a091122334455667788"), r2: number("010203040506070899aabbccddeeff00"))
    #expect(key == number("9a1fe1f0e8b0f49b5b4216ae796da062"))
  }

  @Test func f4() {
    #expect(Toolbox.f4(u: bytes(u), v: bytes(v), x: number(n1), z: 0) == number("f2c916f107a9bd1cf1eda1bea974872d"))
  }

  @Test func f5() {
    let keys = Toolbox.f5(w: bytes(secret), n1: number(n1), n2: number(n2), a1: address(a1), a2: address(a2))
    #expect(keys.longTermKey == number("6986791169d7cd23980522b594750a38"))
    #expect(keys.macKey == number("2965f176a1084a02fd3f6a20ce636e20"))
  }

  @Test func f6() {
    let check = Toolbox.f6(
      w: number("2965f176a1084a02fd3f6a20ce636e20"), n1: number(n1), n2: number(n2), r: number("12a3343bb453bb5408da42d20c2d0fc8"),
      ioCapabilities: 0x010102, a1: address(a1), a2: address(a2))
    #expect(check == number("e3c473989cd0e8c5d26c0b09da958f61"))
  }

  @Test func g2() {
    let value = Toolbox.g2(u: bytes(u), v: bytes(v), x: number(n1), y: number(n2))
    #expect(value == 0x2F9E_D5BA)
    #expect(SixDigits(lastOf: value).description == "938554")
  }

  @Test func sixDigits() {
    #expect(SixDigits(12345)?.description == "012345")
    #expect(SixDigits("012345")?.number == 12345)
    #expect(SixDigits(0)?.description == "000000")
    #expect(SixDigits(1_000_000) == nil)
    for text in ["", "12345", "1234567", "-12345", "+12345", "12 345", "１２３４５６", "abcdef"] { #expect(SixDigits(text) == nil) }
  }
}
