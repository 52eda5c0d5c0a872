package import Bluetooth
package import EventLoop
package import Finding
package import GAP
package import GATT
package import Text

/// One peer of a session: the link, and the client on it. It stays the same when a lost link is restored; link and client are others then.
@LoopActor
package final class Connection {
  package private(set) var link: any Link
  package private(set) var client: Client
  /// The name. Nil if it was not heard.
  package let name: UntrustedText?
  /// The selector that found it. Nil for its address.
  package let selector: PeerSelector?
  let limits: Session.Limits
  /// Sees the client of each link before anything is sent.
  let clientObserver: Session.ClientObserver?
  /// The number of retries left when it connected.
  package let retries: Int
  /// The advertisements heard during the search. Empty without a search.
  package var payloads: [[UInt8]] = []
  /// See `identify(in:)`.
  var identity: RecordWriter.Members?
  /// Serializes the commands of the device file.
  let calls = TurnQueue()
  /// The number of calls.
  var callNumber: Int64 = 0
  /// Earlier calls whose answers may still arrive.
  var unanswered: [UnansweredCall] = []

  /// Subscriptions that survive a lost connection.
  private(set) var lasting: [SubscribedValues] = []
  /// The state of a lost link, kept until one is restored.
  private(set) var legacy: Legacy?
  private var restoring: Wait<Void>?
  private var ended: Wait<Void>?
  private var isEnded = false

  /// State of a lost link that the next one takes over.
  struct Legacy {
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
  /// Whether the link is up. False while it is being restored.
  package var isOpen: Bool { client.closed == nil && !isBeingRestored }
  package var isBeingRestored: Bool { restoring != nil }

  /// Whether a search would find this peer, as far as known without a search.
  package func isMeant(by selector: PeerSelector) -> Bool { selector == self.selector || selector.means(peer, named: name) }

  /// Waits for the end of a restoration that is under way. - Throws: CancellationError.
  package func untilRestored() async throws { try await restoring?.value() }

  // MARK: Subscriptions

  func add(_ values: SubscribedValues) { lasting.append(values) }

  func remove(_ values: SubscribedValues) { lasting.removeAll { $0 === values } }

  // MARK: Restoration

  /// Runs a restoration, which ends when the connection does.
  /// - Throws: RestorationError.ended, `.isUnderWay`; what `body` throws.
  func restoring<T: Sendable>(_ body: @escaping @LoopActor () async throws -> T) async throws -> T {
    guard restoring == nil else { throw RestorationError.isUnderWay }
    guard !isEnded else { throw RestorationError.ended }
    if legacy == nil {
      legacy = Legacy(requestedMTU: client.requestedMTU, wasDiscovered: client.table != nil, database: client.knownDatabase)
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

  /// Adopts a new link, which may be to another address of the same peer.
  func move(to link: any Link, _ client: Client) {
    self.link = link
    self.client = client
    identity = nil
  }

  func isRestored() { legacy = nil }

  /// Disconnects and closes the client. Also works in a cancelled task.
  func takeDown() async {
    await shielded { [link, client] in
      await link.disconnect()
      client.close()
    }
  }

  /// Ends restoration. A running one has ended when this returns.
  func end() async {
    isEnded = true
    ended?.resume(returning: ())
    await shielded { [restoring] in try? await restoring?.value() }
    let reason = client.closed ?? LinkEnd(peer, .channelClosed)
    for values in lasting { values.close(throwing: reason) }
    lasting = []
  }
}
