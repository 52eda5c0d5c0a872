// SPDX-License-Identifier: Apache-2.0
extension Client {
  /// The last known CCCD value of a characteristic, and the tasks that wait for a pending write.
  /// The client replaces the object when the peer's services change, so that a pending write does not affect the new value.
  @LoopActor
  final class ClientConfiguration {
    /// The CCCD bits: bit 0 notifications, bit 1 indications. Nil if a failed write left the value unknown.
    fileprivate var bits: UInt8? = 0
    /// The bits that the user wrote to the descriptor. Subscriptions clear none of them. Nil if the user wrote none.
    fileprivate var written: UInt8?
    fileprivate var isWriting = false
    /// The waits for the end of the pending write, one per waiting task.
    fileprivate var waiting: [Wait<Void>] = []
  }

  /// Asks the peer to send the values of `characteristic` (Vol 3 Part G §4.10, §4.11). Discovery must have found its descriptors.
  /// Subscriptions to one characteristic share its CCCD, which the client writes when the combined bits change.
  /// Without a chosen kind, tries indications after the peer refused notifications, and a subscription of a chosen kind suffices.
  /// Keeps values that arrive before the peer's response. Sets `Subscription.isGone` if the peer removes or moves the characteristic.
  /// - Parameter keepingValues: whether received values wait for `Subscription.next`.
  /// - Throws: GATTError.sendsNoValues, the errors of a write, CancellationError.
  package func subscribe(_ characteristic: Characteristic, kind: Subscription.Kind = .auto, keepingValues: Bool = true) async throws
    -> Subscription
  {
    let properties = characteristic.properties
    guard kind == .auto else { return try await subscribe(characteristic, kind, isChosen: true, keepingValues) }
    guard characteristic.sendsValues else { throw GATTError.sendsNoValues(characteristic) }
    guard properties.contains(.notify) else { return try await subscribe(characteristic, .indication, isChosen: false, keepingValues) }
    do { return try await subscribe(characteristic, .notification, isChosen: false, keepingValues) } catch let refusal as GATTError {
      guard case .errorResponse(let code, _, _) = refusal, !code.isOfSecurity, properties.contains(.indicate) else { throw refusal }
      do {
        let subscription = try await subscribe(characteristic, .indication, isChosen: false, keepingValues)
        onNote?(.indicationsInstead(characteristic, code))
        return subscription
      } catch is GATTError { throw refusal }
    }
  }

  private func subscribe(_ characteristic: Characteristic, _ kind: Subscription.Kind, isChosen: Bool, _ keepingValues: Bool) async throws
    -> Subscription
  {
    let subscription = Subscription(characteristic, kind, isChosen: isChosen, keepsValues: keepingValues, self)
    if let closed { throw closed }
    // Never guess the handle: writing to a neighboring handle has broken devices.
    if characteristic.clientConfiguration == nil { onNote?(.noClientConfiguration(characteristic)) }
    subscriptions.append(subscription)
    do { try await configure(characteristic) } catch {
      subscriptions.removeAll { $0 === subscription }
      subscription.end(CancellationError())
      if !subscription.isGone { await settle(characteristic) }
      throw error
    }
    return subscription
  }

  /// Returns whether the client has a subscription to the characteristic, even if the peer has not confirmed the CCCD write yet.
  package func isSubscribed(to characteristic: Characteristic) -> Bool {
    subscriptions.contains { $0.characteristic.valueHandle == characteristic.valueHandle }
  }

  /// Cancels all subscriptions and writes their CCCDs. Continues after an error, and throws the first error at the end.
  package func unsubscribeAll() async throws {
    var failure: (any Error)?
    while let subscription = subscriptions.last {
      do { try await unsubscribe(subscription) } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }

  func unsubscribe(_ subscription: Subscription) async throws {
    subscriptions.removeAll { $0 === subscription }
    subscription.end(CancellationError())
    // Even if the subscription has ended: the peer may have refused, so ask again.
    if closed == nil, !subscription.isGone { try await configure(subscription.characteristic) }
  }

  /// Ends the subscriptions in a handle range without writing CCCDs, because the peer removed or moved the characteristics.
  func forgetSubscriptions(in range: HandleRange) {
    for subscription in subscriptions where subscription.characteristic.isTouched(by: range) {
      subscription.isGone = true
      subscription.end(GATTError.gone(subscription.characteristic))
    }
    subscriptions.removeAll(where: \.isGone)
    configurations = configurations.filter { !range.contains($0.key) }
    for observer in observers { observer.onServicesChanged?(range) }
  }

  /// Creates a subscription without writing the CCCD, which may still contain the bits of an earlier subscription.
  func assumeSubscribed(_ characteristic: Characteristic, _ kind: Subscription.Kind) -> Subscription {
    let subscription = Subscription(characteristic, kind, isChosen: false, keepsValues: false, self)
    subscriptions.append(subscription)
    if let descriptor = characteristic.clientConfiguration?.handle, configurations[descriptor] == nil {
      let configuration = ClientConfiguration()
      configuration.bits = nil
      configurations[descriptor] = configuration
    }
    return subscription
  }

  /// Writes a CCCD until its bits match all subscriptions to the characteristic. While one task writes, other callers wait.
  private func configure(_ characteristic: Characteristic) async throws {
    guard let descriptor = characteristic.clientConfiguration?.handle else { return }
    while true {
      func bits(isChosen: Bool) -> UInt8 {
        subscriptions.filter { $0.characteristic.valueHandle == characteristic.valueHandle && $0.isChosen == isChosen }
          .reduce(0) { $0 | ($1.kind == .indication ? 2 : 1) }
      }
      let chosen = bits(isChosen: true)
      let configuration = configurations[descriptor] ?? ClientConfiguration()
      let wanted = configuration.written.map { $0 | chosen } ?? (chosen == 0 ? bits(isChosen: false) : chosen)
      configurations[descriptor] = configuration
      if configuration.isWriting {
        let wait = Wait<Void>()
        configuration.waiting.append(wait)
        try await wait.value()
        continue
      }
      guard configuration.bits != wanted else { return }
      configuration.isWriting = true
      defer {
        configuration.isWriting = false
        let waiting = configuration.waiting
        configuration.waiting = []
        for wait in waiting { wait.resume(returning: ()) }
      }
      do { try await writeRequest([wanted, 0], to: descriptor) } catch {
        // A refused write leaves the value unchanged.
        if case GATTError.errorResponse = error {} else { configuration.bits = nil }
        throw error
      }
      configuration.bits = wanted
    }
  }

  /// Remembers the value that the user wrote to an attribute if the attribute is a CCCD, or may be one.
  func wrote(_ value: [UInt8], to handle: AttributeHandle) {
    guard table?.characteristics.contains(where: { $0.clientConfiguration?.handle == handle }) ?? (value.count == 2) else { return }
    let configuration = ClientConfiguration()
    configuration.bits = value.count == 2 && value[0] < 4 && value[1] == 0 ? value[0] : nil
    configuration.written = configuration.bits == 0 ? nil : configuration.bits
    configurations[handle] = configuration
  }

  /// Writes the CCCD again after an abandoned write, which the peer may have received, so that the peer stops sending values.
  /// Takes at most one second, and also works in a canceled task.
  private func settle(_ characteristic: Characteristic) async {
    guard closed == nil, let descriptor = characteristic.clientConfiguration?.handle, let configuration = configurations[descriptor],
      configuration.bits == nil, !configuration.isWriting
    else { return }
    await shielded {
      let limit = EventLoop.shared.now.advanced(by: .seconds(1))
      _ = try? await withDeadline(limit) { try await self.configure(characteristic) }
    }
  }

  // MARK: Received values

  /// Observes all notifications and indications in order, even without a subscription, until cancellation or the end of the bearer.
  /// - Parameters:
  ///   - onServicesChanged: receives a changed handle range, after the client has ended the subscriptions in the range.
  ///   - onExhaustion: runs when the channel has no more values until the client sends another PDU.
  package func observeValues(
    onServicesChanged: (@LoopActor (HandleRange) -> Void)? = nil, onExhaustion: (@LoopActor () -> Void)? = nil,
    _ handler: @escaping @LoopActor (ValueEvent) -> Void
  ) -> ValueObserver {
    let observer = ValueObserver(handler, onServicesChanged, onExhaustion, self)
    if closed == nil { observers.append(observer) }
    return observer
  }

  func countListeners() { bearer.hasSeveralListeners = observers.count + subscriptions.count(where: \.keepsValues) > 1 }

  package func received(_ event: Unsolicited) {
    switch event {
    case .notification(let item): deliver(item, isIndication: false)
    case .indication(let item):
      let isServiceChanged = item.handle == serviceChanged?.valueHandle
      deliver(item, isIndication: true)
      // Deliver the value first: the characteristic may move afterwards.
      if isServiceChanged { servicesChanged(item.value) } else if table == nil { noteMoved(item) }
    case .multipleNotification(let items, let isTruncated):
      for item in items { deliver(item, isIndication: false) }
      if isTruncated { note(.cutNotification, .cutNotification) }
    }
  }

  /// Sends a note if an indication is probably Service Changed, which only discovery could show, and its range has a subscription.
  private func noteMoved(_ item: HandleValue) {
    guard let range = Self.changedRange(item.value), !subscriptions.contains(where: { $0.characteristic.valueHandle == item.handle }),
      let moved = subscriptions.first(where: { $0.characteristic.isTouched(by: range) })
    else { return }
    note(.movedHandle, limit: 2, .movedHandle(moved.characteristic.valueHandle))
  }

  private func deliver(_ item: HandleValue, isIndication: Bool) {
    var value = item.value
    if value.count > WriteProcedure.largestValue,
      !subscriptions.contains(where: { $0.keepsLongValues && $0.characteristic.valueHandle == item.handle })
    {
      value = Array(value.prefix(WriteProcedure.largestValue))
      note(.longNotification, .longNotification(item.handle, table?.attribute(at: item.handle)))
    }
    let event = ValueEvent(handle: item.handle, value: value, isIndication: isIndication, wallClock: EventLoop.shared.wallClock)
    for subscription in subscriptions where subscription.characteristic.valueHandle == item.handle { subscription.deliver(event) }
    for observer in observers { observer.handler(event) }
  }
}

extension Characteristic {
  fileprivate func isTouched(by range: HandleRange) -> Bool {
    range.contains(valueHandle) || clientConfiguration.map { range.contains($0.handle) } ?? false
  }
}

/// A registration for every value that a client receives, until `cancel`.
@LoopActor
package final class ValueObserver {
  fileprivate let handler: @LoopActor (ValueEvent) -> Void
  fileprivate let onServicesChanged: (@LoopActor (HandleRange) -> Void)?
  let onExhaustion: (@LoopActor () -> Void)?
  private weak var client: Client?

  fileprivate init(
    _ handler: @escaping @LoopActor (ValueEvent) -> Void, _ onServicesChanged: (@LoopActor (HandleRange) -> Void)?,
    _ onExhaustion: (@LoopActor () -> Void)?, _ client: Client
  ) {
    (self.handler, self.onServicesChanged, self.onExhaustion, self.client) = (handler, onServicesChanged, onExhaustion, client)
  }

  /// Stops the observation. Idempotent.
  package func cancel() { client?.observers.removeAll { $0 === self } }
}

/// A notified or indicated value.
package struct ValueEvent: Hashable, Sendable {
  package let handle: AttributeHandle
  package let value: [UInt8]
  /// Whether the value is an indication. The bearer has already confirmed it.
  package let isIndication: Bool
  /// The time of arrival, in nanoseconds since 1970-01-01T00:00:00Z.
  package let wallClock: Int64

  package init(handle: AttributeHandle, value: [UInt8], isIndication: Bool, wallClock: Int64) {
    (self.handle, self.value, self.isIndication, self.wallClock) = (handle, value, isIndication, wallClock)
  }
}

/// A queue of the values that the peer sends for one characteristic, in order of arrival.
@LoopActor
package final class Subscription {
  package enum Kind: Sendable {
    /// Notifications, or indications if the characteristic has no notifications.
    case auto
    case notification
    case indication
  }

  package let characteristic: Characteristic
  package let kind: Kind
  /// Whether the caller chose the kind. Otherwise, either kind of values suffices.
  let isChosen: Bool
  /// Whether the peer removed or moved the characteristic. If true, no more values arrive, and `cancel` writes nothing.
  package internal(set) var isGone = false
  /// The number of values that the subscription discarded because `capacity` values already waited for `next`.
  package var dropped: Int { values.dropped }

  static let capacity = 16_384

  /// Whether received values wait for `next`. False if only observers receive them.
  let keepsValues: Bool
  /// Whether values longer than an attribute can be stay whole, because they are the parts of a message.
  package var keepsLongValues = false
  private weak var client: Client?
  private let values = BoundedQueue<ValueEvent>(capacity: capacity)

  init(_ characteristic: Characteristic, _ kind: Kind, isChosen: Bool, keepsValues: Bool, _ client: Client) {
    (self.characteristic, self.kind, self.isChosen, self.keepsValues, self.client) = (characteristic, kind, isChosen, keepsValues, client)
  }

  /// Waits for the next value until `deadline`, and returns the value. Returns nil after the deadline. A nil deadline means no limit.
  /// Values from before the end of the subscription remain available. Allows one caller at a time.
  /// - Throws: the error that closed the bearer, GATTError.gone, CancellationError after the caller canceled the subscription or the task.
  package func next(until deadline: LoopClock.Instant?) async throws -> ValueEvent? { try await values.next(until: deadline) }

  /// Ends the subscription, and writes the CCCD if no other subscription needs the values. A call after an error writes the CCCD again.
  package func cancel() async throws { try await client?.unsubscribe(self) }

  func deliver(_ event: ValueEvent) { if keepsValues { values.add(event) } }

  func end(_ error: any Error) { values.close(throwing: error) }
}
