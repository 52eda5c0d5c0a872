package import ATT
package import EventLoop

/// A notified or indicated value.
package struct ValueEvent: Hashable, Sendable {
  package let handle: AttributeHandle
  package let value: [UInt8]
  /// Whether the value is an indication. The bearer has already confirmed it.
  package let isIndication: Bool
  /// The time of arrival, in nanoseconds since 1970-01-01T00:00:00Z.
  package let wallClock: Int64
}

/// The values of one characteristic, in order, starting before the request to the peer.
@LoopActor
package final class Subscription {
  package enum Kind: Sendable {
    /// Notifications, or indications if the characteristic has no notifications.
    case auto
    case notification
    case indication

    /// The bit in the Client Characteristic Configuration. The client resolves `.auto` before.
    var bit: UInt8 { self == .indication ? 2 : 1 }
  }

  package let characteristic: Characteristic
  package let kind: Kind
  /// Whether the characteristic is gone or has moved after a change of services. No more values arrive, and `cancel` writes nothing.
  package internal(set) var isGone = false
  /// The number of values that the subscription discarded. At most `capacity` wait for `next`.
  package var dropped: Int { values.dropped }

  static let capacity = 16_384

  /// Whether values wait for `next`. False if an observer receives them.
  let keepsValues: Bool
  private weak var client: Client?
  private let values = BoundedQueue<ValueEvent>(capacity: capacity)

  init(_ characteristic: Characteristic, _ kind: Kind, keepsValues: Bool, _ client: Client) {
    self.characteristic = characteristic
    self.kind = kind
    self.keepsValues = keepsValues
    self.client = client
  }

  /// Waits for the next value. Still returns values from before the end. Allows one caller at a time.
  /// - Throws: the error that closed the bearer, GATTError.gone, CancellationError after the caller canceled the subscription or the task.
  package func next() async throws -> ValueEvent {
    guard let event = try await next(until: nil) else { throw CancellationError() }
    return event
  }

  /// Waits for the next value until `deadline`, then returns nil.
  package func next(until deadline: LoopClock.Instant?) async throws -> ValueEvent? { try await values.next(until: deadline) }

  /// Ends the subscription, and asks the peer to stop unless other subscriptions remain. Idempotent. After an error, asks again.
  package func cancel() async throws { try await client?.unsubscribe(self) }

  func deliver(_ event: ValueEvent) { if keepsValues { values.add(event) } }

  func end(_ error: any Error) { values.close(throwing: error) }
}
