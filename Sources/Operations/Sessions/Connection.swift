import ATT
package import Bluetooth
package import DeviceFiles
package import EventLoop
package import Finding
package import GAP
package import GATT
package import Text

/// A session's connection to one peer. The object survives a restoration, which replaces `link` and `client`.
@LoopActor
package final class Connection {
  package private(set) var link: any Link
  package private(set) var client: Client
  /// The peer's name. Nil if the search did not hear it.
  package let name: UntrustedText?
  /// The selector that found the peer. Nil for the peer's address.
  package let selector: PeerSelector?
  let limits: Session.Limits
  /// The observer of each link's client, called before the client sends anything.
  let clientObserver: Session.ClientObserver?
  /// The number of retries left after the connection attempt.
  package let retries: Int
  /// The advertisements of the peer that the search heard. Empty without a search.
  package var payloads: [[UInt8]] = []
  /// The cached members that `identify(in:)` writes.
  var identity: RecordWriter.Members?
  /// The queue that serializes the commands of the device file.
  let calls = TurnQueue()
  /// The number of device file commands called on this connection.
  var callNumber: Int64 = 0
  /// The earlier calls whose answers may still arrive.
  var unanswered: [UnansweredCall] = []

  /// The subscriptions that survive a lost connection.
  private(set) var lasting: [SubscribedValues] = []
  /// The state of a lost link. Nil after a restoration.
  private(set) var priorLink: PriorLink?
  private var restoring: Wait<Void>?
  private var ended: Wait<Void>?
  private var isEnded = false

  /// The state of a lost link that its successor takes over.
  struct PriorLink {
    let requestedMTU: Int?
    let wasDiscovered: Bool
    let database: KnownDatabase?
  }

  init(
    _ link: any Link, _ client: Client, name: UntrustedText?, selector: PeerSelector?, limits: Session.Limits, retries: Int,
    clientObserver: Session.ClientObserver? = nil
  ) {
    self.link = link
    self.client = client
    self.name = name
    self.selector = selector
    self.limits = limits
    self.retries = retries
    self.clientObserver = clientObserver
  }

  package var peer: PeerAddress { link.peer }
  /// Whether the link is up. False during a restoration.
  package var isOpen: Bool { client.closed == nil && !isBeingRestored }
  package var isBeingRestored: Bool { restoring != nil }

  /// Whether a search with `selector` would find this peer, as far as known without a search.
  package func isMeant(by selector: PeerSelector) -> Bool { selector == self.selector || selector.means(peer, named: name) }

  /// Waits for the end of a running restoration.
  /// - Throws: `CancellationError`.
  package func untilRestored() async throws { try await restoring?.value() }

  // MARK: Subscriptions

  func add(_ values: SubscribedValues) { lasting.append(values) }

  func remove(_ values: SubscribedValues) { lasting.removeAll { $0 === values } }

  // MARK: Restoration

  /// Runs a restoration. It stops when the connection ends.
  /// - Throws: `RestorationError.ended`, `.isUnderWay`; the errors of `body`.
  func restoring<T: Sendable>(_ body: @escaping @LoopActor () async throws -> T) async throws -> T {
    guard restoring == nil else { throw RestorationError.isUnderWay }
    guard !isEnded else { throw RestorationError.ended }
    if priorLink == nil {
      priorLink = PriorLink(requestedMTU: client.requestedMTU, wasDiscovered: client.table != nil, database: client.knownDatabase)
    }
    let (over, ended) = (Wait<Void>(), Wait<Void>())
    self.restoring = over
    self.ended = ended
    defer {
      self.restoring = nil
      self.ended = nil
      over.resume(returning: ())
    }
    for values in lasting { values.suspend() }
    return try await race(body) {
      try await ended.value()
      throw RestorationError.ended
    }
  }

  /// Adopts a new link. The peer may have a new address.
  func move(to link: any Link, _ client: Client) {
    self.link = link
    self.client = client
    identity = nil
  }

  func isRestored() { priorLink = nil }

  /// Disconnects and closes the client. Also works in a canceled task.
  func takeDown() async {
    await shielded { [link, client] in
      await link.disconnect()
      client.close()
    }
  }

  /// Ends the connection. A running restoration has stopped when this returns.
  func end() async {
    isEnded = true
    ended?.resume(returning: ())
    await shielded { [restoring] in try? await restoring?.value() }
    let reason = client.closed ?? Disconnection(peer, .channelClosed)
    for values in lasting { values.close(throwing: reason) }
    lasting = []
  }
}

extension Connection {
  /// Writes the members that identify the device: address, type and name. The name is null if the search did not hear it.
  @LoopActor
  package func identify(in json: inout RecordWriter) {
    let members =
      identity
      ?? RecordWriter.Members {
        $0.address("address", peer.address)
        $0.string("address_type", peer.type.rawValue)
        $0.string("name", name?.raw)
      }
    identity = members
    json.members(members)
  }
}

extension Connection {
  /// Returns the descriptions that match this device. Ignores unknown facts. A description with only unknown facts does not match.
  /// - Throws: The errors of `Client.discover`.
  package func fitting(_ devices: [DeviceDescription]) async throws -> [DeviceDescription] {
    let devices = devices.filter { !$0.match.isEmpty }
    guard !devices.isEmpty else { return [] }
    var known = name?.raw
    if known == nil, devices.contains(where: { !$0.match.names.isEmpty }) { known = try await deviceName() }
    let services = Set(try await client.discover().services.map(\.uuid))
    let data = payloads.flatMap { Advertisement($0).manufacturerData }
    return devices.filter { device in
      let match = device.match
      var facts: [Bool] = []
      if !match.services.isEmpty { facts.append(services.isSuperset(of: match.services)) }
      if let known, !match.names.isEmpty { facts.append(match.names.contains { Glob.matches($0, known) }) }
      if !payloads.isEmpty {
        facts += match.manufacturerData.map { wanted in data.contains { $0.company == wanted.company && wanted.matches($0.data) } }
      }
      return !facts.isEmpty && facts.allSatisfy(\.self)
    }
  }

  /// Reads the Device Name characteristic. Nil if reading fails.
  private func deviceName() async throws -> String? {
    do {
      return try await client.read(uuid: UUID(0x2A00)).first.flatMap {
        String(validating: DisplayText.withoutTrailingNULs($0.value), as: UTF8.self)
      }
    } catch is GATTError where client.closed == nil { return nil }
  }
}
