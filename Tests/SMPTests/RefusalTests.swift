import TestSupport

/// Pairings that must fail: each ends on both devices, with a clear cause and without a bond.
@Suite(.timeLimit(.minutes(15))) struct RefusalTests {
  private func expectNothing(
    _ air: TwoPairings, _ central: PairingFailure?, _ peripheral: PairingFailure?, _ line: SourceLocation = #_sourceLocation
  ) {
    #expect(air.failure(.central) == central, sourceLocation: line)
    #expect(air.failure(.peripheral) == peripheral, sourceLocation: line)
    for role in LinkRole.allCases {
      #expect(air[role].bond == nil, sourceLocation: line)
      #expect(!air[role].isBusy, sourceLocation: line)
      #expect(air.outcomes[role]?.count ?? 0 <= 1, sourceLocation: line)
    }
  }

  @Test(arguments: [SecureConnectionsUse.required, .never]) func wrongPasskey(_ use: SecureConnectionsUse) throws {
    for (central, peripheral) in [
      (IOCapability.keyboardOnly, IOCapability.displayOnly), (.displayOnly, .keyboardOnly), (.keyboardOnly, .keyboardOnly),
    ] {
      // Passkeys that differ in the first bit, the last bit, and all bits.
      for wrong in [UInt32(699_051), 175_000, 349_525] {
        var parameters = PairingParameters.device(.central, central, mitm: true, use)
        var other = PairingParameters.device(.peripheral, peripheral)
        (parameters.passkey, other.passkey) = (SixDigits(699_050), SixDigits(699_050))
        let air = TwoPairings(peripheral: other)
        air.typed = [
          .central: try #require(SixDigits(central == peripheral ? 699_050 : wrong)), .peripheral: try #require(SixDigits(wrong)),
        ]
        air.pair(parameters)
        expectNothing(air, .wrongPasskey(.peer), .wrongPasskey(.us))
        #expect(air.linkKeys.isEmpty)
        #expect(air.failure(.central)?.reason == .confirmValueFailed)
      }
    }
  }

  @Test(arguments: LinkRole.allCases) func refusedNumber(_ role: LinkRole) {
    let air = TwoPairings(peripheral: .device(.peripheral, .displayYesNo))
    air.refusers = [role]
    air.pair(.device(.central, .displayYesNo, mitm: true))
    expectNothing(air, .numberRefused(role == .central ? .us : .peer), .numberRefused(role == .central ? .peer : .us))
    #expect(air.linkKeys.isEmpty)
  }

  /// Answers before the number is shown, and second answers, have no meaning.
  @Test func answersWithoutAQuestion() throws {
    let air = TwoPairings(peripheral: .device(.peripheral, .displayYesNo))
    var answered: Set<LinkRole> = []
    air.onDelivery = { to, _ in
      for isSame in [true, false] where !answered.contains(to) { #expect(air[to].answerComparison(isSame).isEmpty) }
    }
    air.absentUsers = Set(LinkRole.allCases)
    air.pair(.device(.central, .displayYesNo, mitm: true)) {
      answered = Set(LinkRole.allCases)
      for role in LinkRole.allCases {
        air.take(air[role].answerComparison(true), role)
        #expect(air[role].answerComparison(false).isEmpty)
      }
    }
    for role in LinkRole.allCases { #expect(air.result(role)?.method == .numericComparison) }
  }

  /// The number is confirmed by one user only. The other does not answer for 30 s.
  @Test(arguments: LinkRole.allCases) func unansweredQuestion(_ role: LinkRole) {
    for capability in [IOCapability.displayYesNo, .keyboardOnly] {
      let air = TwoPairings(peripheral: .device(.peripheral, capability))
      air.absentUsers = [role]
      air.pair(.device(.central, capability, mitm: true))
      expectNothing(air, .timedOut, .timedOut)
      #expect(air.linkKeys.isEmpty)
      // Nothing is sent on this link anymore (§3.4).
      #expect(throws: PairingFailure.closed) { _ = try air[.central].start(PairingParameters()) }
      #expect(air[.peripheral].receive([0x01, 3, 0, 1, 16, 0, 0]).isEmpty)
    }
  }

  @Test func canceledByAUser() throws {
    for (capability, expected) in [
      (IOCapability.keyboardOnly, PairingFailure.passkeyNotEntered(.us)), (.displayYesNo, .numberRefused(.us)),
      (.noInputNoOutput, .canceled),
    ] {
      var pairing = Pairing(role: .central, own: TwoPairings.centralAddress, peer: TwoPairings.peripheralAddress)
      #expect(pairing.cancel().isEmpty)
      _ = try pairing.start(.device(.central, capability, mitm: true))
      _ = pairing.receive([0x02, capability.rawValue, 0, 0x0D, 16, 0, 0])
      let reason = try #require(expected.reason)
      #expect(pairing.cancel() == [.send([0x05, reason.rawValue]), .stopTimer, .failed(expected)])
      #expect(pairing.enter(try #require(SixDigits(1))).isEmpty)
      #expect(pairing.answerComparison(true).isEmpty)
    }
    #expect(PairingFailure.passkeyNotEntered(.peer).reason == .passkeyEntryFailed)
  }

  @Test func silence() {
    for count in 1...3 {
      let air = TwoPairings(peripheral: .device(.peripheral))
      air.fault = (.drop, count)
      air.pair(.device(.central))
      // A peripheral that never got the request does not know of a pairing.
      expectNothing(air, .timedOut, count == 1 ? nil : .timedOut)
    }
  }

  @LoopActor private final class SilentLink: SecurityLink {
    func sendSecurity(_ pdu: [UInt8]) {}
    func encrypt(key: UInt128, ediv: UInt16, rand: UInt64) {}
    func answerKeyRequest(_ key: UInt128?) {}
  }

  private final class Person: PairingUser {
    func passkey() async -> SixDigits? { nil }
    func show(_ passkey: SixDigits) {}
    func isSame(_ number: SixDigits) async -> Bool { true }
  }

  /// A short limit holds for a silent device, but not for a person who enters our passkey there.
  @Test(arguments: [(IOCapability.keyboardOnly, 30), (.noInputNoOutput, 3)]) func aPersonAtTheDevice(_ other: IOCapability, _ time: Int)
    async throws
  {
    try await onLoop(with: SilentLink()) { link in
      let manager = SecurityManager(Pairing(role: .central, own: TwoPairings.centralAddress, peer: TwoPairings.peripheralAddress))
      (manager.link, manager.limit) = (link, .seconds(3))
      EventLoop.shared.schedule(after: .seconds(1)) { manager.receive([2, other.rawValue, 0, 0x01, 16, 0, 0]) }
      let begin = EventLoop.shared.now
      await #expect(throws: PairingFailure.silent(.seconds(time))) {
        _ = try await manager.pair(.device(.central, .displayOnly, mitm: true, .never), user: Person())
      }
      #expect(begin.duration(to: EventLoop.shared.now) == .seconds(1 + time))
    }
  }

  @Test(arguments: LinkRole.allCases) func invalidPublicKeys(_ role: LinkRole) throws {
    let off = try #require(P256PublicKey(x: [UInt8](repeating: 5, count: 32), y: [UInt8](repeating: 6, count: 32)))
    let debug = try P256KeyPair(
      privateKey: [
        0x3F, 0x49, 0xF6, 0xD4, 0xA3, 0xC5, 0x5F, 0x38, 0x74, 0xC9, 0xB3, 0xE3, 0xD2, 0x10, 0x3F, 0x50, 0x4A, 0xFF, 0x60, 0x7B, 0xEB, 0x40,
        0xB7, 0x99, 0x58, 0x99, 0xB8, 0xA6, 0xCD, 0x3C, 0x1A, 0xBD,
      ])
    for (key, cause) in [(off, PairingFailure.invalidPublicKey), (debug.publicKey, .debugKey)] {
      let air = TwoPairings(peripheral: .device(.peripheral))
      air.change = { from, bytes in from != role && bytes.first == 0x0C ? PairingPDU.publicKey(key).bytes : bytes }
      air.pair(.device(.central))
      let other = PairingFailure.refused(.invalidParameters)
      expectNothing(air, role == .central ? cause : other, role == .central ? other : cause)
    }
  }

  /// The peer sends our public key back, or another point with its x coordinate (CVE-2020-26558).
  @Test(arguments: LinkRole.allCases, [true, false]) func reflectedPublicKey(_ role: LinkRole, _ isNegated: Bool) throws {
    let parameters = PairingParameters.device(role, .keyboardOnly, mitm: true)
    var pairing = Pairing(role: role, own: TwoPairings.centralAddress, peer: TwoPairings.peripheralAddress, acceptance: .accept(parameters))
    let features: [UInt8] = [2, 0, 0x0D, 16, 0, 0]
    // A peripheral sends its key only after the central's. Here it uses a known one.
    let known = RandomSource(ScriptedRandom([UInt8](repeating: 7, count: 32)))
    pairing = Pairing(
      role: role, own: TwoPairings.centralAddress, peer: TwoPairings.peripheralAddress, acceptance: .accept(parameters), random: known)
    if role == .central {
      _ = try pairing.start(parameters)
      _ = pairing.receive([0x02] + features)
    } else {
      _ = pairing.receive([0x01] + features)
    }
    let own = try P256KeyPair(privateKey: [UInt8](repeating: 7, count: 32)).publicKey
    let key = isNegated ? try #require(P256PublicKey(x: own.x, y: Self.minus(own.y))) : own
    #expect(pairing.receive(PairingPDU.publicKey(key).bytes) == [.send([0x05, 0x0A]), .stopTimer, .failed(.reflected)])
  }

  /// Returns p − y: the y coordinate of the other point with the same x coordinate.
  private static func minus(_ y: [UInt8]) -> [UInt8] {
    let p: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 12) + [UInt8](repeating: 0xFF, count: 12)
    var result = [UInt8](repeating: 0, count: 32), borrow = 0
    for index in (0..<32).reversed() {
      let difference = Int(p[index]) - Int(y[index]) - borrow
      result[index] = UInt8(truncatingIfNeeded: difference)
      borrow = difference < 0 ? 1 : 0
    }
    return result
  }

  /// The peer sends our confirm values and random numbers back.
  @Test(arguments: [SecureConnectionsUse.required, .never]) func reflectedValues(_ use: SecureConnectionsUse) {
    for code in [UInt8(3), 4] {
      for (central, peripheral, mitm) in [
        (IOCapability.keyboardOnly, IOCapability.displayOnly, true), (.noInputNoOutput, .noInputNoOutput, false),
      ] {
        let air = TwoPairings(peripheral: .device(.peripheral, peripheral))
        var sent: [UInt8]?
        air.change = { from, bytes in
          guard bytes.first == code else { return bytes }
          if from == .central { sent = bytes }
          return from == .peripheral ? sent ?? bytes : bytes
        }
        air.pair(.device(.central, central, mitm: mitm, use))
        // The central of Just Works with Secure Connections sends no confirm value.
        if code == 3, use == .required, !mitm {
          #expect(air.result(.central) != nil)
        } else {
          expectNothing(air, .reflected, .refused(.invalidParameters))
        }
      }
    }
  }

  @Test func shortKeys() {
    for use in [SecureConnectionsUse.required, .never] {
      for (central, peripheral, role) in [
        (UInt8(7)...16, UInt8(7)...7, LinkRole.central), (7...7, 7...16, .peripheral), (7...15, 7...16, .peripheral),
      ] {
        var parameters = PairingParameters.device(.central, .noInputNoOutput, use), other = PairingParameters.device(.peripheral)
        (parameters.keySizes, other.keySizes) = (central, peripheral)
        if role == .central { parameters.keySizes = 16...16 } else { other.keySizes = 16...16 }
        let air = TwoPairings(peripheral: other)
        air.pair(parameters)
        let size = min(central.upperBound, peripheral.upperBound)
        let (ours, theirs) = (PairingFailure.keySize(agreed: size, minimum: 16), PairingFailure.refused(.encryptionKeySize))
        expectNothing(
          air, role == .central ? ours : theirs, role == .central ? (air.outcomes[.peripheral]?.isEmpty ?? true ? nil : theirs) : ours)
        #expect(air.linkKeys.isEmpty)
      }
    }
  }

  @Test func levels() {
    func pair(_ level: SecurityLevel, _ central: IOCapability, _ peripheral: PairingParameters) -> TwoPairings {
      var parameters = PairingParameters.device(.central, central)
      parameters.level = level
      parameters.keySizes = 7...16
      let air = TwoPairings(peripheral: peripheral)
      air.pair(parameters)
      return air
    }
    let refused = PairingFailure.refused(.authenticationRequirements)
    // Just Works is below level 3, whatever the flags say.
    for level in [SecurityLevel.authenticated, .secureConnections] {
      expectNothing(pair(level, .noInputNoOutput, .device(.peripheral, .keyboardDisplay)), .notAuthenticated, refused)
    }
    let legacy = PairingParameters.device(.peripheral, .displayOnly, .never)
    #expect(pair(.authenticated, .keyboardOnly, legacy).result(.central)?.security.level == .authenticated)
    expectNothing(pair(.secureConnections, .keyboardOnly, legacy), .legacyPairing, refused)
    var short = PairingParameters.device(.peripheral, .displayOnly)
    short.keySizes = 7...15
    #expect(pair(.authenticated, .keyboardOnly, short).result(.central)?.security.level == .authenticated)
    expectNothing(pair(.secureConnections, .keyboardOnly, short), .keySize(agreed: 15, minimum: 16), .refused(.encryptionKeySize))
    #expect(
      pair(.secureConnections, .keyboardOnly, .device(.peripheral, .displayOnly)).result(.central)?.security.level == .secureConnections)
    // A central that must not use legacy pairing, and a peripheral.
    for (central, peripheral) in [(SecureConnectionsUse.required, SecureConnectionsUse.never), (.never, .required)] {
      let air = TwoPairings(peripheral: .device(.peripheral, .noInputNoOutput, peripheral))
      air.pair(.device(.central, .noInputNoOutput, central))
      expectNothing(air, central == .required ? .legacyPairing : refused, central == .required ? refused : .legacyPairing)
    }
  }

  /// A device that pretends to be a bonded one, and offers less.
  @Test(arguments: LinkRole.allCases) func weakerThanTheBond(_ role: LinkRole) {
    for security in [
      LinkSecurity(keySize: 16, isAuthenticated: false, isSecureConnections: true),
      LinkSecurity(keySize: 16, isAuthenticated: true, isSecureConnections: false),
    ] {
      let bond = Bond(
        identity: TwoPairings.peripheralAddress, irk: nil, keys: [LongTermKey(key: 5, security: security)], method: .justWorks)
      let air = TwoPairings(
        peripheral: .device(.peripheral, .noInputNoOutput, .never), centralBond: role == .central ? bond : nil,
        peripheralBond: role == .peripheral ? bond : nil)
      air.pair(.device(.central, .noInputNoOutput))
      #expect(air.failure(role) == .weakerThanBond)
      #expect(air.failure(role.other) == .refused(.authenticationRequirements))
      // The bond stays as it was.
      #expect(air[role].bond == bond)
      #expect(air[role.other].bond == nil)
    }
  }

  @Test func outOfBandData() throws {
    var pairing = Pairing(role: .central, own: TwoPairings.centralAddress, peer: TwoPairings.peripheralAddress)
    _ = try pairing.start(PairingParameters())
    #expect(pairing.receive([0x02, 3, 1, 0x09, 16, 0, 0]) == [.send([0x05, 0x02]), .stopTimer, .failed(.outOfBandWanted)])
    // Legacy pairing needs the data of both.
    _ = try pairing.start(PairingParameters())
    #expect(pairing.receive([0x02, 3, 1, 0x01, 16, 0, 0]).first != .send([0x05, 0x02]))
  }

  @Test func keysThatNobodyAskedFor() throws {
    for keys in [[UInt8(0x08), 0], [0, 0x04], [0x0F, 0x0F]] {
      var pairing = Pairing(role: .central, own: TwoPairings.centralAddress, peer: TwoPairings.peripheralAddress)
      _ = try pairing.start(PairingParameters())
      #expect(pairing.receive([0x02, 3, 0, 0x09, 16] + keys) == [.send([0x05, 0x0A]), .stopTimer, .failed(.unrequestedKeys)])
    }
  }

  @Test func pairingThatNobodyWants() throws {
    // A peripheral that does not pair, that pairs once, and a central.
    let air = TwoPairings()
    air.pair(.device(.central))
    expectNothing(air, .refused(.pairingNotSupported), nil)

    let once = TwoPairings(peripheral: .device(.peripheral))
    once.pair(.device(.central))
    let bonds = LinkRole.allCases.map { once[$0].bond }
    #expect(!bonds.contains(nil))
    once.pair(.device(.central))
    #expect(once.failure(.central) == .refused(.repeatedAttempts))
    #expect(once.outcomes[.peripheral]?.count == 1)
    #expect(LinkRole.allCases.map { once[$0].bond } == bonds)

    let afterFailure = TwoPairings(peripheral: .device(.peripheral, .displayYesNo))
    afterFailure.refusers = [.peripheral]
    afterFailure.pair(.device(.central, .displayYesNo, mitm: true))
    afterFailure.pair(.device(.central, .displayYesNo, mitm: true))
    expectNothing2(afterFailure)

    var central = Pairing(role: .central, own: TwoPairings.centralAddress, peer: TwoPairings.peripheralAddress)
    #expect(central.receive([0x01, 3, 0, 9, 16, 0, 0]) == [.send([0x05, 0x07])])
    var peripheral = Pairing(role: .peripheral, own: TwoPairings.peripheralAddress, peer: TwoPairings.centralAddress)
    #expect(peripheral.receive([0x0B, 1]) == [.send([0x05, 0x07])])
    #expect(throws: PairingFailure.noBond) { _ = try peripheral.encrypt() }
  }

  private func expectNothing2(_ air: TwoPairings) {
    #expect(air.outcomes[.central] == [.failed(.numberRefused(.peer)), .failed(.refused(.repeatedAttempts))])
    #expect(air.outcomes[.peripheral] == [.failed(.numberRefused(.us))])
  }

  @Test func securityRequests() throws {
    let parameters = PairingParameters.device(.peripheral, mitm: true)
    let air = TwoPairings()
    air.take(try air[.peripheral].start(parameters), .peripheral)
    #expect(throws: PairingFailure.busy) { _ = try air[.peripheral].start(parameters) }
    air.deliverNext()
    #expect(air.requests == [[.bonding, .mitm, .secureConnections]])
    // A second one before the answer says nothing new.
    #expect(air[.central].receive([0x0B, 0x01]).isEmpty)
    air.pair(.device(.central))
    #expect(air.result(.central)?.bond != nil)
    #expect(air.result(.peripheral)?.bond != nil)

    let declined = TwoPairings()
    declined.take(try declined[.peripheral].start(parameters), .peripheral)
    declined.deliverNext()
    declined.take(declined[.central].declineRequest(), .central)
    #expect(declined[.central].declineRequest().isEmpty)
    declined.run()
    expectNothing(declined, nil, .refused(.pairingNotSupported))

    // The peripheral asks, and a bond answers.
    let bond = try #require(air.result(.central)?.bond), other = try #require(air.result(.peripheral)?.bond)
    let bonded = TwoPairings(centralBond: bond, peripheralBond: other)
    bonded.take(try bonded[.peripheral].start(parameters), .peripheral)
    bonded.deliverNext()
    bonded.encrypt()
    #expect(bonded.outcomes[.central] == [.encrypted(try #require(bond.security))])
    #expect(bonded.outcomes[.peripheral] == [.encrypted(try #require(bond.security))])
  }

  /// The peer lost its bond.
  @Test func lostBond() throws {
    let air = TwoPairings(peripheral: .device(.peripheral))
    air.pair(.device(.central))
    let bond = try #require(air.result(.central)?.bond)
    // The old encryption says nothing after the new one failed.
    #expect(air[.central].security != nil)
    _ = try air[.central].encrypt()
    #expect(air[.central].encryptionChanged(.failed(.connectionTimeout)) == [.stopTimer, .failed(.bondRejected(.connectionTimeout))])
    #expect(air[.central].security == nil)
    let next = TwoPairings(centralBond: bond)
    next.encrypt()
    #expect(next.outcomes[.central] == [.failed(.bondRejected(ControllerErrorCode(rawValue: 0x06)))])
    #expect(next[.central].security == nil)
    #expect(next[.central].bond == bond)
    // Another key is no bond either.
    let wrong = TwoPairings(
      centralBond: bond,
      peripheralBond: Bond(
        identity: bond.identity, irk: nil, keys: [LongTermKey(key: 1, security: try #require(bond.security))], method: .justWorks))
    wrong.encrypt()
    #expect(wrong.outcomes[.central] == [.failed(.disconnected(.micFailure))])
  }

  /// Encryption that fails, ends early, or comes from a key that we do not know.
  @Test func encryptionEvents() throws {
    func encrypting() throws -> Pairing {
      var pairing: Pairing?
      let air = TwoPairings(peripheral: .device(.peripheral))
      air.change = { from, bytes in
        if from == .peripheral, bytes.first == 0x0D { pairing = air[.central] }
        return bytes
      }
      air.pair(.device(.central))
      var central = try #require(pairing)
      let check = try #require(air.trace.last { $0.from == .peripheral && $0.bytes.first == 0x0D })
      #expect(central.receive(check.bytes).contains { if case .encrypt = $0 { true } else { false } })
      return central
    }
    var failed = try encrypting()
    #expect(failed.encryptionChanged(.failed(.connectionTimeout)) == [.stopTimer, .failed(.encryptionFailed(.connectionTimeout))])
    #expect(failed.encryptionChanged(.on).isEmpty)
    #expect(failed.security == nil)
    var lost = try encrypting()
    #expect(lost.encryptionChanged(.on).isEmpty)
    #expect(lost.encryptionChanged(.on).isEmpty)
    #expect(lost.security?.level == .encrypted)
    #expect(lost.encryptionChanged(.off) == [.stopTimer, .failed(.encryptionLost)])
    #expect(lost.security == nil)
    #expect(lost.bond == nil)
    // A failed refresh of the key ends it too. Found by fuzzing.
    var refreshed = try encrypting()
    #expect(refreshed.encryptionChanged(.on).isEmpty)
    #expect(refreshed.encryptionChanged(.failed(.connectionTimeout)) == [.stopTimer, .failed(.encryptionLost)])
    #expect(refreshed.security == nil)
    // Keys on an unencrypted link are an attack.
    var early = try encrypting()
    #expect(
      early.receive(PairingPDU.identityInformation(1).bytes) == [.send([0x05, 0x08]), .stopTimer, .failed(.unexpectedPDU(code: 0x08))])
    var ended = try encrypting()
    #expect(ended.disconnected(.remoteUserTerminated) == [.stopTimer, .failed(.disconnected(.remoteUserTerminated))])
    #expect(ended.disconnected(.remoteUserTerminated).isEmpty)
    #expect(ended.timedOut().isEmpty)
  }

  /// The key of a pairing has the identifiers 0. The controller of the peripheral gets it once, and only after the checks.
  @Test(arguments: PairingKind.all) func keyRequests(_ kind: PairingKind) throws {
    let air = TwoPairings(peripheral: kind.peripheral)
    var states: [Pairing] = []
    air.change = { from, bytes in
      if from == .peripheral { states.append(air[.peripheral]) }
      return bytes
    }
    air.pair(kind.central)
    air.change = nil
    let key = try #require(air.linkKeys.first)
    var given = 0
    for var state in states where state.security == nil {
      for (ediv, rand) in [(UInt16(7), UInt64(9)), (7, 0), (0, 9)] {
        #expect(state.longTermKeyRequested(ediv: ediv, rand: rand) == [.answerKeyRequest(nil)])
      }
      let actions = state.longTermKeyRequested(ediv: 0, rand: 0)
      guard actions == [.answerKeyRequest(key)] else {
        #expect(actions == [.answerKeyRequest(nil)])
        continue
      }
      given += 1
      #expect(state.longTermKeyRequested(ediv: 0, rand: 0) == [.answerKeyRequest(nil)])
    }
    // The last PDU before the encryption is the peripheral's random number or check.
    #expect(given == 1)
  }
}
