import TestSupport

@testable import BluetoothLESimulator

/// A device on a radio: its advertisements, centrals, lines, and what it remembers of bonded centrals.
@Suite(.timeLimit(.minutes(15))) struct ServedDeviceTests {
  // MARK: Advertising

  @Test(.onLoop) @LoopActor func advertisesWhatTheDescriptionSays() async throws {
    let fixture = try ServedFixture(
      #""advertisement": {"flags": 6, "services": ["ff00"]}, "scan_response": {"name": "T"}, "interval_ms": 250, "#)
    try await fixture.device.start()
    var expected = Advertising()
    (expected.data, expected.scanResponse) = ([2, 1, 6, 3, 3, 0x00, 0xFF], [2, 9, 0x54])
    expected.interval = .milliseconds(250)
    #expect(fixture.radio.advertised == [expected])
    // Nothing changes.
    try await EventLoop.shared.sleep(for: .seconds(10))
    #expect(fixture.radio.advertised.count == 1)
    await fixture.device.end()
    #expect(fixture.radio.isEnded)
  }

  @Test(.onLoop) @LoopActor func optionsChangeTheAdvertisement() async throws {
    var options = ServingOptions()
    (options.isExtended, options.interval) = (true, .milliseconds(40))
    let both = #""advertisement": {"flags": 6}, "scan_response": {"name": "T"}, "#
    let fixture = try ServedFixture(both, options: options)
    try await fixture.device.start()
    let first = try #require(fixture.radio.advertised.first ?? nil)
    #expect(first.isExtended && first.isConnectable && first.interval == .milliseconds(40))
    #expect(first.data == [2, 1, 6, 2, 9, 0x54] && first.scanResponse.isEmpty)
    await fixture.device.end()

    (options.isExtended, options.onlyAdvertises) = (false, true)
    let other = try ServedFixture(both, options: options)
    try await other.device.start()
    let silent = try #require(other.radio.advertised.first ?? nil)
    #expect(!silent.isConnectable && silent.scanResponse == [2, 9, 0x54])
    await other.device.end()
  }

  /// The device advertises again when a timer changes a variable, without a connection, and only then.
  @Test(.onLoop) @LoopActor func aTemplateThatChanges() async throws {
    let fixture = try ServedFixture(
      #"""
      "variables": {"n": 0}, "advertisement": {"manufacturer_data": {"ffff": {"u8": {"variable": "n"}}}},
      "timers": {"t": {"every_ms": 1000, "then": [{"count": "n"}]}},
      """#)
    try await fixture.device.start()
    try await EventLoop.shared.sleep(for: .milliseconds(3500))
    #expect(fixture.radio.advertised.map { $0?.data.last } == [0, 1, 2, 3])
    await fixture.device.end()
    try await EventLoop.shared.sleep(for: .seconds(5))
    #expect(fixture.radio.advertised.count == 4)
  }

  @Test(.onLoop) @LoopActor func timeChangesATemplate() async throws {
    let fixture = try ServedFixture(
      #""advertisement": {"manufacturer_data": {"ffff": {"u8": {"clock": "second"}}}}, "starts_after_ms": 500, "#)
    try await fixture.device.start()
    #expect(fixture.radio.advertised.isEmpty)
    try await EventLoop.shared.sleep(for: .milliseconds(2900))
    #expect((3...4).contains(fixture.radio.advertised.count))
    await fixture.device.end()
  }

  @Test(.onLoop) @LoopActor func stopsAndAdvertisesAgain() async throws {
    let fixture = try ServedFixture()
    try fixture.perform("advertise off")
    try await fixture.device.start()
    #expect(fixture.radio.advertised.isEmpty)
    try fixture.perform("advertise on")
    try await EventLoop.shared.sleep(for: .milliseconds(10))
    try fixture.perform("advertise off")
    try await EventLoop.shared.sleep(for: .milliseconds(10))
    #expect(fixture.radio.advertised.map { $0 != nil } == [true, false])
    // The host refuses a change: the device goes on.
    var failures = 0
    fixture.device.onFailure = { _ in failures += 1 }
    fixture.radio.refusal = LinkLost("busy")
    try fixture.perform("advertise on")
    try await EventLoop.shared.sleep(for: .milliseconds(10))
    #expect(failures == 1 && fixture.radio.advertised.count == 2)
    await fixture.device.end()
  }

  @Test(.onLoop) @LoopActor func aHostThatCannotAdvertise() async throws {
    let fixture = try ServedFixture()
    fixture.radio.refusal = LinkLost("no")
    await #expect(throws: LinkLost.self) { try await fixture.device.start() }
    await fixture.device.end()
  }

  // MARK: Lines and events

  @Test(.onLoop) @LoopActor func whatACentralDoes() async throws {
    let fixture = try ServedFixture()
    try fixture.perform("set ff01 0e")
    #expect(try fixture.perform("notify ff01 0f") == 0)
    try await fixture.device.start()
    let client = Client(fixture.radio.connect().channel)
    #expect(try await client.read(fixture.handle("ff01")) == [0x0F])
    try await client.writeRequest([1], to: fixture.handle("ff01"))
    try await client.writeCommand([2], to: fixture.handle("ff01"))
    let item = try #require(try await client.resolve(try Selector("ff01")).characteristic)
    let subscription = try await client.subscribe(item)
    #expect(try fixture.perform("notify ff01 03") == 1)
    #expect(try await subscription.next().value == [3])
    let other = try #require(try await client.resolve(try Selector("ff04")).characteristic)
    let indications = try await client.subscribe(other)
    #expect(try fixture.perform("indicate ff04") == 1)
    #expect(try await indications.next().value == [0x0D])
    try await subscription.cancel()
    client.close()
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(
      fixture.take() == [
        "connected", "read ff01 0f", "written request ff01 01", "written command ff01 02", "read 2902 0000", "read 2902 0000",
        "read 2902 0000",
        "subscribed 1 ff01", "notified ff01 03",
        "subscribed 2 ff04", "indicated ff04 0d", "unsubscribed ff01", "disconnected here",
      ])
    await fixture.device.end()
  }

  @Test(.onLoop) @LoopActor func disconnectsWithAReason() async throws {
    let fixture = try ServedFixture()
    try await fixture.device.start()
    let (one, two) = (fixture.radio.connect(1), fixture.radio.connect(2))
    let client = Client(one.channel)
    _ = Client(two.channel)
    try fixture.perform("disconnect 0x15")
    let end = try await client.untilClosed()
    #expect((end as? Disconnection)?.reason == .remotePowerOff)
    #expect(one.link.reason == .remotePowerOff && two.link.reason == .remotePowerOff)
    #expect(fixture.take() == ["connected", "connected", "disconnected 21", "disconnected 21"])
    await fixture.device.end()
  }

  /// The device disconnects after the central has its last value.
  @Test(.onLoop) @LoopActor func waitsForTheLastValue() async throws {
    let fixture = try ServedFixture()
    try await fixture.device.start()
    let (channel, link) = fixture.radio.connect()
    let client = Client(channel)
    _ = try await client.read(fixture.handle("ff01"))
    link.limited.unacknowledged = 1
    try fixture.perform("disconnect")
    try await EventLoop.shared.sleep(for: .milliseconds(300))
    #expect(link.reason == nil)
    link.limited.unacknowledged = 0
    link.limited.onAcknowledgement?()
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    #expect(link.reason == .remoteUserTerminated)
    await fixture.device.end()
  }

  @Test(.onLoop) @LoopActor func linesThatCannotBe() async throws {
    let fixture = try ServedFixture()
    try await fixture.device.start()
    for line in [
      "set ff09 00", "set 0x0100 00", "set ff01@2902 0100", "set ff01 \(String(repeating: "00", count: 41))", "notify ff02 00",
      "indicate ff01 00", "notify ff01@2901 00", "fault ff09 silent", "fault disconnect on write ff09",
    ] {
      #expect(throws: (any Error).self, "\(line)") { try fixture.perform(line) }
    }
    #expect(fixture.value("ff01") == "0a0b" && fixture.take().isEmpty)
    await fixture.device.end()
  }

  /// A kernel's channel carries 672 bytes.
  @Test(.onLoop) @LoopActor func aPDUThatTheChannelCannotCarry() async throws {
    let fixture = try ServedFixture()
    let long = "fault ff01 raw \(String(repeating: "0b", count: 673))"
    try fixture.perform(long)
    try await fixture.device.start()
    let client = Client(fixture.radio.connect(largestPDU: 672).channel)
    #expect(try await client.read(fixture.handle("ff01")) == [0x0A, 0x0B])
    #expect(fixture.take().contains { $0.hasPrefix("fault raw: not sent") })
    #expect(throws: PeripheralLineError.self) { try fixture.perform(long) }
    try fixture.perform("fault ff01 raw \(String(repeating: "0b", count: 672))")
    var received: [Int] = []
    client.onPDU = { direction, pdu in if direction == .received { received.append(pdu.count) } }
    _ = try? await client.read(fixture.handle("ff01"))
    #expect(received.contains(672))
    await fixture.device.end()
  }

  /// What a radio cannot do.
  @Test(.onLoop) @LoopActor func effectsOfASimulator() async throws {
    let write = #"""
      {"uuid": "ff01", "properties": ["write"], "reactions": [
        {"when": "01", "then": [{"disconnect": "out_of_range"}]}, {"when": "02", "then": [{"controller_error": 3}]},
        {"when": "03", "then": [{"busy_ms": 500}]}]}
      """#
    let fixture = try ServedFixture(
      "\"firmware\": {}, ", services: "\"services\": [{\"uuid\": \"ff00\", \"characteristics\": [\(write)]}]")
    try await fixture.device.start()
    let (channel, link) = fixture.radio.connect()
    let client = Client(channel)
    let ff01 = fixture.handle("ff01")
    try await client.writeRequest([2], to: ff01)
    try await client.writeRequest([3], to: ff01)
    try await client.writeRequest([1], to: ff01)
    _ = try await client.untilClosed()
    #expect(link.reason == .remotePowerOff)
    #expect(
      fixture.take().filter { $0.hasPrefix("fault") }.map { $0.prefix { $0 != ":" } } == [
        "fault controller_error 3", "fault busy_ms", "fault out_of_range",
      ])
    await fixture.device.end()
  }

  // MARK: Pairing and bonded centrals

  private static let peer = PeerAddress(Address(rawValue: 0xC0_00_00_00_00_01), .random)
  private static let security = LinkSecurity(keySize: 16, isAuthenticated: true, isSecureConnections: true)
  private static let bond = Bond(
    identity: peer, irk: nil, keys: [LongTermKey(key: 1, security: security)], method: .justWorks)
  private static let paired = PairingResult(method: .justWorks, security: security, bond: bond)

  @LoopActor private static func manager() -> SecurityManager {
    SecurityManager(Pairing(role: .peripheral, own: PeerAddress(Address(rawValue: 9), .random), peer: peer))
  }

  private static let locked = #"""
    "services": [{"uuid": "1801", "characteristics": [{"uuid": "2a05", "properties": ["indicate"]}, {"uuid": "2b2a", "properties": ["read"]}]},
      {"uuid": "ff00", "characteristics": [
        {"uuid": "ff01", "properties": ["read", "notify"], "permissions": ["read_encrypted"], "value": "0a"},
        {"uuid": "ff02", "properties": ["read"], "permissions": ["read_authenticated"], "value": "0b"}%]}]
    """#

  private static func services(_ more: String = "") -> String { locked.replacing("%", with: more) }

  @Test(.onLoop) @LoopActor func theLevelOfTheLinkCounts() async throws {
    let fixture = try ServedFixture(services: Self.services())
    try await fixture.device.start()
    let (channel, link) = fixture.radio.connect()
    let client = Client(channel)
    func read(_ uuid: String) async -> String {
      do { return Hex.encode(try await client.read(fixture.handle(uuid))) } catch GATTError.errorResponse(let code, to: _, on: _) {
        return "att \(Hex.encode(code.rawValue))"
      } catch { return "\(error)" }
    }
    #expect(await [read("ff01"), read("ff02")] == ["att 0f", "att 05"])
    link.securityLevel = .encrypted
    #expect(await [read("ff01"), read("ff02")] == ["0a", "att 05"])
    link.securityLevel = .secureConnections
    #expect(await [read("ff01"), read("ff02")] == ["0a", "0b"])
    // The kernel pairs: the device knows no more than the level.
    #expect(fixture.take().filter { !$0.hasPrefix("read") } == ["connected", "encrypted"])
    #expect(fixture.device.memory.centrals.map(\.identity) == [Self.peer] && fixture.device.memory.centrals.first?.bond == nil)
    await fixture.device.end()
  }

  /// The kernel pairs as the file says. It reports the encryption late, and the result after that.
  @Test(.onLoop) @LoopActor func pairsThroughTheKernel() async throws {
    let fixture = try ServedFixture("\"security\": {}, ", services: Self.services())
    try await fixture.device.start()
    let (channel, link) = fixture.radio.connect()
    link.reportsLevel = false
    link.securityLevel = .encrypted
    #expect(try await Client(channel).read(fixture.handle("ff01")) == [0x0A])
    #expect(fixture.take().filter { !$0.hasPrefix("read") } == ["connected"])
    fixture.device.paired(link.peer, Self.paired)
    #expect(fixture.take() == ["paired"] && fixture.device.memory.centrals.map(\.bond) == [Self.bond])
    await fixture.device.end()
  }

  /// A bonded central has its subscriptions again when the link is encrypted, and hears of a changed file once.
  @Test(.onLoop) @LoopActor func remembersABondedCentral() async throws {
    let first = try ServedFixture("\"security\": {}, ", services: Self.services())
    var stores = 0
    first.device.memory.onChange = { stores += 1 }
    try await first.device.start()
    let manager = Self.manager()
    let client = Client(first.radio.connect(manager: manager).channel)
    manager.onEncrypted?(Self.security, Self.paired)
    for uuid in ["2a05", "ff01"] {
      _ = try await client.subscribe(try #require(try await client.resolve(try Selector(uuid)).characteristic))
    }
    let hash = try await client.read(first.handle("2b2a"))
    #expect(hash == first.description.database.databaseHash && hash.count == 16)
    await first.device.end()
    let centrals = first.device.memory.centrals
    #expect(stores == 3 && centrals.map(\.subscriptions.count) == [2] && centrals.first?.bond == Self.bond)
    #expect(first.take().contains("paired"))

    // The same file: nothing before the encryption, then the subscriptions, and no Service Changed.
    let again = try ServedFixture("\"security\": {}, ", services: Self.services(), centrals: centrals)
    try await again.device.start()
    let second = Self.manager()
    let next = Client(again.radio.connect(manager: second).channel)
    var heard: [String] = []
    next.onPDU = { direction, pdu in if direction == .received { heard.append(Hex.encode(pdu)) } }
    #expect(second.bond == Self.bond)
    #expect(try again.perform("notify ff01 01") == 0)
    second.onEncrypted?(Self.security, nil)
    #expect(try again.perform("notify ff01 02") == 1)
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(heard == ["1b" + again.description.hex("ff01") + "02"])
    await again.device.end()

    // Another file: the hash differs, and the central must confirm that it heard of it.
    let changed = Self.services(#", {"uuid": "ff03", "properties": ["read"]}"#)
    var stored = centrals
    for (confirms, hears) in [(false, true), (true, true), (true, false)] {
      let other = try ServedFixture("\"security\": {}, ", services: changed, centrals: stored)
      try await other.device.start()
      let third = Self.manager()
      let (channel, _) = other.radio.connect(manager: third)
      var pdus: [String] = []
      channel.handler = { event in
        guard case .received(let pdu) = event else { return }
        pdus.append(Hex.encode(pdu))
        if confirms, pdu.first == 0x1D { channel.send([0x1E]) }
      }
      third.onEncrypted?(Self.security, nil)
      try await EventLoop.shared.sleep(for: .seconds(1))
      let isKnown = other.device.memory.centrals.first?.databaseHash == other.description.database.databaseHash
      #expect(isKnown == confirms)
      #expect(pdus == (hears ? ["1d" + other.description.hex("2a05") + "0100ffff"] : []))
      await other.device.end()
      stored = other.device.memory.centrals
    }
  }

  @Test(.onLoop) @LoopActor func aSubscriptionToAnotherCharacteristicIsVoid() async throws {
    let fixture = try ServedFixture("\"security\": {}, ", services: Self.services())
    var central = BondedCentral(identity: Self.peer, bond: Self.bond, databaseHash: fixture.description.database.databaseHash)
    let ff01 = fixture.handle("ff01")
    central.subscriptions = [
      .init(handle: ff01, uuid: UUID(0xFF09), bits: 1), .init(handle: ff01.next, uuid: UUID(0x2902), bits: 1),
      .init(handle: fixture.handle("2a05"), uuid: .serviceChanged, bits: 1), .init(handle: 0xFFFF, uuid: UUID(0xFF01), bits: 1),
    ]
    #expect(central.bits(in: fixture.description.database).isEmpty)
    central.subscriptions = [.init(handle: ff01, uuid: UUID(0xFF01), bits: 1)]
    #expect(central.bits(in: fixture.description.database) == [ff01: 1])
  }

  /// Many centrals pair, with private addresses: the device forgets the oldest ones.
  @Test(.onLoop) @LoopActor func keepsAsManyCentralsAsItCan() async throws {
    let fixture = try ServedFixture("\"security\": {}, ")
    try await fixture.device.start()
    for number: UInt64 in 1...300 {
      let identity = PeerAddress(Address(rawValue: number), .public)
      let manager = SecurityManager(
        Pairing(role: .peripheral, own: Self.peer, peer: PeerAddress(Address(rawValue: 0xC0_00_00_00_00_00 + number), .random)))
      let (_, link) = fixture.radio.connect(number, manager: manager)
      let bond = Bond(identity: identity, irk: nil, keys: [LongTermKey(key: 1, security: Self.security)], method: .justWorks)
      manager.onEncrypted?(Self.security, PairingResult(method: .justWorks, security: Self.security, bond: bond))
      await link.disconnect(reason: .remoteUserTerminated)
    }
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(fixture.device.memory.centrals.count == 256 && fixture.device.memory.centrals.last?.identity.address.rawValue == 300)
    #expect(fixture.device.device.bonds.isEmpty && fixture.device.device.connectionCount == 0)
    await fixture.device.end()
  }

  /// A device can claim any identity. Its weaker bond replaces no other.
  @Test(.onLoop) @LoopActor func aClaimedIdentity() async throws {
    let fixture = try ServedFixture("\"security\": {}, ", centrals: [BondedCentral(identity: Self.peer, bond: Self.bond, databaseHash: [])])
    try await fixture.device.start()
    let stranger = SecurityManager(Pairing(role: .peripheral, own: Self.peer, peer: PeerAddress(Address(rawValue: 7), .random)))
    _ = fixture.radio.connect(7, manager: stranger)
    let weak = LinkSecurity(keySize: 16, isAuthenticated: false, isSecureConnections: true)
    let claim = Bond(identity: Self.peer, irk: nil, keys: [LongTermKey(key: 2, security: weak)], method: .justWorks)
    stranger.onEncrypted?(weak, PairingResult(method: .justWorks, security: weak, bond: claim))
    #expect(fixture.device.memory.centrals.map(\.bond) == [Self.bond])
    await fixture.device.end()
  }

  @Test(.onLoop) @LoopActor func forgetsBonds() async throws {
    let central = BondedCentral(identity: Self.peer, bond: Self.bond, databaseHash: [])
    let fixture = try ServedFixture("\"security\": {}, ", centrals: [central])
    try await fixture.device.start()
    let manager = Self.manager()
    _ = fixture.radio.connect(manager: manager)
    #expect(manager.bond == Self.bond)
    try fixture.perform("fault forget bonds")
    #expect(manager.bond == nil && fixture.device.memory.centrals.isEmpty)
    let next = Self.manager()
    _ = fixture.radio.connect(2, manager: next)
    #expect(next.bond == nil && fixture.take().contains("fault forget bonds"))
    await fixture.device.end()
    let other = try ServedFixture("\"security\": {}, \"faults\": [\"fault forget bonds\"], ", centrals: [central])
    #expect(other.device.memory.centrals.isEmpty)
  }

  @Test(.onLoop) @LoopActor func refusesToPair() async throws {
    @LoopActor final class Wire: SecurityLink {
      var sent: [[UInt8]] = []
      func sendSecurity(_ pdu: [UInt8]) { sent.append(pdu) }
      func encrypt(key: UInt128, ediv: UInt16, rand: UInt64) {}
      func answerKeyRequest(_ key: UInt128?) {}
    }
    let fixture = try ServedFixture("\"security\": {}, ")
    try await fixture.device.start()
    let (manager, wire) = (Self.manager(), Wire())
    manager.link = wire
    _ = fixture.radio.connect(manager: manager)
    let request: [UInt8] = [0x01, 0x03, 0x00, 0x09, 0x10, 0x00, 0x00]
    try fixture.perform("fault refuse pairing repeated_attempts")
    manager.receive(request)
    #expect(wire.sent == [[0x05, 0x09]])
    #expect(fixture.take() == ["connected", "fault refuse pairing repeated_attempts"])
    try fixture.perform("fault off")
    manager.receive(request)
    #expect(wire.sent.last?.first == 0x02 && fixture.take().isEmpty)
    await fixture.device.end()
  }
}
