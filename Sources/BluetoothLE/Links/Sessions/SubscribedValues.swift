// SPDX-License-Identifier: Apache-2.0
package import BluetoothLEText

/// A queue of the values of several characteristics, in the order of arrival. Includes values that arrive while a subscription is pending.
@LoopActor
package final class SubscribedValues {
  /// A characteristic with a subscription, current or lost with the link.
  private struct Item {
    /// The characteristic on the current link, or on the last link during a restoration.
    var characteristic: Characteristic
    /// The characteristic's place in the database. Nil without discovery.
    let place: CharacteristicPlace?
    var format: ValueFormat
    var kind: Subscription.Kind
    /// The subscription. Nil while the link is lost, after a change of services, and after a failed restoration.
    var subscription: Subscription?
    /// Whether `remove` is canceling the subscription, or the peer refused to cancel it.
    var isLeaving = false
  }

  private var client: Client
  /// The connection whose restoration continues the values. Nil if the values end with the link.
  package internal(set) weak var connection: Connection?
  private let values: BoundedQueue<(ValueEvent, UUID, ValueFormat)>
  /// The type and format of each subscribed characteristic, by value handle.
  private var types: [AttributeHandle: (UUID, ValueFormat)] = [:]
  private var items: [Item] = []
  private var observer: ValueObserver?
  private var loss: Task<Void, Never>?
  private var renewal: Task<Void, Never>?
  private var mustRenew = false
  /// The maximum number of discoveries in one renewal. A limit is necessary because a peer may report a change after every request.
  private static let renewals = 8

  /// The observer of subscription renewals after a change of services. Receives the subscriptions whose renewal failed.
  package var onRenewed: (@LoopActor ([Restoration.Missing]) -> Void)?

  /// Creates a queue that ends with the link of `client`.
  /// - Parameter onDrop: Receives the number of values dropped from the full queue.
  package init(_ client: Client, onDrop: (@LoopActor (Int) -> Void)? = nil) {
    self.client = client
    values = BoundedQueue(capacity: 16_384, onDrop: onDrop)
    observe()
    loss = EventLoop.shared.spawn { [values] in
      if let reason = try? await client.untilClosed() { values.close(throwing: reason) }
    }
  }

  /// Creates a queue that outlives the link. The queue continues after `Session.restore` and ends with the connection.
  /// - Parameter onDrop: Receives the number of values dropped from the full queue.
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

  /// The characteristics with a current subscription.
  package var characteristics: [Characteristic] { items.compactMap { $0.subscription == nil ? nil : $0.characteristic } }

  /// Subscribes to a characteristic. Keeps an existing subscription of the same kind.
  /// - Parameter format: The display format of the characteristic's later values.
  /// - Throws: The errors of `Client.subscribe`.
  package func add(_ characteristic: Characteristic, as format: ValueFormat = .auto, kind: Subscription.Kind = .auto) async throws {
    if let index = items.firstIndex(where: { $0.subscription != nil && $0.characteristic.valueHandle == characteristic.valueHandle }) {
      if items[index].isLeaving {
        // The peer's CCCD value is unknown now.
        items.remove(at: index)
        types[characteristic.valueHandle] = nil
      } else {
        items[index].format = format
        if kind != .auto, items[index].kind != kind, let old = items[index].subscription {
          let new = try await client.subscribe(characteristic, kind: kind, keepingValues: false)
          // Meanwhile, the characteristic may have left.
          guard let index = items.firstIndex(where: { $0.subscription === old && !$0.isLeaving }) else { return try await new.cancel() }
          (items[index].subscription, items[index].kind) = (new, kind)
          try await old.cancel()
        }
      }
    }
    guard types.updateValue((characteristic.uuid, format), forKey: characteristic.valueHandle) == nil else { return }
    let client = client
    let place = client.table?.place(of: characteristic)
    do {
      let subscription = try await client.subscribe(characteristic, kind: kind, keepingValues: false)
      items.removeAll { $0.subscription == nil && place != nil && $0.place == place }
      let live = subscription.isGone ? nil : subscription
      items.append(Item(characteristic: characteristic, place: place, format: format, kind: kind, subscription: live))
      if live == nil { renew() }
    } catch {
      if client === self.client { types[characteristic.valueHandle] = nil }
      throw error
    }
  }

  /// Cancels the subscription to a characteristic, also on the peer. Keeps the values that wait in the queue. After an error, keeps the
  /// subscription for another attempt. Does nothing without a subscription.
  /// - Throws: The errors of a write; `CancellationError`.
  package func remove(_ characteristic: Characteristic) async throws {
    let isMeant = { (item: Item) in
      item.characteristic.valueHandle == characteristic.valueHandle && item.characteristic.uuid == characteristic.uuid
    }
    // A lost subscription may have the handle of a current one.
    guard let index = items.firstIndex(where: { $0.subscription != nil && isMeant($0) }) ?? items.firstIndex(where: isMeant) else { return }
    guard let subscription = items[index].subscription else {
      items.remove(at: index)
      return
    }
    items[index].isLeaving = true
    try await subscription.cancel()
    // During `cancel`, another task may have removed or resubscribed it.
    guard let index = items.firstIndex(where: { $0.subscription === subscription }) else { return }
    types[items.remove(at: index).characteristic.valueHandle] = nil
  }

  /// Removes all subscriptions.
  /// - Throws: The first error of `remove`, after an attempt for every subscription.
  package func removeAll() async throws {
    var failure: (any Error)?
    for item in items.reversed() { do { try await remove(item.characteristic) } catch { failure = failure ?? error } }
    if let failure { throw failure }
  }

  /// Returns the next value, with the type of its characteristic. Only one task may take values at a time.
  /// - Parameter isNeeded: Whether to throw the error of `Client.exhausted` when no value can arrive.
  /// - Returns: The value. Nil at `deadline`, and at the time set by `close(at:)`.
  /// - Throws: The error that ended the link, after the last value; the error of `Client.exhausted`; `CancellationError`.
  package func next(until deadline: LoopClock.Instant?, isNeeded: Bool = false) async throws -> (ValueEvent, UUID)? {
    guard isNeeded else { return try await nextToShow(until: deadline).map { ($0.0, $0.1) } }
    return try await values.next(until: deadline, vain: { [client] in client.exhausted }).map { ($0.0, $0.1) }
  }

  /// Returns the next value without an asynchronous call. Returns nil if no value waits.
  package func ready() throws -> (ValueEvent, UUID)? { try values.ready().map { ($0.0, $0.1) } }

  /// Waits for the next value and returns it with the format given to `add`. Returns nil at `deadline`.
  package func nextToShow(until deadline: LoopClock.Instant?) async throws -> (ValueEvent, UUID, ValueFormat)? {
    try await values.next(until: deadline)
  }

  /// Closes the queue, and reports the number of lost values to `onDrop`.
  /// - Parameter taken: The number of values that the caller took but did not use.
  package func abandon(taken: Int) { values.abandon(taken: taken) }

  /// Ignores values that arrive after `end`.
  package func close(at end: LoopClock.Instant) { values.close(at: end) }

  package var isClosed: Bool { values.isClosed }

  /// The number of values lost because the queue was full.
  package var dropped: Int { values.dropped }

  /// Closes the queue with an error, which the taker gets after the values that wait.
  package func close(throwing reason: any Error) {
    renewal?.cancel()
    values.close(throwing: reason)
  }

  /// Closes the queue if a subscription of its own is among those that a restoration or a change of services lost.
  package func close(missing: [Restoration.Missing]) {
    let own = missing.first { lost in items.contains { $0.subscription == nil && $0.characteristic == lost.characteristic } }
    if let own { close(throwing: own.reason ?? GATTError.gone(own.characteristic)) }
  }

  /// Unsubscribes from all characteristics, also on the peer, within a second. Also works in a canceled task.
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

  // MARK: Changes of services during a link

  /// Waits until a running renewal of subscriptions ends.
  package func untilRenewed() async { await renewal?.value }

  private func servicesChanged(_ range: HandleRange) {
    types = types.filter { !range.contains($0.key) }
    items.removeAll { $0.isLeaving && range.contains($0.characteristic.valueHandle) }
    for index in items.indices where items[index].subscription?.isGone ?? false { items[index].subscription = nil }
    renew()
  }

  /// Subscribes again to lost characteristics, at their new handles.
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

  /// Renews the lost subscriptions and returns the subscriptions that are still missing. Returns nil if the link or this object has ended.
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

  /// Marks all subscriptions as lost with the link. Remembers the subscribed characteristics.
  func suspend() {
    types = [:]
    items.removeAll(where: \.isLeaving)
    for index in items.indices { items[index].subscription = nil }
  }

  /// Returns all subscriptions as missing, with `reason` as their error.
  func missing(_ reason: any Error) -> [Restoration.Missing] {
    items.map { Restoration.Missing(characteristic: $0.characteristic, reason: reason) }
  }

  /// Subscribes again on the connection's new client, which knows the database.
  /// - Returns: The number of restored subscriptions, and the missing ones.
  /// - Throws: The error that ended the link; `CancellationError`.
  func restore(on client: Client, _ table: AttributeTable) async throws -> (restored: Int, missing: [Restoration.Missing]) {
    self.client = client
    observe()
    return try await resubscribe(on: client, table)
  }

  private func resubscribe(on client: Client, _ table: AttributeTable) async throws -> (restored: Int, missing: [Restoration.Missing]) {
    var count = 0
    var missing: [Restoration.Missing] = []
    // Identify by place, because others may be added or removed during a write.
    for (place, old, format, kind) in items.map({ ($0.place, $0.characteristic, $0.format, $0.kind) }) {
      func index() -> Int? { items.firstIndex { $0.place == place && $0.characteristic == old && $0.subscription == nil } }
      guard index() != nil else { continue }
      guard let place, let new = table.characteristic(at: place) else {
        missing.append(Restoration.Missing(characteristic: old, reason: nil))
        continue
      }
      // Otherwise another task is subscribing to it now.
      guard types[new.valueHandle] == nil else { continue }
      types[new.valueHandle] = (new.uuid, format)
      do {
        let subscription = try await client.subscribe(new, kind: kind, keepingValues: false)
        // The services have changed again.
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
