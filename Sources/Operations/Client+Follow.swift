package import Bluetooth
package import EventLoop
package import GATT

/// How long values are followed.
package struct FollowLimits: Sendable, Equatable {
  /// End after so many.
  package var count: Int?
  package var end: LoopClock.Instant?
  /// The longest wait for the first value and between two.
  package var patience: Duration?

  package init(count: Int? = nil, end: LoopClock.Instant? = nil, patience: Duration? = nil) {
    self.count = count
    self.end = end
    self.patience = patience
  }
}

package enum FollowOutcome: Sendable, Equatable {
  case count
  /// At `FollowLimits.end`.
  case end
  /// No value came for `FollowLimits.patience`.
  case silence
}

extension Client {
  /// Subscribes to characteristics and gives out their values, in the order of arrival, until a limit is reached. While `take` waits the link
  /// goes on, and values wait.
  /// - Parameters:
  ///   - limits: asked for once the peer has accepted all subscriptions.
  ///   - take: gets each value with the type of its characteristic.
  ///   - onDrop: told how many values were not kept because `take` was thousands behind.
  /// - Throws: NotACharacteristic; why the link ended; as `subscribe`; what `take` throws; CancellationError.
  package func follow(
    _ selectors: [Selector], limits: @LoopActor () -> FollowLimits, take: @LoopActor (ValueEvent, UUID) async throws -> Void,
    onDrop: (@LoopActor (Int) -> Void)? = nil
  ) async throws -> FollowOutcome {
    let values = BoundedQueue<(ValueEvent, UUID)>(capacity: 16_384, onDrop: onDrop)
    var characteristics: [Characteristic] = []
    for selector in selectors { characteristics.append(try await characteristic(selector)) }
    let types = Dictionary(characteristics.map { ($0.valueHandle, $0.uuid) }) { $1 }
    let observer = observeValues { event in
      if let uuid = types[event.handle] { values.add((event, uuid)) }
    }
    let loss = EventLoop.shared.spawn {
      if let reason = try? await self.untilClosed() { values.close(throwing: reason) }
    }
    defer {
      observer.cancel()
      loss.cancel()
      values.close()
    }
    var subscriptions: [Subscription] = []
    do {
      for characteristic in characteristics { subscriptions.append(try await subscribe(characteristic, keepingValues: false)) }
      let outcome = try await follow(values, limits(), take)
      await end(subscriptions)
      return outcome
    } catch {
      await end(subscriptions)
      throw error
    }
  }

  /// On the peer, which may be one that does not answer; also in a cancelled task.
  private func end(_ subscriptions: [Subscription]) async {
    await shielded {
      let limit = EventLoop.shared.now.advanced(by: .seconds(1))
      _ = try? await withDeadline(limit) { for subscription in subscriptions { try await subscription.cancel() } }
    }
  }

  private func follow(
    _ values: BoundedQueue<(ValueEvent, UUID)>, _ limits: FollowLimits, _ take: @LoopActor (ValueEvent, UUID) async throws -> Void
  ) async throws -> FollowOutcome {
    if let end = limits.end { values.close(at: end) }
    var count = 0
    while let (event, uuid) = try await values.next(until: limits.patience.map { EventLoop.shared.now.advanced(by: $0) }) {
      try await take(event, uuid)
      count += 1
      if count == limits.count { return .count }
    }
    return values.isClosed ? .end : .silence
  }
}
