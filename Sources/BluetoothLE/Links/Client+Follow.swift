// SPDX-License-Identifier: Apache-2.0
/// The limits at which `Client.follow` stops: a number of values, a time, and a silence.
package struct FollowLimits: Sendable, Equatable {
  /// The number of values after which following ends. Nil means no limit.
  package var count: Int?
  package var end: LoopClock.Instant?
  /// The longest wait for the first value and between two values. Nil means no limit.
  package var patience: Duration?

  package init(count: Int? = nil, end: LoopClock.Instant? = nil, patience: Duration? = nil) {
    (self.count, self.end, self.patience) = (count, end, patience)
  }
}

package enum FollowOutcome: Sendable, Equatable {
  case count
  /// The clock reached `FollowLimits.end`.
  case end
  /// No value arrived for `FollowLimits.patience`.
  case silence
}

extension Client {
  /// Subscribes to characteristics and passes on their values up to a limit. Values wait, in the order of arrival, while `take` runs.
  /// - Parameters:
  ///   - subscribe: Adds the characteristics.
  ///   - limits: Returns the limits, after the peer accepted all subscriptions. Values that arrive earlier count.
  ///   - take: Receives each value with the type of its characteristic.
  ///   - onDrop: Receives the number of values lost because `take` was too slow.
  /// - Throws: The error that ended the link; the errors of `subscribe`, `limits` and `take`; `CancellationError`.
  package func follow(
    _ subscribe: @LoopActor (SubscribedValues) async throws -> Void, limits: @LoopActor () async throws -> FollowLimits,
    take: @LoopActor (ValueEvent, UUID) async throws -> Void, onDrop: (@LoopActor (Int) -> Void)? = nil
  ) async throws -> FollowOutcome {
    let values = SubscribedValues(self, onDrop: onDrop)
    do {
      try await subscribe(values)
      let outcome = try await follow(values, try await limits(), take)
      await values.end()
      return outcome
    } catch {
      await values.end()
      throw error
    }
  }

  private func follow(
    _ values: SubscribedValues, _ limits: FollowLimits, _ take: @LoopActor (ValueEvent, UUID) async throws -> Void
  ) async throws -> FollowOutcome {
    if let end = limits.end { values.close(at: end) }
    var count = 0
    // An end time without a count needs no minimum number of values.
    let isNeeded = limits.end == nil || limits.count != nil
    while true {
      let value =
        if let ready = try values.ready() {
          ready
        } else {
          try await values.next(until: limits.patience.map { EventLoop.shared.now.advanced(by: $0) }, isNeeded: isNeeded)
        }
      guard let (event, uuid) = value else { return values.isClosed ? .end : .silence }
      try await take(event, uuid)
      count += 1
      if count == limits.count { return .count }
    }
  }
}
