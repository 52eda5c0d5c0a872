import TestSupport

/// A pairing whose bond our side refuses, on our own host.
@Suite(.timeLimit(.minutes(15))) struct RefusedKeysTests {
  private struct StorageFull: Error {}

  private final class Person: PairingUser {
    func passkey() async -> SixDigits? { nil }
    func show(_ passkey: SixDigits) {}
    func isSame(_ number: SixDigits) async -> Bool { false }
  }

  /// A key store that knows no bond at first. Another process may add one, and the disk may be full.
  @LoopActor private final class Keeper: BondKeeper {
    var stored: [StoredBond] = []
    var isFull = false
    private(set) var added = 0

    func bond(of adapter: PeerAddress, with peer: PeerAddress) -> StoredBond? { nil }
    func bonds(of adapter: PeerAddress) -> [StoredBond] { stored }
    func add(_ bonds: [StoredBond]) throws {
      if isFull { throw StorageFull() }
      added += 1
    }
  }

  private static let safe = """
    [{"name": "Safe", "address": "D1:00:00:00:00:60/random", "advertisement": {"name": "Safe"}, "security": {"io": "none"},
      "services": [{"uuid": "ff00", "characteristics": [{"uuid": "ff01", "properties": ["read"], "value": "01"}]}]}]
    """

  /// The link never reports the level of the refused key, and ends at once. The next link pairs.
  @Test(.onLoop, arguments: [true, false]) @LoopActor func theLinkEnds(_ isFull: Bool) async throws {
    let air = try await TestAir(Self.safe)
    let session = Session { air.central }
    let keeper = Keeper()
    session.bonds = keeper
    let peer = PeerAddress(Address(rawValue: 0xD100_0000_0060), .random)
    keeper.isFull = isFull
    let strong = LinkSecurity(keySize: 16, isAuthenticated: true, isSecureConnections: true)
    let other = Bond(identity: peer, irk: nil, keys: [LongTermKey(key: 1, security: strong)], method: .numericComparison)
    let adapter = try #require(air.central.identity)
    if !isFull { keeper.stored = [StoredBond(other, of: adapter, created: 0, name: nil)] }

    let connection = try await session.connect(peer)
    let security = try #require(connection.security)
    let wish = PairingWish(PairingParameters(), user: Person())
    do {
      _ = try await security.pair(wish)
      Issue.record("no error")
    } catch {
      #expect(isFull ? error is StorageFull : error as? PairingFailure == .weakerThanBond, "\(error)")
    }
    #expect(security.level == nil && connection.link.security?.bond == nil && keeper.added == 0)
    // Nothing goes over the link any more.
    await #expect(throws: Disconnection.self) { _ = try await connection.client.read(uuid: UUID(0xFF01)) }
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(air.central.openLinks.isEmpty)
    await session.disconnect(connection)

    (keeper.isFull, keeper.stored) = (false, [])
    let second = try await session.connect(peer)
    _ = try await second.security?.pair(wish)
    #expect(second.security?.level?.keySize == 16 && keeper.added == 1)
    await session.close()
  }
}
