import BluetoothLESimulator
import TestSupport

/// A host in memory: it advertises nothing, and tests connect centrals to it.
@LoopActor
final class ServedRadio: PeripheralRole {
  let advertisedAddress: PeerAddress? = PeerAddress(Address(rawValue: 0xD1_00_00_00_00_09), .random)
  var hasSecurityManager = true
  /// All calls of `advertise`. Nil stands for the end.
  private(set) var advertised: [Advertising?] = []
  var onCentral: (@LoopActor (any CentralLink) -> Void)?
  var onFailure: (@LoopActor (any Error) -> Void)?
  private(set) var links: [ServedLink] = []
  private(set) var isEnded = false
  /// The error of the next call of `advertise`.
  var refusal: (any Error)?

  func advertise(_ advertising: Advertising?) async throws {
    if let refusal {
      self.refusal = nil
      throw refusal
    }
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    advertised.append(advertising)
  }

  func end() async {
    isEnded = true
    for link in links { await link.disconnect(reason: .remoteUserTerminated) }
  }

  /// Connects a central. The test has the central's end of the channel.
  func connect(_ number: UInt64 = 1, manager: SecurityManager? = nil, largestPDU: Int = 0xFFFF) -> (
    channel: MemoryChannel, link: ServedLink
  ) {
    let (near, far) = MemoryChannel.pair()
    let peer = PeerAddress(Address(rawValue: 0xC0_00_00_00_00_00 + number), .random)
    let link = ServedLink(peer, LimitedChannel(near, largestPDU), manager)
    links.append(link)
    onCentral?(link)
    return (far, link)
  }
}

/// A channel that carries only short PDUs, as a kernel's.
@LoopActor
final class LimitedChannel: Channel {
  private let inner: MemoryChannel
  let largestPDU: Int
  var unacknowledged: Int? = 0
  var onAcknowledgement: (@LoopActor () -> Void)?

  init(_ inner: MemoryChannel, _ largestPDU: Int) { (self.inner, self.largestPDU) = (inner, largestPDU) }

  var handler: (@LoopActor (ChannelEvent) -> Void)? {
    get { inner.handler }
    set { inner.handler = newValue }
  }
  func send(_ pdu: [UInt8]) { inner.send(pdu) }
  func waitUntilWritable(until deadline: LoopClock.Instant?) async throws -> Bool { try await inner.waitUntilWritable(until: deadline) }
  var isWritable: Bool { inner.isWritable }
  func close() { inner.close() }
  func lose(_ error: any Error) { inner.lose(error) }
}

@LoopActor
final class ServedLink: CentralLink {
  let peer: PeerAddress
  let limited: LimitedChannel
  var channel: any Channel { limited }
  let manager: SecurityManager?
  var onParameters: (@LoopActor (LinkParameters) -> Void)?
  var securityLevel = SecurityLevel.unencrypted { didSet { if reportsLevel { onSecurityLevel?(securityLevel) } } }
  var reportsLevel = true
  var onSecurityLevel: (@LoopActor (SecurityLevel) -> Void)?
  private(set) var reason: ControllerErrorCode?

  init(_ peer: PeerAddress, _ channel: LimitedChannel, _ manager: SecurityManager?) {
    (self.peer, limited, self.manager) = (peer, channel, manager)
  }

  func parameters() async throws -> LinkParameters { LinkParameters() }
  func requestInterval(_ interval: Duration) async throws -> LinkParameters { LinkParameters() }
  func requestPHY(_ phy: PHY) async throws -> LinkParameters { LinkParameters() }
  func requestDataLength(_ bytes: Int) async throws -> LinkParameters { LinkParameters() }
  func disconnect() async { await disconnect(reason: .remoteUserTerminated) }

  func disconnect(reason: ControllerErrorCode) async {
    if self.reason == nil { self.reason = reason }
    limited.lose(Disconnection(peer, .lost(reason)))
  }
}

/// A served device on a radio in memory, and what happened to it.
@LoopActor
final class ServedFixture {
  let radio = ServedRadio()
  let device: ServedDevice
  let description: PeripheralDescription
  private(set) var events: [String] = []

  nonisolated static let services = #"""
    "services": [{"uuid": "ff00", "characteristics": [
      {"uuid": "ff01", "properties": ["read", "write", "write_without_response", "notify"], "value": "0a0b", "max_length": 40,
       "descriptors": [{"uuid": "2901", "value": {"utf8": "Switch"}}]},
      {"uuid": "ff02", "properties": ["read"], "value": "0c"},
      {"uuid": "ff03", "properties": ["read"], "value": "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d"},
      {"uuid": "ff04", "properties": ["read", "indicate"], "value": "0d"}]}]
    """#

  init(
    _ inside: String = "", services: String = services, centrals: [BondedCentral] = [], options: ServingOptions = .init()
  ) throws {
    description = try Self.parse(inside, services)
    device = ServedDevice(description, on: radio, centrals: centrals, options: options)
    device.onEvent = { [weak self] in self?.add($0) }
  }

  nonisolated static func parse(_ inside: String, _ services: String = services) throws -> PeripheralDescription {
    let text = #"{"name": "T", "address": "D1:00:00:00:00:09/random", \#(inside)\#(services)}"#
    return try PeripheralFile.parse(Array(text.utf8), name: "x")[0]
  }

  private func add(_ event: ServedEvent) {
    let text =
      switch event.kind {
      case .connected: "connected"
      case .read: "read"
      case .written(let kind): "written \(kind)"
      case .subscribed(let bits): "subscribed \(bits)"
      case .unsubscribed: "unsubscribed"
      case .notified: "notified"
      case .indicated: "indicated"
      case .paired(let result): result == nil ? "encrypted" : "paired"
      case .disconnected(let error): "disconnected \((error as? Disconnection)?.reason.map { "\($0.rawValue)" } ?? "here")"
      case .fault(let text): "fault \(text)"
      }
    events.append(([text] + [event.uuid?.description, event.value.map { Hex.encode($0) }].compactMap { $0 }).joined(separator: " "))
  }

  func take() -> [String] {
    defer { events = [] }
    return events
  }

  @discardableResult
  func perform(_ line: String) throws -> Int? { try device.perform(try #require(try PeripheralLineParser.parse(line))) }
  func value(_ uuid: String) -> String { Hex.encode(device.device.store.database[description.handle(uuid)]?.value ?? []) }
  func handle(_ uuid: String) -> AttributeHandle { description.handle(uuid) }
}
