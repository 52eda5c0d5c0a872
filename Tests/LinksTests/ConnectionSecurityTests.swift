import TestSupport

@testable import BluetoothLE

/// What a link does about its security, without an SMP of its own.
@Suite(.timeLimit(.minutes(15))) struct ConnectionSecurityTests {
  private static let peer = PeerAddress(Address(rawValue: 0xD100_0000_0050), .random)
  private static let other = PeerAddress(Address(rawValue: 0xD100_0000_0051), .random)
  private static let adapter = PeerAddress(Address(rawValue: 1), .public)
  private static let strong = LinkSecurity(keySize: 16, isAuthenticated: true, isSecureConnections: true)
  private static let plain = LinkSecurity(keySize: 16, isAuthenticated: false, isSecureConnections: true)
  private static let legacy = LinkSecurity(keySize: 16, isAuthenticated: true, isSecureConnections: false)

  private static func bond(_ identity: PeerAddress = peer, _ security: LinkSecurity = strong, _ role: LinkRole? = nil) -> Bond {
    Bond(identity: identity, irk: nil, keys: [LongTermKey(key: 1, role: role, security: security)], method: .justWorks)
  }

  private final class Person: PairingUser {
    func passkey() async -> SixDigits? { nil }
    func show(_ passkey: SixDigits) {}
    func isSame(_ number: SixDigits) async -> Bool { false }
  }

  @LoopActor private final class Keeper: BondKeeper {
    var stored: [StoredBond] = []
    func bond(of adapter: PeerAddress, with peer: PeerAddress) -> StoredBond? { stored.first { $0.bond.isOf(peer) } }
    func bonds(of adapter: PeerAddress) -> [StoredBond] { stored }
    func add(_ bonds: [StoredBond]) { stored = stored.filter { old in !bonds.contains { $0.replaces(old) } } + bonds }
  }

  @LoopActor private final class Procedures: SecurityProcedures {
    var security: LinkSecurity?
    var bond: Bond?
    var limit = PairingFailure.longestSilence
    /// A Security Request that came before the handler.
    var waiting: AuthenticationRequirements?
    var onRequest: (@LoopActor (AuthenticationRequirements) -> Void)? {
      didSet { if let waiting { onRequest?(waiting) } }
    }
    var (pairings, declines) = (0, 0)
    var outcome: Result<Bond?, PairingFailure> = .success(nil)
    var encryption: PairingFailure?
    var result = ConnectionSecurityTests.strong
    /// The security of a bond of the system. Nil without one.
    var system: LinkSecurity?
    private(set) var parameters: PairingParameters?

    func pair(
      _ parameters: PairingParameters, user: any PairingUser, keep: @escaping @LoopActor (PairingResult) throws -> Void
    ) async throws -> PairingResult {
      pairings += 1
      self.parameters = parameters
      try await EventLoop.shared.sleep(for: .seconds(3))
      let paired = PairingResult(method: .justWorks, security: result, bond: try outcome.get())
      try keep(paired)
      security = result
      return paired
    }

    func encrypt(with bond: Bond) async throws {
      if let encryption { throw encryption }
      security = bond.security
    }

    func encryptWithSystemBond() -> PeerAddress? {
      security = system ?? security
      return system.map { _ in ConnectionSecurityTests.peer }
    }

    func decline() { declines += 1 }
  }

  private static let wish = PairingWish(PairingParameters(ioCapability: .noInputNoOutput, requestsMITM: false), user: Person())

  @LoopActor private static func begun(
    _ procedures: Procedures, _ keeper: Keeper = Keeper(), _ wish: PairingWish? = nil
  ) async throws -> ConnectionSecurity {
    let security = ConnectionSecurity(procedures, peer, name: nil, adapter: adapter, keeper, wish)
    try await security.begin()
    return security
  }

  /// A command that the device refuses meanwhile waits for the pairing that the device asked for.
  @Test(.onLoop) @LoopActor func oneRequestAndOneRefusal() async throws {
    let procedures = Procedures()
    let security = try await Self.begun(procedures, Keeper(), Self.wish)
    procedures.onRequest?([.bonding])
    #expect(try await security.raise(for: .insufficientEncryption))
    #expect(procedures.pairings == 1 && procedures.declines == 0)
  }

  /// Each attempt with a passkey reveals a part of it.
  @Test(.onLoop) @LoopActor func noSecondAttemptUnasked() async throws {
    let procedures = Procedures()
    procedures.outcome = .failure(.confirmMismatch)
    let security = try await Self.begun(procedures, Keeper(), Self.wish)
    procedures.onRequest?([.bonding])
    #expect(try await security.raise(for: .insufficientEncryption) == false)
    procedures.onRequest?([.bonding])
    security.take(Self.wish)
    #expect(try await security.raise(for: .insufficientEncryption) == false)
    #expect(procedures.pairings == 1 && procedures.declines == 1 && security.wish == nil)
  }

  // MARK: A bond is the answer to a Security Request

  /// No order and no wish to pair starts a new pairing, not even a request for authentication that the bond does not give.
  @Test(.onLoop, arguments: [true, false], [strong, plain]) @LoopActor func aBondAnswersARequest(_ hasWish: Bool, _ security: LinkSecurity)
    async throws
  {
    let (procedures, keeper) = (Procedures(), Keeper())
    keeper.stored = [StoredBond(Self.bond(Self.peer, security), of: Self.adapter, created: 0, name: nil)]
    let link = try await Self.begun(procedures, keeper, hasWish ? Self.wish : nil)
    var notes = 0
    link.onEvent = { if case .pairingWanted(hasBond: true) = $0 {} else { notes += 1 } }
    #expect(procedures.security == security)
    // The host asks only if the link lacks what the device wants.
    for _ in 0..<2 { procedures.onRequest?([.bonding, .mitm]) }
    #expect(procedures.declines == 2 && link.askedInVain)
    // The encryption has ended, for example by the controller.
    procedures.security = nil
    procedures.onRequest?([.bonding])
    await link.settle()
    #expect(procedures.security == security && procedures.pairings == 0 && notes == 0)
    // A removed bond is no answer.
    keeper.stored = []
    procedures.onRequest?([.bonding, .mitm])
    await link.settle()
    #expect(procedures.pairings == (hasWish ? 1 : 0))
  }

  /// A bond without a key for our role does not encrypt, but no new pairing may be weaker.
  @Test(.onLoop) @LoopActor func aBondWithoutAKey() async throws {
    let (procedures, keeper) = (Procedures(), Keeper())
    let bond = Self.bond(Self.peer, Self.legacy, .peripheral)
    keeper.stored = [StoredBond(bond, of: Self.adapter, created: 0, name: nil)]
    _ = try await Self.begun(procedures, keeper, Self.wish)
    #expect(procedures.security == nil && procedures.bond == bond)
  }

  /// The end of a command waits for the pairing, but a canceled command and a session do not.
  @Test(.onLoop, arguments: [Duration.seconds(30), .zero, nil]) @LoopActor func theEndOfACommand(_ limit: Duration?) async throws {
    let procedures = Procedures()
    let security = try await Self.begun(procedures, Keeper(), Self.wish)
    procedures.onRequest?([.bonding])
    let begin = EventLoop.shared.now
    let end = EventLoop.shared.spawn { await security.settle(within: limit) }
    if limit == nil { end.cancel() }
    await end.value
    let isPaired = limit == .seconds(30)
    #expect(procedures.pairings == 1 && (procedures.security != nil) == isPaired)
    #expect(begin.duration(to: EventLoop.shared.now) == (isPaired ? .seconds(3) : .zero))
  }

  // MARK: The level that a command demands

  /// What the link has, the demanded level, and whether the link reaches it.
  private static let levels: [(LinkSecurity?, SecurityLevel, Bool)] = [
    (nil, .encrypted, false), (plain, .encrypted, true), (plain, .authenticated, false), (plain, .secureConnections, false),
    (legacy, .authenticated, true), (legacy, .secureConnections, false), (strong, .secureConnections, true),
    (LinkSecurity(keySize: 15, isAuthenticated: true, isSecureConnections: true), .secureConnections, false),
  ]

  @Test func levels() async throws {
    for (security, level, isReached) in Self.levels {
      // A bond of ours, one of the system, and the pairing of a wish.
      for way in 0..<3 {
        try await onLoop(with: (Procedures(), Keeper())) { procedures, keeper in
          if let security, way == 0 {
            keeper.stored = [StoredBond(Self.bond(Self.peer, security), of: Self.adapter, created: 0, name: nil)]
          }
          if way == 1 { procedures.system = security }
          if let security, way == 2 { procedures.result = security }
          let wish = security != nil && way == 2 ? Self.wish : nil
          let link = try await Self.begun(procedures, keeper, wish)
          var thrown: InsufficientSecurity?
          do { try await link.reach(level) } catch { thrown = try #require(error as? InsufficientSecurity) }
          let expected = InsufficientSecurity(demanded: level, found: security?.level, isOfSystem: way == 1 && security != nil)
          #expect(thrown == (isReached ? nil : expected), "\(String(describing: security)) \(level) \(way)")
          #expect(procedures.pairings == (wish == nil ? 0 : 1) && procedures.parameters?.level ?? level == level)
        }
      }
    }
  }

  /// The Pairing Request of `pair` is the answer to a Security Request.
  @Test(.onLoop) @LoopActor func aCommandThatPairs() async throws {
    let procedures = Procedures()
    let wish = PairingWish(Self.wish.parameters, user: Self.wish.user, isOfCommand: true)
    let security = try await Self.begun(procedures, Keeper(), wish)
    procedures.onRequest?([.bonding])
    _ = try await security.pair(wish)
    #expect(procedures.pairings == 1 && procedures.declines == 0 && !security.askedInVain)
  }

  /// A device takes over the bond of no other device.
  @Test(.onLoop) @LoopActor func aClaimedIdentity() async throws {
    let (procedures, keeper) = (Procedures(), Keeper())
    keeper.stored = [StoredBond(Self.bond(Self.other), of: Self.adapter, created: 0, name: "Other")]
    procedures.outcome = .success(Self.bond(Self.other))
    let security = try await Self.begun(procedures, keeper)
    await #expect(throws: PairingFailure.identityTaken(Self.other)) { try await security.pair(Self.wish) }
    #expect(keeper.stored.map(\.name) == ["Other"] && security.level == nil)
  }

  private struct Withheld: Error {}

  /// An adapter that gets no keys: neither a bond nor a pairing is used, and an unbonded device works.
  @Test(.onLoop) @LoopActor func withheldKeys() async throws {
    let (procedures, keeper) = (Procedures(), Keeper())
    let security = ConnectionSecurity(procedures, Self.peer, name: nil, adapter: Self.adapter, keeper, Self.wish)
    security.withholding = Withheld()
    var events: [SecurityEvent] = []
    security.onEvent = { events.append($0) }
    try await security.begin()
    await #expect(throws: Withheld.self) { try await security.pair(Self.wish) }
    procedures.onRequest?([.bonding])
    // The answer to the Security Request has failed, and there is no second attempt.
    #expect(try await security.raise(for: .insufficientEncryption) == false)
    #expect(events.count == 2)
    keeper.stored = [StoredBond(Self.bond(), of: Self.adapter, created: 0, name: nil)]
    // A controller can make a Security Request up, also before the link begins.
    procedures.waiting = [.bonding]
    await #expect(throws: Withheld.self) { try await security.begin() }
    await security.settle()
    procedures.onRequest?([.bonding])
    await security.settle()
    await #expect(throws: Withheld.self) { try await security.raise(for: .insufficientEncryption) }
    #expect(procedures.pairings == 0 && security.level == nil)
  }

  /// Each attempt with a passkey reveals a part of it, so a failure counts for all links of the command.
  @Test(.onLoop, arguments: [true, false]) @LoopActor func oneFailureForAllLinks(_ isProtected: Bool) async throws {
    let procedures = Procedures()
    procedures.outcome = .failure(.silent(.seconds(30)))
    let wish = PairingWish(PairingParameters(ioCapability: .keyboardOnly, requestsMITM: isProtected), user: Person())
    let first = try await Self.begun(procedures, Keeper(), wish)
    await #expect(throws: PairingFailure.self) { try await first.raise(for: .insufficientAuthentication) }
    let second = try await Self.begun(Procedures(), Keeper(), wish)
    #expect((second.wish == nil) == isProtected && wish.attempts.areOver == isProtected)
  }

  @Test(.onLoop) @LoopActor func aBondThatTheUserRemoved() async throws {
    let (procedures, keeper) = (Procedures(), Keeper())
    let stored = StoredBond(Self.bond(), of: Self.adapter, created: 0, name: nil)
    keeper.stored = [stored]
    let security = try await Self.begun(procedures, keeper)
    procedures.bond = Self.bond()
    #expect(try security.bond() == stored)
    keeper.stored = []
    #expect(try security.bond() == nil && procedures.bond == nil)
  }

  /// Only some reasons tell that the device lost its bond. After others, a caller may connect again.
  @Test(
    .onLoop,
    arguments: [
      (ControllerErrorCode.pinOrKeyMissing, true), (.micFailure, true), (.remoteUserTerminated, false), (.connectionTimeout, false),
    ])
  @LoopActor func aLinkThatEndsBeforeItsEncryption(_ code: ControllerErrorCode, _ isLost: Bool) async throws {
    let (procedures, keeper) = (Procedures(), Keeper())
    keeper.stored = [StoredBond(Self.bond(), of: Self.adapter, created: 0, name: nil)]
    procedures.encryption = .disconnected(code)
    do {
      _ = try await Self.begun(procedures, keeper)
      Issue.record("no error")
    } catch {
      #expect(isLost ? error as? PairingFailure == .bondRejected(code) : error as? Disconnection == Disconnection(Self.peer, .lost(code)))
    }
  }
}
