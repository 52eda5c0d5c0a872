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
    /// As on the present link.
    var characteristic: Characteristic
    /// Nil where discovery has not seen it.
    let place: CharacteristicPlace?
    var format: ValueFormat
    /// Nil while the link is lost, and when it could not be restored.
    var subscription: Subscription?
  }

  private var client: Client
  /// Nil when this ends with the link.
  private weak var connection: Connection?
  private let values: BoundedQueue<(ValueEvent, UUID, ValueFormat)>
  /// The types of those that are listened to, and how their values are shown, by their value handle.
  private var types: [AttributeHandle: (UUID, ValueFormat)] = [:]
  private var items: [Item] = []
  private var observer: ValueObserver?
  private var loss: Task<Void, Never>?

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
    observer = client.observeValues { [weak self] event in
      if let self, let (uuid, format) = types[event.handle] { values.add((event, uuid, format)) }
    }
  }

  /// What is subscribed to now.
  package var characteristics: [Characteristic] { items.compactMap { $0.subscription == nil ? nil : $0.characteristic } }

  /// Subscribes. One that is subscribed to already stays so.
  /// - Parameter format: how its values are to be shown from now on, for whoever takes them.
  /// - Throws: as `Client.subscribe`.
  package func add(_ characteristic: Characteristic, as format: ValueFormat = .auto) async throws {
    if let index = items.firstIndex(where: { $0.characteristic.valueHandle == characteristic.valueHandle }) { items[index].format = format }
    guard types.updateValue((characteristic.uuid, format), forKey: characteristic.valueHandle) == nil else { return }
    let client = client
    do {
      let subscription = try await client.subscribe(characteristic, keepingValues: false)
      let place = client.table?.place(of: characteristic)
      items.removeAll { $0.subscription == nil && place != nil && $0.place == place }
      items.append(Item(characteristic: characteristic, place: place, format: format, subscription: subscription))
    } catch {
      if client === self.client { types[characteristic.valueHandle] = nil }
      throw error
    }
  }

  /// Switches one off again, also on the peer; its values that wait are still given out. One that is not subscribed to stays so.
  /// - Throws: the errors of a write; CancellationError.
  package func remove(_ characteristic: Characteristic) async throws {
    let isMeant = { (item: Item) in
      item.characteristic.valueHandle == characteristic.valueHandle && item.characteristic.uuid == characteristic.uuid
    }
    guard let index = items.firstIndex(where: isMeant) else { return }
    let item = items.remove(at: index)
    types[characteristic.valueHandle] = nil
    try await item.subscription?.cancel()
  }

  /// - Throws: as `remove`.
  package func removeAll() async throws { while let item = items.last { try await remove(item.characteristic) } }

  /// The next value, with the type of its characteristic. One taker at a time.
  /// - Returns: nil at `deadline`, and when `close(at:)` says so (see `isClosed`).
  /// - Throws: why the link ended, once nothing is left; CancellationError.
  package func next(until deadline: LoopClock.Instant?) async throws -> (ValueEvent, UUID)? {
    try await nextToShow(until: deadline).map { ($0.0, $0.1) }
  }

  /// As `next`, with how `add` said that it is to be shown.
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
    connection?.remove(self)
    values.close()
    let subscriptions = items.compactMap(\.subscription)
    items = []
    await shielded {
      let limit = EventLoop.shared.now.advanced(by: .seconds(1))
      _ = try? await withDeadline(limit) { for subscription in subscriptions { try? await subscription.cancel() } }
    }
  }

  /// The services of the peer have changed, while the link stays: subscribes again to what is still there.
  /// - Parameter table: as it is now.
  /// - Returns: what is not. - Throws: why the link ended; CancellationError.
  package func renew(_ table: AttributeTable) async throws -> [Restoration.Missing] {
    for item in items { item.subscription.map(client.forget) }
    suspend()
    return try await restore(on: client, table).missing
  }

  // MARK: For the connection

  /// The link is lost. What was subscribed to stays known.
  func suspend() {
    types = [:]
    for index in items.indices { items[index].subscription = nil }
  }

  /// Nobody will restore the link.
  func close(throwing reason: any Error) { values.close(throwing: reason) }

  /// What is left of them when nothing can be restored.
  func missing(_ reason: any Error) -> [Restoration.Missing] {
    items.map { Restoration.Missing(characteristic: $0.characteristic, reason: reason) }
  }

  /// Subscribes again on the connection's new client, whose database is known.
  /// - Returns: how many there are, and which are not. - Throws: why this link ended too; CancellationError.
  func restore(on client: Client, _ table: AttributeTable) async throws -> (restored: Int, missing: [Restoration.Missing]) {
    self.client = client
    observe()
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
      types[new.valueHandle] = (new.uuid, format)
      do {
        let subscription = try await client.subscribe(new, keepingValues: false)
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
