import BluetoothLESimulator
import TestSupport

/// Tests which device counts as the lost one.
@Suite(.timeLimit(.minutes(15))) struct FindAgainTests {
  static let carrier = #""manufacturer_data": {"0305": "0101 22110038c1a4"}, "#

  @LoopActor
  private func air(_ address: String) throws -> String {
    LosingAir.counter(address: address).replacing(#""flags": 6, "#, with: #""flags": 6, "# + Self.carrier)
  }

  /// After an address change, the selector that found the device finds it again.
  @Test(
    .onLoop,
    arguments: [
      ("name:counter", "5D:00:00:00:00:01/random"), ("service:ff00", "1D:00:00:00:00:01/random"),
      ("mac:A4:C1:38:00:11:22", "D1:00:00:00:00:77/random"),
    ]) @LoopActor func anotherAddressOfTheSame(_ selector: String, _ address: String) async throws
  {
    let selector = try #require(PeerSelector(selector))
    let air = try await LosingAir(try self.air(address))
    let connection = try await air.connect(selector)
    let old = connection.peer
    #expect(connection.isMeant(by: selector))
    try await air.lose(connection)
    air.device.present = try LosingAir.peripheral(try self.air("7F:00:00:00:00:02/random"))
    try await air.session.restore(connection)
    #expect(connection.peer != old && connection.peer == air.device.address)
    #expect(connection.isMeant(by: selector) && connection.isMeant(by: .address(connection.peer.address, nil)))
    await air.session.close()
  }

  /// The same private address is preferred immediately, even if another match is stronger.
  @Test(.onLoop) @LoopActor func theSameAddressComesFirst() async throws {
    let air = try await LosingAir(LosingAir.counter(address: "5D:00:00:00:00:01/random", limits: #""rssi": -30,"#))
    let connection = try await air.connect(.name("counter"))
    try await air.lose(connection)
    let stronger = LosingAir.counter(address: "5D:00:00:00:00:02/random", limits: #""rssi": -20,"#)
    air.air.add(try LosingAir.peripheral(stronger))
    try await air.session.restore(connection)
    #expect(connection.peer == air.device.address)
    await air.session.close()
  }

  /// With changing addresses, a pattern matches neither another name nor one of two devices with the same name.
  @Test(.onLoop, arguments: ["Counted", "Counter"]) @LoopActor func aPatternIsForOneDevice(_ other: String) async throws {
    let air = try await LosingAir(LosingAir.counter(address: "5D:00:00:00:00:01/random"))
    let connection = try await air.connect(.name("count*"))
    let peer = connection.peer
    try await air.lose(connection)
    air.device.isAway = true
    for number in other == "Counter" ? [2, 3] : [2] {
      air.air.add(try LosingAir.peripheral(LosingAir.counter(address: "5D:00:00:00:00:0\(number)/random", name: other)))
    }
    EventLoop.shared.schedule(after: .seconds(60)) { air.device.isAway = false }
    try await air.session.restore(connection)
    #expect(connection.peer == peer)
    await air.session.close()
  }

  /// If addresses do not change, a device with the same name never replaces the lost one. It could be another door.
  @Test(.onLoop, arguments: ["name:counter", "service:ff00", "D1:00:00:00:00:77"]) @LoopActor func anotherDeviceIsNotTaken(
    _ selector: String
  ) async throws {
    let selector = try #require(PeerSelector(selector))
    let air = try await LosingAir(LosingAir.counter(limits: #""rssi": -30,"#))
    let connection = try await air.connect(selector)
    let peer = connection.peer
    try await air.lose(connection)
    air.air.add(try LosingAir.peripheral(LosingAir.counter(address: "D1:00:00:00:00:78/random")))
    air.device.isAway = true
    EventLoop.shared.schedule(after: .seconds(60)) { air.device.isAway = false }
    let restoration = try await air.session.restore(connection)
    #expect(restoration.tries > 2 && connection.peer == peer)
    await air.session.close()
  }

  // MARK: Bonded devices

  @LoopActor private final class Keeper: BondKeeper {
    let stored: StoredBond

    init(_ stored: StoredBond) { self.stored = stored }

    func bond(of adapter: PeerAddress, with peer: PeerAddress) -> StoredBond? { stored.bond.isOf(peer) ? stored : nil }
    func bonds(of adapter: PeerAddress) -> [StoredBond] { [stored] }
    func add(_ bonds: [StoredBond]) {}
  }

  private static let irk: UInt128 = 0xEC02_34A3_57C8_AD05_3410_10A6_0A39_7D9B

  private static func address(_ prand: UInt32) -> PeerAddress {
    PeerAddress(Address(rawValue: UInt64(prand) << 24 | UInt64(Toolbox.ah(irk: irk, prand: prand))), .random)
  }

  /// An air whose device has a bond with us, and may have a new address.
  @LoopActor private struct BondedAir {
    let air: LosingAir
    let stored: StoredBond
    let central: PeerAddress

    init(_ peer: PeerAddress, identity: PeerAddress, irk: UInt128?) async throws {
      air = try await LosingAir(Self.device(peer))
      central = try #require(try await air.session.central().identity)
      let security = LinkSecurity(keySize: 16, isAuthenticated: false, isSecureConnections: true)
      let bond = Bond(identity: identity, irk: irk, keys: [LongTermKey(key: 7, security: security)], method: .justWorks)
      stored = StoredBond(bond, of: central, created: 0, name: "Counter")
      air.session.bonds = Keeper(stored)
      try move(to: peer)
    }

    static func device(_ peer: PeerAddress) -> String {
      LosingAir.counter(address: "\(peer)", limits: #""security": {"io": "none"}, "rssi": -70,"#)
    }

    func move(to peer: PeerAddress) throws {
      air.device.present = try LosingAir.peripheral(Self.device(peer))
      air.device.present.restore(stored.bond.seenByPeer(of: central), with: central)
    }

    func connect(_ selector: PeerSelector) async throws -> Connection {
      var search = PeerSearch(selector)
      search.bonds = [stored]
      let match = try await air.session.central().find(search)
      return try await air.session.connect(match.peer, name: match.name, foundBy: selector)
    }
  }

  /// A bonded device is found by its identity, also beside another device of its name.
  @Test(.onLoop, arguments: ["D1:00:00:00:00:77", "D1:00:00:00:00:77/random", "name:counter", "service:ff00"])
  @LoopActor func aBondedDeviceByItsIdentity(_ text: String) async throws {
    let identity = PeerAddress(Address(rawValue: 0xD100_0000_0077), .random)
    let bonded = try await BondedAir(Self.address(0x40_0001), identity: identity, irk: Self.irk)
    let air = bonded.air
    let selector = try #require(PeerSelector(text))
    let connection = try await bonded.connect(selector)
    #expect(connection.peer == Self.address(0x40_0001) && connection.identityAddress == identity && connection.security?.level != nil)
    #expect(connection.isMeant(by: .address(identity.address, nil)))
    try await air.lose(connection)
    try bonded.move(to: Self.address(0x41_2345))
    air.air.add(try LosingAir.peripheral(LosingAir.counter(address: "5D:00:00:00:00:02/random")))
    try await air.session.restore(connection, .times(3))
    #expect(connection.peer == Self.address(0x41_2345) && connection.identityAddress == identity && connection.security?.level != nil)
    await air.session.close()
  }

  /// Without an IRK, another device could be the bonded one. Only the address of the bond is tried.
  @Test(.onLoop) @LoopActor func aBondWithoutAKeyForItsAddress() async throws {
    let peer = PeerAddress(Address(rawValue: 0x5D00_0000_0001), .random)
    let bonded = try await BondedAir(peer, identity: peer, irk: nil)
    let connection = try await bonded.connect(.name("counter"))
    try await bonded.air.lose(connection)
    bonded.air.device.isAway = true
    let other = try LosingAir.peripheral(LosingAir.counter(address: "5D:00:00:00:00:02/random"))
    bonded.air.air.add(other)
    await #expect(throws: RestorationError.self) { try await bonded.air.session.restore(connection, .times(3)) }
    #expect(other.connectionCount == 0 && connection.peer == peer)
    await bonded.air.session.close()
  }

  /// A name means the bonded device, and no open link to another device of that name.
  @Test(.onLoop) @LoopActor func aNameIsNotAnIdentity() async throws {
    let identity = PeerAddress(Address(rawValue: 0xD100_0000_0077), .random)
    let bonded = try await BondedAir(identity, identity: identity, irk: nil)
    let other = try LosingAir.peripheral(LosingAir.counter(address: "D1:00:00:00:00:78/random"))
    bonded.air.air.add(other)
    let link = try await bonded.air.session.connect(other.address, name: "Counter", foundBy: .address(other.address.address, nil))
    #expect(!link.isMeant(by: .name("counter")) && link.isMeant(by: .name("count*")))
    #expect(link.isMeant(by: .address(other.address.address, nil)))
    #expect(try await bonded.connect(.name("counter")).isMeant(by: .name("Counter")))
    bonded.air.session.bonds = nil
    await bonded.air.session.close()
  }
}
