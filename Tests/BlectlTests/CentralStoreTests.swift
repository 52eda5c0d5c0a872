import BluetoothLESimulator
import TestSupport

@testable import CommandLine
@testable import Program

/// What a served device remembers of bonded centrals from one process to the next.
@Suite(.timeLimit(.minutes(15))) struct CentralStoreTests {
  private let configuration = Configuration(environment: ["XDG_STATE_HOME": TemporaryFolder.path()])
  private let adapter = PeerAddress(Address(rawValue: 0x00_00_5E_00_53_01), .public)

  @LoopActor private func store(_ adapter: PeerAddress?) -> CentralStore { CentralStore(configuration, adapter: adapter) }

  private func central(_ number: UInt64, bonded: Bool = true) -> BondedCentral {
    let identity = PeerAddress(Address(rawValue: 0xC0_00_00_00_00_00 + number), .random)
    let key = LongTermKey(key: 1, security: LinkSecurity(keySize: 16, isAuthenticated: false, isSecureConnections: true))
    let bond = bonded ? Bond(identity: identity, irk: nil, keys: [key], method: .justWorks) : nil
    return BondedCentral(identity: identity, bond: bond, databaseHash: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 16))
  }

  @Test(.onLoop) @LoopActor func whatIsKept() async throws {
    let bonds = BondStore(folder: configuration.bondsPath)
    var (one, two) = (central(1), central(2))
    (one.features, one.subscriptions) = ([1], [.init(handle: 3, uuid: .serviceChanged, bits: 2)])
    two.subscriptions = [.init(handle: 0xFFFF, uuid: UUID(0xFF01), bits: 1)]
    // The system has the keys of the third one.
    let all = [one, two, central(3, bonded: false)]
    try store(adapter).keep(all, bonds)
    let other = PeerAddress(Address(rawValue: 2), .public)
    try store(other).keep([central(4)], bonds)
    #expect(try store(adapter).centrals(bonds) == all)
    #expect(try store(other).centrals(bonds) == [central(4)])
    try store(adapter).keep([two], bonds)
    #expect(try store(adapter).centrals(bonds) == [two] && store(other).centrals(bonds).count == 1)
    #expect(try store(nil).centrals(bonds).isEmpty)
    // The keys of the centrals that the device has forgotten are gone, and only those.
    #expect(try Set(bonds.all().map(\.bond.identity)) == [two.identity, central(4).identity])
    // A central whose bond the user removed is a new one.
    #expect(try store(adapter).centrals(BondStore(folder: TemporaryFolder.path())).isEmpty)
  }
}
