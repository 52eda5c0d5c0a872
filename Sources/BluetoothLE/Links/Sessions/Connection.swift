// SPDX-License-Identifier: Apache-2.0
package import BluetoothLEText

/// A session's connection to one peer. The object survives a restoration, which replaces `link` and `client`.
@LoopActor
package final class Connection {
  package private(set) var link: any Link
  package private(set) var client: Client
  /// The peer's name. Nil if the name was unknown at the time of connecting.
  package let name: UntrustedText?
  /// The selector that found the peer. Nil if the caller had only the peer's address.
  package let selector: PeerSelector?
  let limits: Session.Limits
  /// The observer that receives each link's client before the client sends anything.
  let clientObserver: Session.ClientObserver?
  /// The number of retries left after the connection attempt.
  package let retries: Int
  /// The last advertising data of each PDU type that the search received from the peer. Empty without a search.
  package var payloads: [[UInt8]] = []
  /// The cached value of `identity`. Nil before the first use on a link.
  private var cachedIdentity: RecordWriter.Members?
  /// The security of the link. Nil if the host of the adapter does not pair.
  package internal(set) var security: ConnectionSecurity?
  /// The least security of the next link after a restoration: the highest that a command demanded of this link.
  package var leastSecurity = SecurityLevel.unencrypted
  /// The objects that rooms above keep with a connection, by their types.
  private var attachments: [ObjectIdentifier: AnyObject] = [:]

  /// The subscriptions that survive a lost connection.
  package private(set) var lasting: [SubscribedValues] = []
  /// The state of the lost link. Nil unless a restoration has started and has not succeeded.
  private(set) var priorLink: PriorLink?
  private var restoring: Wait<Void>?
  private var ended: Wait<Void>?
  private var isEnded = false

  /// The state of a lost link that the next link takes over.
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
  /// The JSON members that identify the device: address, address type and name. The name is null if unknown.
  package var identity: RecordWriter.Members {
    if let cachedIdentity { return cachedIdentity }
    let members = RecordWriter.Members {
      $0.peer("address", "address_type", peer)
      $0.string("name", name?.raw)
    }
    cachedIdentity = members
    return members
  }
  /// The identity address of a bonded device, whose private address changes. Otherwise, the peer's address.
  package var identityAddress: PeerAddress { security?.stored?.bond.identity ?? peer }
  /// Whether the link is up. False during a restoration.
  package var isOpen: Bool { client.closed == nil && !isBeingRestored }
  package var isBeingRestored: Bool { restoring != nil }

  /// Returns the connection's only object of a type, which lasts as long as the connection. Makes the object at the first call.
  package func attachment<Attachment: AnyObject>(_ make: @autoclosure () -> Attachment) -> Attachment {
    let type = ObjectIdentifier(Attachment.self)
    if let known = attachments[type] as? Attachment { return known }
    let made = make()
    attachments[type] = made
    return made
  }

  /// Returns whether `selector` is the plain name of other devices, with which there are bonds.
  package func isNamesake(_ selector: PeerSelector) -> Bool { security?.isNamesake(selector) ?? false }

  /// Returns whether `selector` matches the peer's address, its name unless a bond with another device has it, the services or data of an open connection, or equals the
  /// connection's original selector. Does not search.
  package func isMeant(by selector: PeerSelector) -> Bool {
    if isNamesake(selector) { return false }
    if selector == self.selector || selector.means(identityAddress, named: nil) || selector.means(peer, named: name) { return true }
    guard client.closed == nil || isBeingRestored else { return false }
    if case .service(let uuid) = selector, client.table?.services.contains(where: { $0.uuid == uuid }) ?? false { return true }
    return selector.isIn(payloads)
  }

  /// Waits for the end of a running restoration.
  /// - Throws: `CancellationError`.
  package func untilRestored() async throws { try await restoring?.value() }

  /// Makes sure of the security that a command demands, before its first request.
  /// - Throws: InsufficientSecurity, PairingFailure, CancellationError; the errors of the key store.
  package func secure(to level: SecurityLevel) async throws {
    guard level > .unencrypted else { return }
    guard let security else { throw InsufficientSecurity(demanded: level, found: nil, isOfSystem: false) }
    try await security.reach(level)
    leastSecurity = max(leastSecurity, level)
  }

  // MARK: Subscriptions

  func add(_ values: SubscribedValues) { lasting.append(values) }

  func remove(_ values: SubscribedValues) { lasting.removeAll { $0 === values } }

  // MARK: Restoration

  /// Runs `body` as the connection's only restoration. Stops `body` when the connection ends.
  /// - Throws: `RestorationError.ended`, `.isUnderWay`; the errors of `body`.
  func restoring<T: Sendable>(_ body: @escaping @LoopActor () async throws -> T) async throws -> T {
    guard restoring == nil else { throw RestorationError.isUnderWay }
    guard !isEnded else { throw RestorationError.ended }
    priorLink = stateOfLink
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

  /// The state of the lost link, also after failed attempts to restore it.
  private var stateOfLink: PriorLink {
    priorLink ?? PriorLink(requestedMTU: client.requestedMTU, wasDiscovered: client.table != nil, database: client.knownDatabase)
  }

  /// Takes over the database and the subscriptions of a lost connection to the same device.
  func takeOver(_ lost: Connection) {
    guard !lost.lasting.isEmpty else { return }
    for values in lost.lasting {
      values.suspend()
      values.connection = self
    }
    (priorLink, lasting, lost.lasting) = (lost.stateOfLink, lasting + lost.lasting, [])
    leastSecurity = max(leastSecurity, lost.leastSecurity)
  }

  /// Replaces the link and the client after a reconnection. The peer may have a new address.
  func move(to link: any Link, _ client: Client) {
    self.link = link
    self.client = client
    cachedIdentity = nil
  }

  func isRestored() { priorLink = nil }

  /// Disconnects and closes the client. Also works in a canceled task.
  package func takeDown() async {
    await shielded { [link, client] in
      await link.disconnect()
      client.close()
    }
  }

  /// Ends the connection and its subscriptions. Waits until a running restoration has stopped.
  func end() async {
    isEnded = true
    ended?.resume(returning: ())
    await shielded { [restoring] in try? await restoring?.value() }
    let reason = client.closed ?? Disconnection(peer, .channelClosed)
    for values in lasting { values.close(throwing: reason) }
    lasting = []
  }
}
