import BluetoothLESimulator
import Foundation
import TestSupport

/// The peripheral role of our own host, with Bumble as the central and both controllers of Bumble.
@Suite(.serialized, .timeLimit(.minutes(15))) struct BumbleCentralTests {
  private static let isTimeReal: Bool = ProcessInfo.processInfo.environment["BLECTL_CLOCK"] == "real"
  private static let address = "00:1B:DC:00:00:01/P"

  /// A device that stores FFF1, notifies FFF2, indicates FFF3, and has FFF4 for encrypted and FFF5 for authenticated links.
  @LoopActor private final class Device {
    let central: HostCentral
    let peripheral: any PeripheralRole
    private let store: AttributeStore
    private(set) var links: [any CentralLink] = []
    private(set) var servers: [Server] = []
    /// The parameters of the next pairings, and the bond with each peer.
    var parameters = PairingParameters()
    var person = Person()
    private(set) var bonds: [PeerAddress: Bond] = [:]
    private(set) var results: [PairingResult] = []

    init(_ central: HostCentral) throws {
      self.central = central
      peripheral = try #require(central.peripheral)
      var service = AttributeDatabase.ServiceDescription(UUID(0xFFF0 as UInt32))
      service.characteristics = [
        (0xFFF1, [.read, .write, .writeWithoutResponse], nil), (0xFFF2, .notify, nil), (0xFFF3, .indicate, nil),
        (0xFFF4, .read, [.read, .readEncrypted]), (0xFFF5, .read, [.read, .readAuthenticated]),
      ].map { (uuid: UInt32, properties: Properties, permissions: AttributeDatabase.Permissions?) in
        var item = AttributeDatabase.CharacteristicDescription(UUID(uuid), properties)
        (item.value, item.permissions) = ([UInt8(uuid & 0xFF)], permissions)
        return item
      }
      store = AttributeStore(try AttributeDatabase(services: [service]))
      peripheral.onCentral = { [weak self] in self?.serve($0) }
    }

    func advertise() async throws {
      var advertising = Advertising()
      advertising.data = [2, 1, 6, 5, 9] + Array("Disk".utf8)
      try await peripheral.advertise(advertising)
    }

    private func serve(_ link: any CentralLink) {
      let server = Server(store: store, bearer: Bearer(link.channel))
      link.onSecurityLevel = { [weak server] level in
        server?.security = level >= .authenticated ? .authenticated : level >= .encrypted ? .encrypted : .none
      }
      link.manager?.user = person
      link.manager?.acceptance = .accept(parameters)
      link.manager?.bond = bonds[link.peer]
      link.manager?.onEncrypted = { [weak self, peer = link.peer] _, result in
        guard let self, let result else { return }
        results.append(result)
        bonds[peer] = result.bond
      }
      var subscribed: Set<AttributeHandle> = []
      server.onSubscription = { handle, _ in subscribed.insert(handle) }
      // A command: Bumble reports that it is sent before it reports what follows.
      server.onWrite = { [weak server] _, _, kind in
        guard let server, kind == .command else { return }
        for handle in subscribed {
          for number in 1...3 as ClosedRange<UInt8> where !server.notify(handle, [number]) { server.indicateWhenFree(handle, [number]) }
        }
      }
      links.append(link)
      servers.append(server)
      server.start()
    }
  }

  private final class Person: PairingUser {
    var shown: SixDigits?
    func passkey() async -> SixDigits? { SixDigits(246_810) }
    func show(_ passkey: SixDigits) { shown = passkey }
    func isSame(_ number: SixDigits) async -> Bool { true }
  }

  private func device(_ bumble: BumbleClient) async throws -> Device {
    let adapter = "tcp:127.0.0.1:\(try #require(bumble.port))"
    return try await onLoop {
      let transport = try await StreamTransport.connect(to: try TransportAddress(adapter), timeout: .seconds(HangGuard.seconds))
      let device = try Device(try await HostCentral.started(transport, name: adapter))
      try await device.advertise()
      return device
    }
  }

  @Test(.enabled(if: isTimeReal, "in this process time must be real: BLECTL_CLOCK=real"), arguments: ["legacy", "extended"])
  func usesOurDevice(_ kind: String) async throws {
    let bumble = try BumbleClient("air:\(kind)")
    let device = try await device(bumble)
    for _ in 0..<2 {
      #expect(try bumble.ask("scan").strings("addresses") == ["00:1B:DC:00:00:01"])
      let link = try bumble.ask("connect \(Self.address)")
      #expect(link.int("mtu") == 517 && link.int("characteristics") == 5)
      #expect(try bumble.ask("read fff1").string("value") != nil)
      let long = String(repeating: "0123456789abcdef", count: 40)
      try bumble.ask("write fff1 \(long)")
      #expect(try bumble.ask("read fff1").string("value") == long)
      try bumble.ask("subscribe fff2")
      try bumble.ask("subscribe fff3")
      try bumble.ask("command fff1 c0ffee")
      let values = try (0..<6).compactMap { _ in try bumble.next("value") }
      for name in ["fff2", "fff3"] {
        #expect(values.filter { $0.string("uuid") == name }.compactMap { $0.string("value") } == ["01", "02", "03"])
      }
      #expect(try bumble.ask("read fff1").string("value") == "c0ffee")
      #expect(throws: BumbleClient.Failed.self) { try bumble.ask("read fff4") }
      // A second central could connect: the device advertises again. The link's bearer also serves our own client.
      #expect(try bumble.ask("scan").strings("addresses") == ["00:1B:DC:00:00:01"])
      let (name, interval) = try await onLoop {
        let (link, server) = (try #require(device.links.last), try #require(device.servers.last))
        let client = Client(server.bearer)
        let table = try await client.discover()
        let item = try #require(table.characteristics.first { $0.uuid == UUID(0x2A00 as UInt32) })
        let name = try await client.read(item.valueHandle)
        return (String(decoding: name, as: UTF8.self), try await link.requestInterval(.milliseconds(50)).interval)
      }
      #expect(name == "client" && interval == .milliseconds(50))
      try bumble.ask("disconnect")
    }
    // The end of the peripheral role ends the link and the advertisements.
    try bumble.ask("connect \(Self.address)")
    try await onLoop { await device.peripheral.end() }
    #expect(try bumble.next("disconnected")?.int("reason") == 0x13)
    #expect(try bumble.ask("scan").strings("addresses") == [])
    await device.central.close()
    bumble.end()
  }

  /// Just Works and a passkey, with LE Secure Connections and without. The next link uses the key.
  @Test(
    .enabled(if: isTimeReal, "in this process time must be real: BLECTL_CLOCK=real"),
    arguments: [true, false].flatMap { isSecure in [true, false].map { (isSecure, $0) } })
  func pairsWithOurDevice(_ row: (isSecure: Bool, hasPasskey: Bool)) async throws {
    let bumble = try BumbleClient("air:legacy")
    let device = try await device(bumble)
    try await onLoop {
      device.parameters = PairingParameters(ioCapability: row.hasPasskey ? .displayOnly : .noInputNoOutput)
      device.parameters.passkey = SixDigits(246_810)
    }
    let kind = "\(row.hasPasskey ? 2 : 3)/\(row.isSecure ? 1 : 0)/\(row.hasPasskey ? 1 : 0)"
    let pairings = try bumble.ask("pair \(Self.address) 1 \(kind)").records("pairings")
    #expect(pairings.first?.bool("authenticated") == row.hasPasskey && pairings.first?.bool("secure_connections") == row.isSecure)
    let (result, shown) = try await onLoop { (device.results.first, device.person.shown) }
    #expect(result?.security == LinkSecurity(keySize: 16, isAuthenticated: row.hasPasskey, isSecureConnections: row.isSecure))
    #expect((shown != nil) == row.hasPasskey)

    try bumble.ask("connect \(Self.address)")
    #expect(throws: BumbleClient.Failed.self) { try bumble.ask("read fff4") }
    try bumble.ask("secure")
    #expect(try bumble.ask("read fff4").string("value") == "f4")
    if row.hasPasskey {
      #expect(try bumble.ask("read fff5").string("value") == "f5")
    } else {
      #expect(throws: BumbleClient.Failed.self) { try bumble.ask("read fff5") }
    }
    let level = try await onLoop { device.links.last?.securityLevel }
    #expect(level == (!row.hasPasskey ? .encrypted : row.isSecure ? .secureConnections : .authenticated))
    #expect(try await onLoop { device.results.count } == 1)
    await device.central.close()
    bumble.end()
  }
}
