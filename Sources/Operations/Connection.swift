package import Bluetooth
package import EventLoop
package import GAP
package import GATT
import Text

/// One peer of a session: the link, and the client on it. It stays the same when a lost link is restored; link and client are others then.
@LoopActor
package final class Connection {
  package private(set) var link: any Link
  package private(set) var client: Client
  /// Nil when it was not heard.
  package let name: String?
  /// By which it was found; nil: by its address.
  package let selector: PeerSelector?
  let limits: Session.Limits
  /// How many retries were left when it was made.
  package let retries: Int
  /// What was heard of it when it was found; empty when it was not.
  package var payloads: [[UInt8]] = []
  /// See `identify(in:)`.
  var identity: JSONLine.Members?
  /// Commands of its device file.
  let calls = TurnQueue()
  /// How many there were.
  var callNumber: Int64 = 0
  /// Those commands whose answers may still come.
  var unanswered: [UnansweredCall] = []

  /// Subscriptions that outlive the link.
  private(set) var lasting: [SubscribedValues] = []
  /// What a lost link leaves for the next; kept until one is restored.
  private(set) var legacy: Legacy?
  private var restoring: Wait<Void>?
  private var ended: Wait<Void>?
  private var isEnded = false

  /// What is asked for again on the next link.
  struct Legacy {
    let requestedMTU: Int?
    let wasDiscovered: Bool
    let database: KnownDatabase?
  }

  init(_ link: any Link, _ client: Client, name: String?, selector: PeerSelector?, limits: Session.Limits, retries: Int) {
    self.link = link
    self.client = client
    self.name = name
    self.selector = selector
    self.limits = limits
    self.retries = retries
  }

  package var peer: PeerAddress { link.peer }
  /// False also while a lost link is being restored.
  package var isOpen: Bool { client.closed == nil && !isBeingRestored }
  package var isBeingRestored: Bool { restoring != nil }

  /// Whether a search would mean this peer, as far as is known without one.
  package func isMeant(by selector: PeerSelector) -> Bool {
    selector == self.selector || selector.means(peer, named: name)
  }

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

  /// The next link, which may be to another address of the same peer.
  func move(to link: any Link, _ client: Client) {
    self.link = link
    self.client = client
    identity = nil
  }

  func isRestored() { legacy = nil }

  /// The link down, the client closed; also in a cancelled task.
  func takeDown() async {
    await shielded { [link, client] in
      await link.disconnect()
      client.close()
    }
  }

  /// It will not be restored; a restoration that is under way has ended when this returns.
  func end() async {
    isEnded = true
    ended?.resume(returning: ())
    await shielded { [restoring] in try? await restoring?.value() }
    let reason = client.closed ?? LinkEnd(peer, .channelClosed)
    for values in lasting { values.close(throwing: reason) }
    lasting = []
  }
}
