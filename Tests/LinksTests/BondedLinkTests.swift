import BluetoothLESimulator
import TestSupport

/// Links whose device pairs: how long they wait for it, and when they come back.
@Suite(.timeLimit(.minutes(15))) struct BondedLinkTests {
  @LoopActor private final class Keeper: BondKeeper {
    var stored: [StoredBond] = []
    func bond(of adapter: PeerAddress, with peer: PeerAddress) -> StoredBond? { stored.first { $0.bond.isOf(peer) } }
    func bonds(of adapter: PeerAddress) -> [StoredBond] { stored }
    func add(_ bonds: [StoredBond]) { stored = stored.filter { old in !bonds.contains { $0.replaces(old) } } + bonds }
  }

  private final class Person: PairingUser {
    let hesitation: Duration
    init(_ hesitation: Duration = .zero) { self.hesitation = hesitation }

    func passkey() async -> SixDigits? {
      try? await EventLoop.shared.sleep(for: hesitation)
      return SixDigits(246_810)
    }
    func show(_ passkey: SixDigits) {}
    func isSame(_ number: SixDigits) async -> Bool { true }
  }

  @LoopActor private static func device(_ security: String) -> String {
    LosingAir.counter(limits: #""security": {\#(security)},"#)
  }

  /// A device that lost its bond does not get it back: the first attempt is the last.
  @Test(.onLoop) @LoopActor func aLostBondEndsTheRestoration() async throws {
    let air = try await LosingAir(Self.device(#""io": "none", "forgets": true"#))
    air.session.bonds = Keeper()
    let connection = try await air.connect(.name("counter"))
    let security = try #require(connection.security)
    _ = try await security.pair(PairingWish(PairingParameters(), user: Person()))
    try await air.lose(connection)
    do {
      try await air.session.restore(connection)
      Issue.record("no error")
    } catch RestorationError.gaveUp(let time, let tries, let last) {
      #expect(last as? PairingFailure == .bondRejected(.pinOrKeyMissing) && tries == 1 && time < .seconds(5))
    }
    #expect(!connection.isOpen && air.device.present.connectionCount == 0)
    // The next attempt is the user's.
    await #expect(throws: RestorationError.self) { try await air.session.restore(connection) }
    await air.session.close()
  }

  /// A device that was away first, and then turns out to have lost its bond: the last reason counts.
  @Test(.onLoop) @LoopActor func theLastReasonCounts() async throws {
    let air = try await LosingAir(Self.device(#""io": "none", "forgets": true"#))
    air.session.bonds = Keeper()
    let connection = try await air.connect(.name("counter"))
    let security = try #require(connection.security)
    _ = try await security.pair(PairingWish(PairingParameters(), user: Person()))
    try await air.lose(connection)
    air.device.isAway = true
    EventLoop.shared.schedule(after: .seconds(20)) { air.device.isAway = false }
    var reasons: [any Error] = []
    do {
      try await air.session.restore(connection) { if case .trying(_, _, let error?) = $0 { reasons.append(error) } }
      Issue.record("no error")
    } catch RestorationError.gaveUp(_, let tries, let last) {
      #expect(last as? PairingFailure == .bondRejected(.pinOrKeyMissing) && tries == reasons.count + 1)
    }
    #expect(!reasons.isEmpty && reasons.allSatisfy { $0 is GAPError }, "\(reasons)")
    await air.session.close()
  }

  /// `-t` limits the waits for the device.
  @Test(.onLoop) @LoopActor func aSilentDevice() async throws {
    let air = try await LosingAir(Self.device(#""io": "none""#))
    var limits = Session.Limits()
    limits.transaction = .seconds(3)
    let connection = try await air.session.connect(air.device.address, limits: limits)
    for channel in air.device.channels { channel.otherChannels = { _, _ in } }
    let security = try #require(connection.security)
    let begin = EventLoop.shared.now
    await #expect(throws: PairingFailure.silent(.seconds(3))) {
      _ = try await security.pair(PairingWish(PairingParameters(), user: Person()))
    }
    #expect(begin.duration(to: EventLoop.shared.now) == .seconds(3))
    security.limit = .seconds(3600)
    #expect(security.limit == .seconds(30))
    await air.session.close()
  }

  /// The time that a person takes does not count.
  @Test(.onLoop, arguments: [true, false]) @LoopActor func aPersonMayTakeLonger(_ isSecure: Bool) async throws {
    let air = try await LosingAir(Self.device(#""io": "display", "passkey": "246810", "sc": \#(isSecure)"#))
    var limits = Session.Limits()
    limits.transaction = .seconds(3)
    let connection = try await air.session.connect(air.device.address, limits: limits)
    let parameters = PairingParameters(ioCapability: .keyboardOnly, requestsMITM: true)
    let security = try #require(connection.security)
    let result = try await security.pair(PairingWish(parameters, user: Person(.seconds(20))))
    #expect(result.method == .passkeyEntry(displayedBy: .peripheral))
    await air.session.close()
  }
}
