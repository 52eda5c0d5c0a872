import TestSupport

@testable import BluetoothLESimulator

/// What a bonded central learns when the attributes of a served device change (Vol 3 Part G §2.5.2.1, §7), and what a radio cannot follow.
@Suite(.timeLimit(.minutes(15))) struct ServedChangesTests {
  private static let peer = PeerAddress(Address(rawValue: 0xC0_00_00_00_00_01), .random)
  private static let security = LinkSecurity(keySize: 16, isAuthenticated: false, isSecureConnections: true)
  private static let bond = Bond(identity: peer, irk: nil, keys: [LongTermKey(key: 1, security: security)], method: .justWorks)

  private static func services(_ more: String = "") -> String {
    #"""
    "services": [
      {"uuid": "1801", "characteristics": [
        {"uuid": "2a05", "properties": ["indicate"]}, {"uuid": "2b29", "properties": ["read", "write"], "value": "00"},
        {"uuid": "2b2a", "properties": ["read"]}]},
      {"uuid": "ff00", "characteristics": [
        {"uuid": "ff01", "properties": ["read", "write_without_response", "notify"], "value": "0a"}\#(more)]}]
    """#
  }

  /// A bonded central on a new link, which sends PDUs as its test says.
  @LoopActor private final class Bonded {
    let channel: MemoryChannel
    private let manager: SecurityManager
    private let link: ServedLink
    private var received: [String] = []
    var confirms = false

    init(_ fixture: ServedFixture) {
      manager = SecurityManager(Pairing(role: .peripheral, own: PeerAddress(Address(rawValue: 9), .random), peer: peer))
      (channel, link) = fixture.radio.connect(manager: manager)
      channel.handler = { [weak self] event in
        guard case .received(let pdu) = event, let self else { return }
        received.append(Hex.encode(pdu))
        if confirms, pdu.first == 0x1D { channel.send([0x1E]) }
      }
    }

    func encrypt(pairs: Bool = false) {
      manager.onEncrypted?(security, pairs ? PairingResult(method: .justWorks, security: security, bond: bond) : nil)
    }

    func ask(_ hex: String...) async throws -> [String] {
      for hex in hex { channel.send(Hex.decode(hex) ?? []) }
      try await EventLoop.shared.sleep(for: .milliseconds(10))
      defer { received = [] }
      return received
    }

    func leave() async throws {
      await link.disconnect(reason: .remoteUserTerminated)
      try await EventLoop.shared.sleep(for: .milliseconds(10))
    }
  }

  /// Pairs, announces robust caching, and subscribes to Service Changed and to ff01.
  @LoopActor private static func paired(_ fixture: ServedFixture) async throws -> Bonded {
    let central = Bonded(fixture)
    central.encrypt(pairs: true)
    for (uuid, bits) in [("2a05", "0200"), ("ff01", "0100")] where fixture.handle(uuid) != 0 {
      #expect(try await central.ask("12" + fixture.description.configuration(uuid) + bits) == ["13"])
    }
    if fixture.handle("2b29") != 0 { #expect(try await central.ask("12" + fixture.description.hex("2b29") + "01") == ["13"]) }
    return central
  }

  /// Another file: the central gets Database Out Of Sync once, and no values before. Its features hold for all links.
  @Test(.onLoop) @LoopActor func robustCaching() async throws {
    let first = try ServedFixture("\"security\": {}, ", services: Self.services())
    try await first.device.start()
    let central = try await Self.paired(first)
    try await central.leave()
    #expect(first.device.memory.centrals.first?.features == [1])
    await first.device.end()

    let changed = Self.services(#", {"uuid": "ff02", "properties": ["read"], "value": "0b"}"#)
    let second = try ServedFixture("\"security\": {}, ", services: changed, centrals: first.device.memory.centrals)
    try await second.device.start()
    let (ff01, known) = (second.description.hex("ff01"), second.description.database.databaseHash)
    for confirms in [false, true] {
      let next = Bonded(second)
      next.confirms = confirms
      #expect(try await next.ask("0a" + second.description.hex("2b29")) == ["0b00"])
      next.encrypt()
      #expect(try await next.ask() == ["1d" + second.description.hex("2a05") + "0100ffff"])
      #expect(try await next.ask("0a" + second.description.hex("2b29")) == [confirms ? "0b01" : "010a\(second.description.hex("2b29"))12"])
      #expect(try second.perform("notify ff01 0c") == (confirms ? 1 : 0))
      #expect(try await next.ask("52\(ff01)0d") == (confirms ? ["1b\(ff01)0c"] : []))
      #expect(second.value("ff01") == (confirms ? "0d" : "0c"))
      #expect((second.device.memory.centrals.first?.databaseHash == known) == confirms)
      try await next.leave()
    }
    // Nothing new on the next link.
    let last = Bonded(second)
    last.encrypt()
    #expect(try await last.ask("0a\(ff01)") == ["0b0d"])
    await second.device.end()

    // The request after the error makes the central aware, too.
    let third = try ServedFixture("\"security\": {}, ", services: changed, centrals: first.device.memory.centrals)
    try await third.device.start()
    let other = Bonded(third)
    other.encrypt()
    _ = try await other.ask()
    #expect(try await other.ask("0a\(ff01)", "0a\(ff01)") == ["010a\(ff01)12", "0b0a"])
    #expect(third.device.memory.centrals.first?.databaseHash == known)
    await third.device.end()
  }

  /// A bootloader has other attributes: the bonded central hears of them, and again when the application is back.
  @Test(.onLoop) @LoopActor func anUpdatableDevice() async throws {
    let fixture = try ServedFixture(#""security": {}, "update": {"dfu": {"buttonless": "bonds"}}, "#)
    try await fixture.device.start()
    let central = try await Self.paired(fixture)
    let device = fixture.device.device
    let application = device.store.database.databaseHash
    #expect(fixture.device.memory.centrals.map(\.databaseHash) == [application])
    for isBootloader in [true, false] {
      if isBootloader { device.bootloader?.enterBootloader() } else { device.powerCut() }
      try await EventLoop.shared.sleep(for: .seconds(5))
      #expect(device.bootloader?.isActive == isBootloader && (device.store.database.databaseHash == application) != isBootloader)
      for isNew in [true, false] {
        let next = Bonded(fixture)
        next.confirms = true
        next.encrypt()
        #expect(try await next.ask() == (isNew ? ["1d" + device.description.hex("2a05") + "0100ffff"] : []))
        #expect(fixture.device.memory.centrals.map(\.databaseHash) == [device.store.database.databaseHash])
        try await next.leave()
      }
    }
    _ = central
    await fixture.device.end()
  }

  /// A start of the firmware resets the values, but not the Database Hash.
  @Test(.onLoop) @LoopActor func theHashAfterARestart() async throws {
    let fixture = try ServedFixture(#""security": {}, "update": {"mcumgr": {}}, "#, services: Self.services())
    try await fixture.device.start()
    _ = try await Self.paired(fixture)
    fixture.device.device.powerCut()
    try await EventLoop.shared.sleep(for: .seconds(5))
    let next = Bonded(fixture)
    next.encrypt()
    let hash = Hex.encode(fixture.device.device.store.database.databaseHash)
    #expect(try await next.ask("0a" + fixture.description.hex("2b2a")) == ["0b" + hash])
    await fixture.device.end()
  }

  /// A central that takes nothing stops to get values, and the operator hears of it once.
  @Test(.onLoop) @LoopActor func valuesThatACentralDoesNotTake() async throws {
    let fixture = try ServedFixture()
    try await fixture.device.start()
    let central = Bonded(fixture)
    #expect(try await central.ask("12" + fixture.description.configuration("ff01") + "0100") == ["13"])
    let link = try #require(fixture.radio.links.last)
    for _ in 0..<600 { try fixture.perform("notify ff01 01") }
    #expect(try await central.ask().count == 600)
    _ = fixture.take()
    for (waiting, isSent) in [(511, true), (512, false), (600, false), (0, true), (512, false)] {
      link.limited.unacknowledged = waiting
      try fixture.perform("notify ff01 01")
      #expect(try await central.ask().isEmpty != isSent, "\(waiting)")
    }
    let fault = "fault not sent, because 512 values wait for the central ff01"
    #expect(fixture.take() == ["notified ff01 01", fault, "notified ff01 01", fault])
    link.limited.unacknowledged = 0
    await fixture.device.end()
  }

  // MARK: What a radio cannot follow

  @Test(
    .onLoop,
    arguments: [
      ("", true, []), (#""interval_ms": 100, "mtu": 100, "#, true, []), (#""rssi": -70, "#, true, ["rssi"]),
      (
        #""firmware": {}, "link": {"seed": 1}, "failing_connections": 1, "packets_per_event": 2, "phys": ["1m"], "data_length": 27, "#,
        true,
        ["data_length", "phys", "packets_per_event", "failing_connections", "link", "firmware"]
      ), (#""security": {}, "rssi": 1, "#, false, ["rssi"]),
      (#""security": {"mitm": true, "key_size": 8}, "#, false, ["mitm", "key_size"]),
      (#""security": {"mitm": true, "key_size": 8}, "#, true, []),
      (#""update": {"dfu": {"buttonless": "no_bonds"}}, "#, true, ["update.dfu.buttonless"]),
      (#""update": {"dfu": {"buttonless": "bonds"}}, "#, true, []),
    ])
  @LoopActor func unfollowedKeys(_ row: (file: String, hasSecurityManager: Bool, keys: [String])) async throws {
    let fixture = try ServedFixture(row.file)
    fixture.radio.hasSecurityManager = row.hasSecurityManager
    #expect(fixture.device.unfollowedKeys == row.keys)
    let description = try ServedFixture(row.file, services: ServedFixture.services).description
    #expect(description.simulatorKeys == row.keys.filter { !["mitm", "key_size"].contains($0) })
  }
}
