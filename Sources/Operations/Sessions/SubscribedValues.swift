import ATT
package import Bluetooth
package import EventLoop
package import GATT
package import Text

/// The values of several characteristics in the order of arrival, each from the moment before the peer was asked to send them. While nobody takes
/// them the link goes on, and they wait.
@LoopActor
package final class SubscribedValues {
  /// One characteristic that is subscribed to, or was until the link was lost.
  private struct Item {
    /// The characteristic on the present link.
    var characteristic: Characteristic
    /// Its place in the database; nil if discovery has not found it.
    let place: CharacteristicPlace?
    var format: ValueFormat
    /// The subscription. Nil while the link is lost, after a change of services, and if it could not be restored.
    var subscription: Subscription?
    /// Whether it is being switched off, or the peer has refused that.
    var isLeaving = false
  }

  private var client: Client
  /// The connection that may be restored; nil if the values end with the link.
  private weak var connection: Connection?
  private let values: BoundedQueue<(ValueEvent, UUID, ValueFormat)>
  /// The types of those that are listened to, and how their values are shown, by their value handle.
  private var types: [AttributeHandle: (UUID, ValueFormat)] = [:]
  private var items: [Item] = []
  private var observer: ValueObserver?
  private var loss: Task<Void, Never>?
  private var renewal: Task<Void, Never>?
  private var mustRenew = false
  /// How often one renewal begins again because of a change: a peer may say so whenever it is asked.
  private static let renewals = 8

  /// The peer's services have changed, and what is still there is subscribed to again. Told what is not.
  package var onRenewed: (@LoopActor ([Restoration.Missing]) -> Void)?

  /// Ends with the link of `client`.
  /// - Parameter onDrop: told how many values were not kept because nobody took thousands of them.
  package init(_ client: Client, onDrop: (@LoopActor (Int) -> Void)? = nil) {
    self.client = client
    values = BoundedQueue(capacity: 16_384, onDrop: onDrop)
    observe()
    loss = EventLoop.shared.spawn { [values] in
      if let reason = try? await client.untilClosed() { values.close(throwing: reason) }
    }
  }

  /// Outlives the link: goes on when that is restored, and ends with the connection. See `Session.restore`.
  /// - Parameter onDrop: told how many values were not kept because nobody took thousands of them.
  package init(lastingOn connection: Connection, onDrop: (@LoopActor (Int) -> Void)? = nil) {
    client = connection.client
    self.connection = connection
    values = BoundedQueue(capacity: 16_384, onDrop: onDrop)
    observe()
    connection.add(self)
  }

  private func observe() {
    observer?.cancel()
    observer = client.observeValues(
      onServicesChanged: { [weak self] in self?.servicesChanged($0) }, onExhaustion: { [values] in values.wakeTaker() }
    ) { [weak self] event in
      if let self, let (uuid, format) = types[event.handle] { values.add((event, uuid, format)) }
    }
  }

  /// What is subscribed to now.
  package var characteristics: [Characteristic] { items.compactMap { $0.subscription == nil ? nil : $0.characteristic } }

  /// Subscribes. One that is subscribed to already stays so.
  /// - Parameter format: how its values are to be shown from now on, for whoever takes them.
  /// - Throws: as `Client.subscribe`.
  package func add(_ characteristic: Characteristic, as format: ValueFormat = .auto) async throws {
    if let index = items.firstIndex(where: { $0.subscription != nil && $0.characteristic.valueHandle == characteristic.valueHandle }) {
      if items[index].isLeaving {
        // What the peer has now, nobody knows.
        items.remove(at: index)
        types[characteristic.valueHandle] = nil
      } else {
        items[index].format = format
      }
    }
    guard types.updateValue((characteristic.uuid, format), forKey: characteristic.valueHandle) == nil else { return }
    let client = client
    let place = client.table?.place(of: characteristic)
    do {
      let subscription = try await client.subscribe(characteristic, keepingValues: false)
      items.removeAll { $0.subscription == nil && place != nil && $0.place == place }
      let live = subscription.isGone ? nil : subscription
      items.append(Item(characteristic: characteristic, place: place, format: format, subscription: live))
      if live == nil { renew() }
    } catch {
      if client === self.client { types[characteristic.valueHandle] = nil }
      throw error
    }
  }

  /// Switches one off again, also on the peer; its values that wait are still given out. One that is not subscribed to stays so. After an error it
  /// is still there, and can be asked for again.
  /// - Throws: the errors of a write; CancellationError.
  package func remove(_ characteristic: Characteristic) async throws {
    let isMeant = { (item: Item) in
      item.characteristic.valueHandle == characteristic.valueHandle && item.characteristic.uuid == characteristic.uuid
    }
    // One that could not be restored may have been where another one is now.
    guard let index = items.firstIndex(where: { $0.subscription != nil && isMeant($0) }) ?? items.firstIndex(where: isMeant) else { return }
    guard let subscription = items[index].subscription else {
      items.remove(at: index)
      return
    }
    items[index].isLeaving = true
    try await subscription.cancel()
    // Else it was subscribed to again meanwhile, or is gone.
    guard let index = items.firstIndex(where: { $0.subscription === subscription }) else { return }
    types[items.remove(at: index).characteristic.valueHandle] = nil
  }

  /// - Throws: as `remove`: the first error, when all were tried.
  package func removeAll() async throws {
    var failure: (any Error)?
    for item in items.reversed() {
      do { try await remove(item.characteristic) } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }

  /// The next value, with the type of its characteristic. One taker at a time.
  /// - Parameter isNeeded: nothing good comes of waiting in vain: see `Client.exhausted`.
  /// - Returns: nil at `deadline`, and when `close(at:)` says so (see `isClosed`).
  /// - Throws: why the link ended, once nothing is left; of one that is needed, why none comes; CancellationError.
  package func next(until deadline: LoopClock.Instant?, isNeeded: Bool = false) async throws -> (ValueEvent, UUID)? {
    guard isNeeded else { return try await nextToShow(until: deadline).map { ($0.0, $0.1) } }
    return try await values.next(until: deadline, vain: { [client] in client.exhausted }).map { ($0.0, $0.1) }
  }

  /// The next value when it is there already: `next` without an asynchronous call.
  package func ready() throws -> (ValueEvent, UUID)? { try values.ready().map { ($0.0, $0.1) } }

  /// Waits for the next value, and returns it with the format that `add` was given.
  package func nextToShow(until deadline: LoopClock.Instant?) async throws -> (ValueEvent, UUID, ValueFormat)? {
    try await values.next(until: deadline)
  }

  /// The taker gives up: how many values it leaves is told.
  /// - Parameter taken: those that it took for nothing.
  package func abandon(taken: Int) { values.abandon(taken: taken) }

  /// What comes later is not given out.
  package func close(at end: LoopClock.Instant) { values.close(at: end) }

  package var isClosed: Bool { values.isClosed }

  /// Switches off what was subscribed to, also on the peer, within a second: it may be one that does not answer. Also in a cancelled task.
  package func end() async {
    observer?.cancel()
    loss?.cancel()
    renewal?.cancel()
    connection?.remove(self)
    values.close()
    let subscriptions = items.compactMap(\.subscription)
    items = []
    await shielded {
      let limit = EventLoop.shared.now.advanced(by: .seconds(1))
      _ = try? await withDeadline(limit) { for subscription in subscriptions { try? await subscription.cancel() } }
    }
  }

  // MARK: The services of the peer change, while the link stays

  /// Returns when what was subscribed to is subscribed to again, if it is to be.
  package func untilRenewed() async { await renewal?.value }

  private func servicesChanged(_ range: HandleRange) {
    types = types.filter { !range.contains($0.key) }
    items.removeAll { $0.isLeaving && range.contains($0.characteristic.valueHandle) }
    for index in items.indices where items[index].subscription?.isGone ?? false { items[index].subscription = nil }
    renew()
  }

  /// Subscribes again to what is not subscribed to, wherever that is now.
  private func renew() {
    guard items.contains(where: { $0.subscription == nil }) else { return }
    mustRenew = true
    guard renewal == nil else { return }
    renewal = EventLoop.shared.spawn { [self] in
      let missing = await renewed()
      renewal = nil
      if let missing { onRenewed?(missing) }
    }
  }

  /// - Returns: what is not subscribed to; nil when the link or this has ended.
  private func renewed() async -> [Restoration.Missing]? {
    var missing: [Restoration.Missing] = []
    let client = client
    for _ in 0..<Self.renewals where mustRenew {
      mustRenew = false
      do { missing = try await resubscribe(on: client, try await client.discover()).missing } catch {
        if client.closed != nil || error is CancellationError { return nil }
        missing = items.filter { $0.subscription == nil }.map { Restoration.Missing(characteristic: $0.characteristic, reason: error) }
      }
    }
    return client === self.client ? missing : nil
  }

  // MARK: For the connection

  /// The link is lost. What was subscribed to stays known.
  func suspend() {
    types = [:]
    items.removeAll(where: \.isLeaving)
    for index in items.indices { items[index].subscription = nil }
  }

  /// Nobody will restore the link.
  func close(throwing reason: any Error) {
    renewal?.cancel()
    values.close(throwing: reason)
  }

  /// What is left of them when nothing can be restored.
  func missing(_ reason: any Error) -> [Restoration.Missing] {
    items.map { Restoration.Missing(characteristic: $0.characteristic, reason: reason) }
  }

  /// Subscribes again on the connection's new client, whose database is known.
  /// - Returns: how many there are, and which are not. - Throws: why this link ended too; CancellationError.
  func restore(on client: Client, _ table: AttributeTable) async throws -> (restored: Int, missing: [Restoration.Missing]) {
    self.client = client
    observe()
    return try await resubscribe(on: client, table)
  }

  private func resubscribe(on client: Client, _ table: AttributeTable) async throws -> (restored: Int, missing: [Restoration.Missing]) {
    var count = 0
    var missing: [Restoration.Missing] = []
    // By place: while one is written, others may be added or removed.
    for (place, old, format) in items.map({ ($0.place, $0.characteristic, $0.format) }) {
      func index() -> Int? { items.firstIndex { $0.place == place && $0.characteristic == old && $0.subscription == nil } }
      guard index() != nil else { continue }
      guard let place, let new = table.characteristic(at: place) else {
        missing.append(Restoration.Missing(characteristic: old, reason: nil))
        continue
      }
      // Else someone else subscribes to it now.
      guard types[new.valueHandle] == nil else { continue }
      types[new.valueHandle] = (new.uuid, format)
      do {
        let subscription = try await client.subscribe(new, keepingValues: false)
        // It has changed again.
        if subscription.isGone { continue }
        guard let index = index() else {
          types[new.valueHandle] = nil
          try await subscription.cancel()
          continue
        }
        items[index].characteristic = new
        items[index].subscription = subscription
        count += 1
      } catch let error as GATTError where client.closed == nil {
        types[new.valueHandle] = nil
        missing.append(Restoration.Missing(characteristic: old, reason: error))
      }
    }
    return (count, missing)
  }
}
