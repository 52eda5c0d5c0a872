package import ATT
import Bluetooth
import EventLoop

extension Client {
  /// Asks the peer to send the values of `characteristic` (Vol 3 Part G §4.10, §4.11): writes its Client Characteristic Configuration, which
  /// discovery must have found. Values that arrive before the peer's answer are kept.
  /// - Throws: GATTError.sendsNoValues, the errors of a write; CancellationError.
  package func subscribe(_ characteristic: Characteristic, kind: Subscription.Kind = .auto) async throws -> Subscription {
    let properties = characteristic.properties
    var kind = kind
    if kind == .auto {
      guard !properties.isDisjoint(with: [.notify, .indicate]) else {
        throw GATTError.sendsNoValues(characteristic)
      }
      kind = properties.contains(.notify) ? .notification : .indication
    }
    let subscription = Subscription(characteristic, kind, self)
    if let closed { throw closed }
    subscriptions.append(subscription)
    do { try await configure(characteristic, kind == .indication ? [2, 0] : [1, 0]) } catch {
      subscriptions.removeAll { $0 === subscription }
      subscription.end(CancellationError())
      throw error
    }
    return subscription
  }

  /// Asks for indications of Service Changed, if the peer has that characteristic, so that a long session hears when its table is out of date.
  package func subscribeToServiceChanged() async throws {
    guard let item = table?.characteristics.first(where: { $0.uuid == .serviceChanged }), let descriptor = item.clientConfiguration else {
      return
    }
    _ = try await answer(
      .write(descriptor.handle, value: [2, 0]),
      tolerating: [.writeNotPermitted, .insufficientAuthentication, .insufficientEncryption, .insufficientAuthorization])
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
    let characteristic = subscription.characteristic
    if subscriptions.contains(where: { $0.characteristic.valueHandle == characteristic.valueHandle }) { return }
    if closed == nil { try await configure(characteristic, [0, 0]) }
  }

  private func configure(_ characteristic: Characteristic, _ value: [UInt8]) async throws {
    guard let descriptor = characteristic.clientConfiguration else {
      // Never guessed: writing to a neighbour's handle has broken devices.
      onNote?(.noClientConfiguration(characteristic))
      return
    }
    try await writeRequest(value, to: descriptor.handle)
  }

  // MARK: What arrives

  package func received(_ event: Unsolicited) {
    switch event {
    case .notification(let item): deliver(item, isIndication: false)
    case .indication(let item):
      if let table, table.characteristics.contains(where: { $0.uuid == .serviceChanged && $0.valueHandle == item.handle }) {
        self.table = nil
        onNote?(.servicesChanged(.all))
      }
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
    onValue?(event)
  }
}
