package import ATT
package import EventLoop

extension Client {
  /// What is known of a Client Characteristic Configuration on the peer, and who waits for it to be written. Another one takes its place when the
  /// peer's services change: a write that ends then says nothing of that.
  @LoopActor
  final class ClientConfiguration {
    /// Bit 0 notifications, bit 1 indications; nil when a write ended so that nobody knows.
    fileprivate var bits: UInt8? = 0
    fileprivate var isWriting = false
    /// One for each caller: giving up waiting must not end it for the others.
    fileprivate var waiting: [Wait<Void>] = []
  }

  /// Asks the peer to send the values of `characteristic` (Vol 3 Part G §4.10, §4.11), whose descriptors discovery must have found. Several
  /// subscriptions to one characteristic share its Client Characteristic Configuration: it is written when what they want together changes.
  /// Values that arrive before the peer's answer are kept. When the peer's services change meanwhile, `Subscription.isGone` says so.
  /// - Parameter keepingValues: false for who sees the values as an observer.
  /// - Throws: GATTError.sendsNoValues, the errors of a write; CancellationError.
  package func subscribe(_ characteristic: Characteristic, kind: Subscription.Kind = .auto, keepingValues: Bool = true) async throws
    -> Subscription
  {
    let properties = characteristic.properties
    var kind = kind
    if kind == .auto {
      guard characteristic.sendsValues else { throw GATTError.sendsNoValues(characteristic) }
      kind = properties.contains(.notify) ? .notification : .indication
    }
    let subscription = Subscription(characteristic, kind, keepsValues: keepingValues, self)
    if let closed { throw closed }
    // Never guessed: writing to a neighbour's handle has broken devices.
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

  /// Whether somebody listens to it.
  package func isSubscribed(to characteristic: Characteristic) -> Bool {
    subscriptions.contains { $0.characteristic.valueHandle == characteristic.valueHandle }
  }

  /// Ends all subscriptions, also on the peer. The first error is thrown when all were tried.
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
    // Also for one that was ended already: the peer may have refused, and is asked again then.
    if closed == nil, !subscription.isGone { try await configure(subscription.characteristic) }
  }

  /// What is subscribed to in the range is not there any more, or somewhere else: the peer is told nothing at the old handles.
  func forgetSubscriptions(in range: HandleRange) {
    for subscription in subscriptions where subscription.characteristic.isTouched(by: range) {
      subscription.isGone = true
      subscription.end(GATTError.gone(subscription.characteristic))
    }
    subscriptions.removeAll(where: \.isGone)
    configurations = configurations.filter { !range.contains($0.key) }
    for observer in observers { observer.onServicesChanged?(range) }
  }

  /// As `subscribe`, without asking the peer again, whose Client Characteristic Configuration may be what it was.
  func assumeSubscribed(_ characteristic: Characteristic, _ kind: Subscription.Kind) -> Subscription {
    let subscription = Subscription(characteristic, kind, keepsValues: false, self)
    subscriptions.append(subscription)
    if let descriptor = characteristic.clientConfiguration?.handle, configurations[descriptor] == nil {
      let configuration = ClientConfiguration()
      configuration.bits = nil
      configurations[descriptor] = configuration
    }
    return subscription
  }

  /// Writes the Client Characteristic Configuration until it is what the subscriptions want together; one writes, the others wait for it.
  private func configure(_ characteristic: Characteristic) async throws {
    guard let descriptor = characteristic.clientConfiguration?.handle else { return }
    while true {
      let wanted = subscriptions.filter { $0.characteristic.valueHandle == characteristic.valueHandle }.reduce(UInt8(0)) {
        $0 | $1.kind.bit
      }
      let configuration = configurations[descriptor] ?? ClientConfiguration()
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
        // What the peer refuses stays as it was.
        if case GATTError.errorResponse = error {} else { configuration.bits = nil }
        throw error
      }
      configuration.bits = wanted
    }
  }

  /// A write was given up when the peer may have had it already: what is left of the subscriptions is written again, within a second, also in a
  /// cancelled task. Else the peer would go on sending, and nobody could switch that off.
  private func settle(_ characteristic: Characteristic) async {
    guard closed == nil, let descriptor = characteristic.clientConfiguration?.handle, let configuration = configurations[descriptor],
      configuration.bits == nil, !configuration.isWriting
    else { return }
    await shielded {
      let limit = EventLoop.shared.now.advanced(by: .seconds(1))
      _ = try? await withDeadline(limit) { try await self.configure(characteristic) }
    }
  }

  // MARK: What arrives

  /// Every notification and indication in the order of arrival, subscribed to or not, until the observer is cancelled or the bearer ends.
  /// - Parameters:
  ///   - onServicesChanged: told which handles may mean something else from now on; what was subscribed to there is gone.
  ///   - onExhaustion: told when no more come until something is asked: see `exhausted`.
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
      // Who subscribed to it has the value, and then it may be somewhere else.
      if isServiceChanged { servicesChanged(item.value) }
    case .multipleNotification(let items, let isTruncated):
      for item in items { deliver(item, isIndication: false) }
      if isTruncated { note(.cutNotification, .cutNotification) }
    }
  }

  private func deliver(_ item: HandleValue, isIndication: Bool) {
    var value = item.value
    if value.count > WritePlan.largestValue {
      value = Array(value.prefix(WritePlan.largestValue))
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

/// Sees every value that a client receives, until it is cancelled.
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
    self.handler = handler
    self.onServicesChanged = onServicesChanged
    self.onExhaustion = onExhaustion
    self.client = client
  }

  /// Idempotent.
  package func cancel() { client?.observers.removeAll { $0 === self } }
}
