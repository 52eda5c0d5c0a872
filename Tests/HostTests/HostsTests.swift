import BluetoothLESimulator
import TestSupport

/// Our host on both sides of simulated links.
@Suite(.timeLimit(.minutes(15))) struct HostsTests {
  @LoopActor private final class Device {
    let central: HostCentral
    let peripheral: any PeripheralRole
    let controller: VirtualController
    let store: AttributeStore
    private(set) var links: [any CentralLink] = []
    var open = 0
    var bonds: [PeerAddress: Bond] = [:]

    init(_ air: Air, _ configuration: VirtualController.Configuration) async throws {
      controller = VirtualController(air: air, address: Address(rawValue: 0x00_00_5E_00_53_77), configuration: configuration)
      central = try await HostCentral.started(controller, name: "device")
      peripheral = try #require(central.peripheral)
      var service = AttributeDatabase.ServiceDescription(UUID(0xFFF0 as UInt32))
      service.characteristics = ([(0xFFF1, [.read, .write, .notify]), (0xFFF2, .read)] as [(UInt32, Properties)]).map {
        var item = AttributeDatabase.CharacteristicDescription(UUID($0.0), $0.1)
        item.value = [7]
        if $0.0 == 0xFFF2 { item.permissions = [.read, .readEncrypted] }
        return item
      }
      store = AttributeStore(try AttributeDatabase(services: [service]))
      peripheral.onCentral = { [weak self] in self?.serve($0) }
    }

    private func serve(_ link: any CentralLink) {
      links.append(link)
      open += 1
      let server = Server(store: store, bearer: Bearer(link.channel))
      link.onSecurityLevel = { [weak server] in server?.security = $0 >= .encrypted ? .encrypted : .none }
      link.manager?.acceptance = .accept(PairingParameters())
      link.manager?.bond = bonds[link.peer]
      link.manager?.onEncrypted = { [weak self, peer = link.peer] in if let bond = $1?.bond { self?.bonds[peer] = bond } }
      server.onWrite = { [weak server] handle, value, _ in server?.notify(handle, value.reversed()) }
      server.onClosed = { [weak self] _ in self?.open -= 1 }
      server.start()
    }
  }

  private final class Person: PairingUser {
    func passkey() async -> SixDigits? { nil }
    func show(_ passkey: SixDigits) {}
    func isSame(_ number: SixDigits) async -> Bool { true }
  }

  @LoopActor private static func phone(_ air: Air, _ number: UInt64, _ extended: Bool) async throws -> (HostCentral, VirtualController) {
    var configuration = VirtualController.Configuration()
    configuration.extended = extended
    let controller = VirtualController(air: air, address: Address(rawValue: 0x00_00_5E_00_53_80 + number), configuration: configuration)
    return (try await HostCentral.started(controller, name: "phone \(number)"), controller)
  }

  @LoopActor private static func device(_ air: Air, _ extended: Bool, places: Int = 8) async throws -> (Device, PeerAddress) {
    var configuration = VirtualController.Configuration()
    (configuration.extended, configuration.maxConnections) = (extended, places)
    let device = try await Device(air, configuration)
    var advertising = Advertising()
    advertising.data = [2, 1, 6]
    advertising.scanResponse = [5, 9] + Array("Disk".utf8)
    try await device.peripheral.advertise(advertising)
    return (device, try #require(device.peripheral.advertisedAddress))
  }

  /// A device with three places, and four phones that read, write, get notifications, pair, and come back with their bonds.
  @Test(.onLoop, arguments: [false, true]) @LoopActor func phonesTakeTurns(_ extended: Bool) async throws {
    let air = Air(seed: 5)
    let (device, peer) = try await Self.device(air, extended, places: 3)
    var phones: [(HostCentral, VirtualController)] = []
    for number in 0..<4 as Range<UInt64> { phones.append(try await Self.phone(air, number, extended)) }
    var reports: [AdvertisingReport] = []
    _ = try await withDeadline(EventLoop.shared.now.advanced(by: .seconds(1))) {
      try await phones[0].0.scan(ScanParameters(), started: {}) { reports.append($0) }
    }
    #expect(reports.contains { $0.pdu == .connectable } && reports.contains { $0.pdu == .scanResponse })

    var links: [any Link] = []
    var bonds: [Bond] = []
    for (central, _) in phones.prefix(3) {
      let link = try await central.connect(peer, timeout: .seconds(5))
      links.append(link)
      let client = Client(Bearer(link.channel))
      let table = try await client.discover()
      #expect(table.characteristics.map(\.uuid) == [UUID(0xFFF1 as UInt32), UUID(0xFFF2 as UInt32)])
      let item = table.characteristics[0]
      let subscription = try await client.subscribe(item)
      try await client.writeRequest([1, 2, 3], to: item.valueHandle)
      #expect(try await subscription.next(until: EventLoop.shared.now.advanced(by: .seconds(5)))?.value == [3, 2, 1])
      #expect(try await client.read(item.valueHandle) == [1, 2, 3])
      await #expect(throws: GATTError.self) { try await client.read(table.characteristics[1].valueHandle) }
      let result = try #require(try await link.security?.pair(PairingParameters(), user: Person(), keep: { _ in }))
      bonds.append(try #require(result.bond))
      #expect(try await client.read(table.characteristics[1].valueHandle) == [7])
    }
    #expect(device.open == 3 && device.bonds.count == 3)
    // The longest packets, without a request of the phone.
    #expect(try await device.links[0].parameters().maxTxOctets == 251)
    #expect(try await device.links[0].requestInterval(.milliseconds(50)).interval == .milliseconds(50))

    // The controller is full. The fourth phone connects when another one leaves.
    let late = await failure { _ = try await phones[3].0.connect(peer, timeout: .seconds(5)) }
    #expect(late as? GAPError == .noConnection(peer, within: .seconds(5)))
    let waiting = EventLoop.shared.spawn { try? await phones[3].0.connect(peer, timeout: .seconds(5)) }
    await links[1].disconnect()
    #expect(await waiting.value != nil && device.open == 3)
    await device.links[0].disconnect(reason: .remotePowerOff)
    let again = try await phones[1].0.connect(peer, timeout: .seconds(5))
    try await again.security?.encrypt(with: bonds[1])
    try await settle()
    #expect(device.links.last?.securityLevel == .encrypted)

    // The end: all phones know within half a second, and the device is gone.
    let start = EventLoop.shared.now
    await device.peripheral.end()
    try await settle()
    #expect(start.duration(to: EventLoop.shared.now) < .milliseconds(500))
    #expect(device.open == 0 && phones.allSatisfy { $0.0.openLinks.isEmpty })
    _ = await failure { _ = try await phones[0].0.connect(peer, timeout: .seconds(2)) }
    for (central, controller) in phones {
      await central.close()
      #expect(controller.violations.isEmpty, "\(controller.violations)")
    }
    await device.central.close()
    #expect(device.controller.violations.isEmpty, "\(device.controller.violations)")
  }

  /// A thousand connections of four phones at the same time, which leave nothing behind.
  @Test(.onLoop) @LoopActor func aThousandConnections() async throws {
    let air = Air(seed: 6)
    let (device, peer) = try await Self.device(air, true)
    var tasks: [Task<Int, Never>] = []
    for number in 0..<4 as Range<UInt64> {
      let (central, _) = try await Self.phone(air, number, number.isMultiple(of: 2))
      tasks.append(
        EventLoop.shared.spawn {
          var count = 0
          let error = await failure {
            for _ in 0..<250 {
              let link = try await central.connect(peer, timeout: .seconds(20))
              if case .read([7]) = try await Bearer(link.channel).request(.read(3)) { count += 1 }
              await link.disconnect()
            }
          }
          #expect(error == nil)
          await central.close()
          return count
        })
    }
    var count = 0
    for task in tasks { count += await task.value }
    try await EventLoop.shared.sleep(for: .seconds(5))
    #expect(count == 1000 && device.links.count == 1000 && device.open == 0 && device.central.openLinks.isEmpty)
    await device.central.close()
    #expect(device.controller.violations.isEmpty, "\(device.controller.violations)")
  }

  /// One adapter in both roles: it scans and connects while a phone uses its device.
  @Test(.onLoop, arguments: [false, true]) @LoopActor func bothRolesOnOneAdapter(_ extended: Bool) async throws {
    let air = Air(seed: 7)
    air.add(Echo(lock))
    let (device, peer) = try await Self.device(air, extended)
    let (phone, _) = try await Self.phone(air, 0, extended)
    let incoming = try await phone.connect(peer, timeout: .seconds(5))
    var heard = false
    _ = try await withDeadline(EventLoop.shared.now.advanced(by: .seconds(1))) {
      try await device.central.scan(ScanParameters(), started: {}) { if $0.peer == lock { heard = true } }
    }
    let outgoing = try await device.central.connect(lock, timeout: .seconds(5))
    #expect(heard && device.central.openLinks.count == 2)
    let (second, _) = try await Self.phone(air, 1, extended)
    _ = try await second.connect(peer, timeout: .seconds(5))
    await device.peripheral.end()
    #expect(device.central.openLinks.map(\.peer) == [lock])
    await outgoing.disconnect()
    for central in [phone, second, device.central] { await central.close() }
    _ = incoming
    #expect(device.controller.violations.isEmpty, "\(device.controller.violations)")
  }
}
