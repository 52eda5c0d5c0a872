import TestSupport

@testable import BluetoothLESimulator

/// A served device on blectl's own host and a simulated controller, with what its links leave behind.
@LoopActor
final class ServedHost {
  let air: Air
  let host: HostCentral
  let controller: VirtualController
  let device: ServedDevice
  let address: PeerAddress
  private(set) var events: [ServedEvent] = []
  /// The parts of each link. They end with it.
  private(set) var parts: [Weak] = []
  private(set) var connections = 0

  struct Weak {
    weak var value: AnyObject?
  }

  init(
    _ description: PeripheralDescription, seed: UInt64 = 1, extended: Bool = true, centrals: [BondedCentral] = []
  ) async throws {
    air = Air(seed: seed)
    (host, controller) = try await Self.host(air, 0, extended)
    let peripheral = try #require(host.peripheral)
    device = ServedDevice(description, on: peripheral, centrals: centrals)
    address = try #require(peripheral.advertisedAddress)
    device.onEvent = { [weak self] in self?.take($0) }
    try await device.start()
  }

  private func take(_ event: ServedEvent) {
    events.append(event)
    guard case .connected = event.kind, let link = device.device.links.last, let channel = link.channel as? ServedChannel else { return }
    connections += 1
    parts.removeAll { $0.value == nil }
    let objects: [AnyObject?] = [channel, channel.link, link.server, link.server.bearer, channel.manager]
    parts += objects.map { Weak(value: $0) }
  }

  func takeEvents() -> [ServedEvent] {
    defer { events = [] }
    return events
  }

  /// Starts a central on the same air. Numbers begin at 1.
  func phone(_ number: UInt64, extended: Bool = true) async throws -> HostCentral { try await Self.host(air, number, extended).0 }

  private static func host(_ air: Air, _ number: UInt64, _ extended: Bool) async throws -> (HostCentral, VirtualController) {
    var configuration = VirtualController.Configuration()
    configuration.extended = extended
    let controller = VirtualController(air: air, address: Address(rawValue: 0x00_00_5E_00_53_90 + number), configuration: configuration)
    return (try await HostCentral.started(controller, name: "host \(number)"), controller)
  }

  /// Ends the device, and checks that nothing is left.
  func end(_ phones: [HostCentral]) async throws {
    await device.end()
    try await EventLoop.shared.sleep(for: .seconds(5))
    parts.removeAll { $0.value == nil }
    #expect(parts.isEmpty, "\(parts.compactMap { $0.value.map { "\(type(of: $0))" } })")
    #expect(device.device.links.isEmpty && device.device.bonds.isEmpty && host.openLinks.isEmpty && controller.connections.isEmpty)
    for phone in phones { await phone.close() }
    await host.close()
    #expect(controller.violations.isEmpty, "\(controller.violations)")
  }
}

/// A central that sends any PDU over its link, and collects the PDUs of the device.
@LoopActor
final class RawCentral {
  let link: any Link
  private(set) var received: [[UInt8]] = []
  private(set) var end: (any Error)?
  private let news = Gate()
  /// Whether the central confirms indications.
  var confirms = false

  init(_ link: any Link) {
    self.link = link
    link.channel.handler = { [weak self] in self?.take($0) }
  }

  private func take(_ event: ChannelEvent) {
    switch event {
    case .received(let pdu):
      received.append(pdu)
      if confirms, pdu.first == 0x1D { link.channel.send([0x1E]) }
    case .closed(let error): end = error
    default: break
    }
    news.open()
  }

  func send(_ hex: String) { link.channel.send(Hex.decode(hex) ?? []) }

  /// Returns the next PDU in hex. Nil if none arrives within `limit`.
  func next(within limit: Duration = .seconds(1)) async throws -> String? {
    let deadline = EventLoop.shared.now.advanced(by: limit)
    while received.isEmpty, end == nil {
      guard try await news.pass(until: deadline) else { return nil }
    }
    return received.isEmpty ? nil : Hex.encode(received.removeFirst())
  }

  /// Sends a request, and returns its answer in hex with the time that it took.
  func ask(_ hex: String) async throws -> (answer: String?, time: Duration) {
    let start = EventLoop.shared.now
    send(hex)
    return (try await next(within: .seconds(20)), start.duration(to: EventLoop.shared.now))
  }
}
