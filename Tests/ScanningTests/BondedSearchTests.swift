import TestSupport

/// Searches by the names of bonded devices.
@Suite(.timeLimit(.minutes(15))) struct BondedSearchTests {
  private static let irk: UInt128 = 0xEC02_34A3_57C8_AD05_3410_10A6_0A39_7D9B
  private static let tag = PeerAddress(
    Address(rawValue: 0x40_0001 << 24 | UInt64(Toolbox.ah(irk: irk, prand: 0x40_0001))), .random)

  private static func bond(_ identity: PeerAddress = peer(1), irk: UInt128? = nil, _ name: String? = "Door") -> StoredBond {
    let security = LinkSecurity(keySize: 16, isAuthenticated: true, isSecureConnections: true)
    return StoredBond(
      Bond(identity: identity, irk: irk, keys: [LongTermKey(key: 1, security: security)], method: .justWorks),
      of: PeerAddress(Address(rawValue: 1), .public), created: 0, name: name)
  }

  private static func report(of peer: PeerAddress, _ data: [UInt8] = [], _ pdu: AdvertisingReport.PDU = .connectable) -> AdvertisingReport {
    AdvertisingReport(pdu: pdu, isConnectable: true, isScannable: false, peer: peer, rssi: -60, data: data)
  }

  /// What a search came to, after which time, and the other devices that it reported while it went on.
  private struct Outcome {
    let result: Result<PeerMatch, PeerSearchError>
    let time: Duration
    let reported: [Namesake]

    var match: PeerMatch? { try? result.get() }
    var error: PeerSearchError? { if case .failure(let error) = result { error } else { nil } }
  }

  private typealias Batch = (after: Duration, reports: [AdvertisingReport])

  @LoopActor private static func find(
    _ text: String, _ batches: [Batch], _ change: (inout PeerSearch) -> Void = { _ in }
  ) async throws -> Outcome { try await find(text, [bond()], batches, change) }

  @LoopActor private static func find(
    _ text: String, _ bonds: [StoredBond], _ batches: [Batch], _ change: (inout PeerSearch) -> Void = { _ in }
  ) async throws -> Outcome {
    let central = ScriptedCentral()
    central.batches = batches
    var search = PeerSearch(PeerSelector(text) ?? .name(text), limit: .seconds(8))
    search.bonds = bonds
    change(&search)
    let begin = EventLoop.shared.now
    var reported: [Namesake] = []
    let result: Result<PeerMatch, PeerSearchError>
    do { result = .success(try await central.find(search, onNamesake: { reported.append($0) })) } catch let error as PeerSearchError {
      result = .failure(error)
    }
    return Outcome(result: result, time: begin.duration(to: EventLoop.shared.now), reported: reported)
  }

  private static let other = door(2, rssi: -20)
  private static func door(_ number: UInt64, rssi: Int8) -> AdvertisingReport {
    AdvertisingReport(pdu: .connectable, isConnectable: true, isScannable: true, peer: peer(number), rssi: rssi, data: named("Door"))
  }

  /// The bonded device wins over a stronger one that came first, also with `--unique`. Then the search ends.
  @Test(.onLoop, arguments: ["door", "name:Door"]) @LoopActor func theBondedOneWins(_ text: String) async throws {
    let batches: [Batch] = [
      (.milliseconds(100), [Self.other]), (.milliseconds(2900), [Self.report(of: peer(1), named("Door"))]),
    ]
    let found = try await Self.find(text, batches)
    #expect(found.match?.peer == peer(1) && found.match?.namesake == nil && found.match?.others == [] && found.time == .seconds(3))
    #expect(try await Self.find(text, batches) { $0.demandsOne = true }.match?.peer == peer(1))
    // Without a bond, or with one of another name, the stronger one wins.
    #expect(try await Self.find(text, [], batches).match?.peer == peer(2))
    #expect(try await Self.find(text, [Self.bond(peer(1), "Window")], batches).match?.peer == peer(2))
  }

  /// The search waits 3 s for the bonded device after another one of its name, but not beyond its limit.
  @Test(.onLoop, arguments: [(Int64(8), Int64(3100)), (2, 2000)]) @LoopActor func onlyAnotherDevice(_ limit: Int64, _ time: Int64)
    async throws
  {
    let found = try await Self.find(
      "door",
      [
        (.milliseconds(100), [Self.other]), (.seconds(1), [Self.door(3, rssi: -70)]),
        (.milliseconds(2001), [Self.report(of: peer(1), named("Door"))]),
      ]
    ) { $0.limit = .seconds(limit) }
    guard case .namesake(let other, .name("door"))? = found.error else { throw Unexpected(outcome: "\(found)") }
    #expect(other.peer == peer(2) && other.bonded == [peer(1)] && !other.mayBeBonded)
    #expect(found.time == .milliseconds(time) && found.reported.isEmpty)
  }

  private struct Unexpected: Error { let outcome: String }

  /// With `--wait`, the search goes on until its limit, and tells once why.
  @Test(.onLoop) @LoopActor func aSearchThatWaits() async throws {
    let first: Batch = (.milliseconds(100), [Self.other, Self.door(3, rssi: -30)])
    let found = try await Self.find("door", [first, (.seconds(6), [Self.report(of: peer(1), named("Door"))])]) { $0.isUrgent = true }
    #expect(found.match?.peer == peer(1) && found.time == .milliseconds(6100) && found.reported.map(\.peer) == [peer(2)])
    let none = try await Self.find("door", [first]) { $0.isUrgent = true }
    guard case .namesake? = none.error else { throw Unexpected(outcome: "\(none)") }
    #expect(none.time == .seconds(8))
  }

  /// With `--first`, a pattern or a service, another device of the name is usual. The match tells about it.
  @Test(.onLoop, arguments: ["door", "do*", "name:d?or", "service:180d"]) @LoopActor func aNoteOnly(_ text: String) async throws {
    let data = named("Door") + [3, 3, 0x0D, 0x18]
    let found = try await Self.find(text, [(.milliseconds(100), [Self.report(of: peer(2), data)])]) { $0.takesFirst = text == "door" }
    #expect(found.match?.peer == peer(2) && found.match?.namesake?.bonded == [peer(1)])
    let bonded = try await Self.find(text, [(.milliseconds(100), [Self.report(of: peer(1), data)])]) { $0.takesFirst = text == "door" }
    #expect(bonded.match?.peer == peer(1) && bonded.match?.namesake == nil)
    let another = try await Self.find(text, [Self.bond(peer(1), "Do")], [(.milliseconds(100), [Self.report(of: peer(2), data)])])
    #expect(another.match?.namesake == nil)
  }

  /// Each of several bonds with one name means its device.
  @Test(.onLoop) @LoopActor func severalBondsOfOneName() async throws {
    let bonds = [Self.bond(peer(1)), Self.bond(peer(3))]
    let both = [Self.other, Self.door(3, rssi: -70)]
    #expect(try await Self.find("door", bonds, [(.milliseconds(100), both)]).match?.peer == peer(3))
    let all: [Batch] = [(.milliseconds(100), [Self.door(1, rssi: -60)] + both)]
    let unique = try await Self.find("door", bonds, all) { $0.demandsOne = true }
    guard case .several(let candidates, _)? = unique.error else { throw Unexpected(outcome: "\(unique)") }
    #expect(candidates.map(\.peer) == [peer(1), peer(3)])
    // The strongest of them wins, also when a weaker one came first.
    let later: [Batch] = [(.milliseconds(100), [Self.door(1, rssi: -80)]), (.milliseconds(300), [Self.door(3, rssi: -50)])]
    let match = try await Self.find("door", bonds, later).match
    #expect(match?.peer == peer(3) && match?.others.map(\.peer) == [peer(1)])
  }

  /// Without an IRK, nobody can tell whether a private address belongs to the bonded device.
  @Test(.onLoop) @LoopActor func whatNoKeyTells() async throws {
    let cases: [(UInt128?, PeerAddress, Bool)] = [(nil, Self.tag, true), (nil, peer(2), false), (Self.irk, peer(2), false)]
    for (irk, address, isUnknown) in cases {
      let found = try await Self.find("door", [Self.bond(irk: irk)], [(.zero, [Self.report(of: address, named("Door"))])])
      guard case .namesake(let other, _)? = found.error else { throw Unexpected(outcome: "\(found)") }
      #expect(other.mayBeBonded == isUnknown, "\(address)")
    }
    let changing = try await Self.find("door", [Self.bond(Self.tag)], [(.zero, [Self.other])])
    guard case .namesake(let other, _)? = changing.error else { throw Unexpected(outcome: "\(changing)") }
    #expect(other.mayBeBonded)
  }

  /// A bonded device that advertises no name, as in directed advertising, has the name of its bond.
  @Test(.onLoop, arguments: ["door", "DO*", "D1:00:00:00:00:01"]) @LoopActor func aBondedDeviceWithoutAName(_ text: String) async throws {
    let bonds = [Self.bond(irk: Self.irk)]
    for address in [peer(1), Self.tag] {
      let found = try await Self.find(text, bonds, [(.milliseconds(100), [Self.report(of: address, [], .directed)])])
      #expect(found.match?.peer == address && found.match?.identity == peer(1) && found.match?.name == "Door", "\(address)")
    }
    // The name of the bond counts also after the device has another one.
    let renamed = try await Self.find(text, bonds, [(.milliseconds(100), [Self.report(of: Self.tag, named("Gate"))])])
    #expect(renamed.match?.peer == Self.tag && renamed.match?.name == "Gate")
  }

  @Test(.onLoop) @LoopActor func aBondedDeviceThatIsAbsent() async throws {
    let found = try await Self.find("door", [(.zero, [Self.report(of: peer(4), named("Gate"))])])
    #expect(found.error == .notFound(.name("door"), devices: 1, names: ["Gate"], within: .seconds(8), bonded: [peer(1)]))
  }

  /// An earlier private address means the bonded device, which has another one now.
  @Test(.onLoop) @LoopActor func anEarlierPrivateAddress() async throws {
    let now = PeerAddress(Address(rawValue: 0x41_2345 << 24 | UInt64(Toolbox.ah(irk: Self.irk, prand: 0x41_2345))), .random)
    for text in ["\(Self.tag)", "\(Self.tag.address)"] {
      let found = try await Self.find(text, [Self.bond(irk: Self.irk)], [(.seconds(1), [Self.report(of: now)])])
      #expect(found.match?.peer == now && found.match?.identity == peer(1))
    }
  }
}
