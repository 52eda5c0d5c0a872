import TestSupport

@Suite(.timeLimit(.minutes(15))) struct BondTests {
  private static let strong = LinkSecurity(keySize: 16, isAuthenticated: true, isSecureConnections: true)

  private static func bond(_ keys: [LongTermKey]) -> Bond {
    Bond(identity: TwoPairings.peripheralAddress, irk: nil, keys: keys, method: .justWorks)
  }

  @Test func levels() {
    #expect(Self.strong.level == .secureConnections)
    #expect(LinkSecurity(keySize: 15, isAuthenticated: true, isSecureConnections: true).level == .authenticated)
    #expect(LinkSecurity(keySize: 16, isAuthenticated: true, isSecureConnections: false).level == .authenticated)
    #expect(LinkSecurity(keySize: 16, isAuthenticated: false, isSecureConnections: true).level == .encrypted)
    #expect(SecurityLevel.allCases == SecurityLevel.allCases.sorted())
  }

  /// Each property counts on its own: more of one does not make up for less of another.
  @Test func weakerBonds() {
    let weaker = [
      LinkSecurity(keySize: 15, isAuthenticated: true, isSecureConnections: true),
      LinkSecurity(keySize: 16, isAuthenticated: false, isSecureConnections: true),
      LinkSecurity(keySize: 16, isAuthenticated: true, isSecureConnections: false),
    ]
    let old = Self.bond([LongTermKey(key: 1, security: Self.strong)])
    #expect(!old.isWeaker(than: old))
    for security in weaker {
      let new = Self.bond([LongTermKey(key: 2, security: security)])
      #expect(new.isWeaker(than: old))
      #expect(!old.isWeaker(than: new))
    }
    #expect(Self.bond([LongTermKey(key: 2, security: weaker[0])]).isWeaker(than: Self.bond([LongTermKey(key: 3, security: weaker[1])])))
    #expect(Self.bond([]).isWeaker(than: old))
    #expect(!old.isWeaker(than: Self.bond([])))
  }

  @Test func keysOfBothRoles() {
    let central = LongTermKey(key: 1, ediv: 2, rand: 3, role: .central, security: Self.strong)
    let peripheral = LongTermKey(key: 4, ediv: 5, rand: 6, role: .peripheral, security: Self.strong)
    let legacy = Self.bond([central, peripheral])
    #expect(legacy.centralKey == central)
    #expect(legacy.peripheralKey(ediv: 5, rand: 6) == peripheral)
    for (ediv, rand) in [(UInt16(2), UInt64(3)), (0, 0), (5, 7), (4, 6)] { #expect(legacy.peripheralKey(ediv: ediv, rand: rand) == nil) }
    let secure = Self.bond([LongTermKey(key: 7, security: Self.strong)])
    #expect(secure.centralKey?.key == 7)
    #expect(secure.peripheralKey(ediv: 0, rand: 0)?.key == 7)
    #expect(secure.peripheralKey(ediv: 5, rand: 6) == nil)
    #expect(Self.bond([peripheral]).centralKey == nil)
  }

  /// A short key has zeros in place of its most significant bytes, wherever it comes from (Vol 3 Part H §2.3.4).
  @Test(arguments: UInt8(7)...16) func keysAreCut(_ size: UInt8) throws {
    let security = LinkSecurity(keySize: size, isAuthenticated: false, isSecureConnections: false)
    #expect(LongTermKey(key: .max, security: security).key == UInt128.max >> (8 * UInt128(16 - size)))
    // The device sends its key whole, as some stacks do.
    var central = PairingParameters.device(.central, .noInputNoOutput, .never)
    central.keySizes = 7...size
    var peripheral = PairingParameters.device(.peripheral)
    peripheral.keySizes = 7...16
    let air = TwoPairings(peripheral: peripheral)
    air.change = { from, bytes in from == .peripheral && bytes.first == 0x06 ? [0x06] + [UInt8](repeating: 0xFF, count: 16) : bytes }
    air.pair(central)
    let actions = try #require(try? air[.central].encrypt())
    #expect(actions.contains { if case .encrypt(UInt128.max >> (8 * UInt128(16 - size)), _, _) = $0 { true } else { false } }, "\(actions)")
  }

  /// The key of a bond must fulfill each requirement of a later pairing.
  @Test func acceptedBonds() {
    let legacy = LinkSecurity(keySize: 16, isAuthenticated: true, isSecureConnections: false)
    let plain = LinkSecurity(keySize: 16, isAuthenticated: false, isSecureConnections: true)
    let short = LinkSecurity(keySize: 7, isAuthenticated: true, isSecureConnections: true)
    var parameters = PairingParameters()
    #expect([Self.strong, legacy, plain, short].map(parameters.accepts) == [true, true, true, false])
    parameters.keySizes = 7...16
    #expect(parameters.accepts(short))
    parameters.secureConnections = .required
    #expect([Self.strong, legacy, plain, short].map(parameters.accepts) == [true, false, true, true])
    (parameters.secureConnections, parameters.level) = (.preferred, .authenticated)
    #expect([Self.strong, legacy, plain, short].map(parameters.accepts) == [true, true, false, true])
    parameters.level = .secureConnections
    #expect([Self.strong, legacy, plain, short].map(parameters.accepts) == [true, false, false, false])
  }

  @Test func names() {
    let methods: [PairingMethod] = [.justWorks, .numericComparison, .passkeyEntry(displayedBy: nil), .passkeyEntry(displayedBy: .central)]
    #expect(methods.map(\.snakeName) == ["just_works", "numeric_comparison", "passkey", "passkey"])
    #expect(methods.map(\.isAuthenticated) == [false, true, true, true])
  }
}
