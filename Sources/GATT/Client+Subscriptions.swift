package import ATT
package import EventLoop

extension Client {
  /// What is known of a Client Characteristic Configuration on the peer, and who waits for it to be written.
  struct ClientConfiguration {
    /// Bit 0 notifications, bit 1 indications; nil when a write ended so that nobody knows.
    var bits: UInt8? = 0
    var isWriting = false
    /// One for each caller: giving up waiting must not end it for the others.
    var waiting: [Wait<Void>] = []
  }

  /// Asks the peer to send the values of `characteristic` (Vol 3 Part G §4.10, §4.11), whose descriptors discovery must have found. Several
  /// subscriptions to one characteristic share its Client Characteristic Configuration: it is written when what they want together changes.
  /// Values that arrive before the peer's answer are kept.
  /// - Parameter keepingValues: false for who sees the values as an observer.
  /// - Throws: GATTError.sendsNoValues, the errors of a write; CancellationError.
  package func subscribe(_ characteristic: Characteristic, kind: Subscription.Kind = .auto, keepingValues: Bool = true) async throws
    -> Subscription
  {
    let properties = characteristic.properties
    var kind = kind
    if kind == .auto {
      guard !properties.isDisjoint(with: [.notify, .indicate]) else { throw GATTError.sendsNoValues(characteristic) }
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
    guard let index = subscriptions.firstIndex(where: { $0 === subscription }) else { return }
    subscriptions.remove(at: index)
    subscription.end(CancellationError())
    if closed == nil { try await configure(subscription.characteristic) }
  }

  /// Ends a subscription to what is not there any more, or somewhere else: the peer is not told.
  package func forget(_ subscription: Subscription) {
    subscriptions.removeAll { $0 === subscription }
    subscription.end(CancellationError())
  }

  /// Writes the Client Characteristic Configuration until it is what the subscriptions want together; one writes, the others wait for it.
  private func configure(_ characteristic: Characteristic) async throws {
    guard let descriptor = characteristic.clientConfiguration?.handle else { return }
    while true {
      let wanted = subscriptions.filter { $0.characteristic.valueHandle == characteristic.valueHandle }.reduce(UInt8(0)) {
        $0 | $1.kind.bit
      }
      if configurations[descriptor, default: ClientConfiguration()].isWriting {
        let wait = Wait<Void>()
        configurations[descriptor]?.waiting.append(wait)
        try await wait.value()
        continue
      }
      guard configurations[descriptor, default: ClientConfiguration()].bits != wanted else { return }
      configurations[descriptor] = ClientConfiguration(bits: nil, isWriting: true)
      do { try await writeRequest([wanted, 0], to: descriptor) } catch {
        wrote(nil, to: descriptor)
        throw error
      }
      wrote(wanted, to: descriptor)
    }
  }

  private func wrote(_ bits: UInt8?, to descriptor: AttributeHandle) {
    let waiting = configurations.updateValue(ClientConfiguration(bits: bits), forKey: descriptor)?.waiting ?? []
    for wait in waiting { wait.resume(returning: ()) }
  }

  // MARK: What arrives

  /// Every notification and indication in the order of arrival, subscribed to or not, until the observer is cancelled or the bearer ends.
  package func observeValues(_ handler: @escaping @LoopActor (ValueEvent) -> Void) -> ValueObserver {
    let observer = ValueObserver(handler, self)
    if closed == nil { observers.append(observer) }
    return observer
  }

  package func received(_ event: Unsolicited) {
    switch event {
    case .notification(let item): deliver(item, isIndication: false)
    case .indication(let item):
      if item.handle == serviceChanged?.valueHandle { servicesChanged(item.value) }
      deliver(item, isIndication: true)
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

/// Sees every value that a client receives, until it is cancelled.
@LoopActor
package final class ValueObserver {
  fileprivate let handler: @LoopActor (ValueEvent) -> Void
  private weak var client: Client?

  fileprivate init(_ handler: @escaping @LoopActor (ValueEvent) -> Void, _ client: Client) {
    self.handler = handler
    self.client = client
  }

  /// Idempotent.
  package func cancel() { client?.observers.removeAll { $0 === self } }
}
