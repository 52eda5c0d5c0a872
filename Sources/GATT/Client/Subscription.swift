package import ATT
package import EventLoop

/// A value that the peer sent by itself.
package struct ValueEvent: Hashable, Sendable {
  package let handle: AttributeHandle
  package let value: [UInt8]
  /// Confirmed already.
  package let isIndication: Bool
  /// Nanoseconds since 1970-01-01T00:00:00Z, at arrival.
  package let wallClock: Int64
}

/// The values of one characteristic, in order, from the moment before the peer was asked to send them.
@LoopActor
package final class Subscription {
  package enum Kind: Sendable {
    /// Notifications where the characteristic has both.
    case auto
    case notification
    case indication

    /// Of the Client Characteristic Configuration; `.auto` is decided before.
    var bit: UInt8 { self == .indication ? 2 : 1 }
  }

  package let characteristic: Characteristic
  package let kind: Kind
  /// The peer's services have changed: what was subscribed to is not there any more, or somewhere else. No more values come, and ending it tells the
  /// peer nothing.
  package internal(set) var isGone = false
  /// Values that were not kept because nobody took them: at most `capacity` wait.
  package var dropped: Int { values.dropped }

  static let capacity = 16_384

  /// Whether values wait for `next`. False when an observer takes them.
  let keepsValues: Bool
  private weak var client: Client?
  private let values = BoundedQueue<ValueEvent>(capacity: capacity)

  init(_ characteristic: Characteristic, _ kind: Kind, keepsValues: Bool, _ client: Client) {
    self.characteristic = characteristic
    self.kind = kind
    self.keepsValues = keepsValues
    self.client = client
  }

  /// The next value; those that came before the end are still given out. One caller at a time.
  /// - Throws: what the bearer ended with; GATTError.gone; CancellationError when the subscription, or the task, was cancelled.
  package func next() async throws -> ValueEvent {
    guard let event = try await next(until: nil) else { throw CancellationError() }
    return event
  }

  /// - Returns: nil at `deadline`.
  package func next(until deadline: LoopClock.Instant?) async throws -> ValueEvent? { try await values.next(until: deadline) }

  /// Asks the peer to stop (unless others still listen to the same characteristic). Idempotent; after an error it asks again.
  package func cancel() async throws { try await client?.unsubscribe(self) }

  func deliver(_ event: ValueEvent) { if keepsValues { values.add(event) } }

  func end(_ error: any Error) { values.close(throwing: error) }
}
