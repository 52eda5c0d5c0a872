import TestSupport

@Suite(.timeLimit(.minutes(15))) struct P256Tests {
  private static func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex) ?? [] }
  private static func key(_ x: String, _ y: String) throws -> P256PublicKey { try #require(P256PublicKey(x: bytes(x), y: bytes(y))) }

  private static let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
  private static let privateA = "3f49f6d4a3c55f3874c9b3e3d2103f504aff607beb40b7995899b8a6cd3c1abd"
  private static let privateB = "55188b3d32f6bb9a900afcfbeed4e72a59cb9ac2f19d7cfb6b4fdd49f47fc5fd"
  private static let xA = "20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6"
  private static let yA = "dc809c49652aeb6d63329abf5a52155c766345c28fed3024741c8ed01589d28b"
  private static let xB = "1ea1f0f01faf1d9609592284f19e4c0047b58afd8615a69f559077b22faaa190"
  private static let yB = "4c55f33e429dad377356703a9ab85160472d1130e28e36765f89aff915b1214a"

  /// Vectors: Vol 2 Part G §7.1.2.1 (P-256 sample data 1), which is also Vol 3 Part H §2.3.5.6.1 (debug keys).
  @Test func sampleData() throws {
    let secret = Self.bytes("ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698")
    let a = try P256KeyPair(privateKey: Self.bytes(Self.privateA)), b = try P256KeyPair(privateKey: Self.bytes(Self.privateB))
    #expect(a.publicKey == (try Self.key(Self.xA, Self.yA)))
    #expect(b.publicKey == (try Self.key(Self.xB, Self.yB)))
    #expect(try a.sharedSecret(with: b.publicKey) == secret)
    #expect(try b.sharedSecret(with: a.publicKey) == secret)
  }

  /// Vectors: FIPS 186-4 D.1.2.3 (the generator); RFC 5903 §8.1.
  @Test func otherVectors() throws {
    let one = try P256KeyPair(privateKey: [UInt8](repeating: 0, count: 31) + [1])
    #expect(Hex.encode(one.publicKey.x) == "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
    #expect(Hex.encode(one.publicKey.y) == "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
    let i = try P256KeyPair(privateKey: Self.bytes("c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433"))
    let r = try P256KeyPair(privateKey: Self.bytes("c6ef9c5d78ae012a011164acb397ce2088685d8f06bf9be0b283ab46476bee53"))
    #expect(Hex.encode(i.publicKey.x) == "dad0b65394221cf9b051e1feca5787d098dfe637fc90b9ef945d0c3772581180")
    #expect(Hex.encode(r.publicKey.y) == "56fbf3ca366cc23e8157854c13c58d6aac23f046ada30f8353e74f33039872ab")
    #expect(Hex.encode(try i.sharedSecret(with: r.publicKey)) == "d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de")
  }

  @Test func pointsOffTheCurve() throws {
    let pair = try P256KeyPair(privateKey: Self.bytes(Self.privateA))
    let zero = String(repeating: "0", count: 64), most = String(repeating: "f", count: 64)
    // A y coordinate of another point, of no point (CVE-2018-5383), the origin, and coordinates above the field's prime.
    for (x, y) in [(Self.xB, Self.yA), (Self.xB, zero), (zero, zero), (Self.xB, most), (most, Self.yB), (most, most)] {
      #expect(throws: P256Error.notOnCurve) { try pair.sharedSecret(with: Self.key(x, y)) }
    }
    for count in [0, 31, 33] {
      #expect(P256PublicKey(x: [UInt8](repeating: 1, count: count), y: Self.bytes(Self.yA)) == nil)
      #expect(P256PublicKey(x: Self.bytes(Self.xA), y: [UInt8](repeating: 1, count: count)) == nil)
    }
  }

  @Test func privateKeysOutOfRange() throws {
    for key in [[], [UInt8](repeating: 0, count: 32), Self.bytes(Self.order), [UInt8](repeating: 0xFF, count: 32), [1]] {
      #expect(throws: P256Error.invalidPrivateKey) { try P256KeyPair(privateKey: key) }
    }
    var last = Self.bytes(Self.order)
    last[31] -= 1
    #expect(throws: Never.self) { try P256KeyPair(privateKey: last) }
  }

  /// A broken generator of zeros ends with an error instead of a loop.
  @Test func brokenGenerator() {
    struct Zeros: RandomNumberGenerator { func next() -> UInt64 { 0 } }
    var random = RandomSource(Zeros())
    #expect(throws: P256Error.invalidPrivateKey) { try P256KeyPair(using: &random) }
  }

  @Test func randomSource() throws {
    struct Counter: RandomNumberGenerator {
      var count: UInt64 = 0x0807_0605_0403_0200
      mutating func next() -> UInt64 {
        count += 1
        return count
      }
    }
    var random = RandomSource(Counter())
    #expect(random.bytes(9) == [1, 2, 3, 4, 5, 6, 7, 8, 2])
    #expect(random.number() == UInt16(0x0203))
    #expect(random.number(UInt128.self) >> 64 == 0x0807_0605_0403_0205)
    #expect((0..<1000).allSatisfy { _ in random.number(below: 7) < 7 })
    #expect(random.number(below: 0) == 0)
    var system = RandomSource()
    let keys = try (0..<4).map { _ in try P256KeyPair(using: &system).publicKey }
    #expect(Set(keys).count == 4)
  }
}
