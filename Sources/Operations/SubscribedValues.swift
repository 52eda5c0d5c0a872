import ATT
package import Bluetooth
package import EventLoop
package import GATT

/// The values of several characteristics in the order of arrival, each from the moment before the peer was asked to send them. While nobody takes
/// them the link goes on, and they wait.
@LoopActor
package final class SubscribedValues {
  private let client: Client
  private let values: BoundedQueue<(ValueEvent, UUID)>
  /// Those that are listened to, by their value handle.
  private var types: [AttributeHandle: UUID] = [:]
  private var subscriptions: [Subscription] = []
  private var observer: ValueObserver?
  private var loss: Task<Void, Never>?

  /// - Parameter onDrop: told how many values were not kept because nobody took thousands of them.
  package init(_ client: Client, onDrop: (@LoopActor (Int) -> Void)? = nil) {
    self.client = client
    values = BoundedQueue(capacity: 16_384, onDrop: onDrop)
    observer = client.observeValues { [weak self] event in
      if let self, let uuid = types[event.handle] { values.add((event, uuid)) }
    }
    loss = EventLoop.shared.spawn { [values] in
      if let reason = try? await client.untilClosed() { values.close(throwing: reason) }
    }
  }

  /// Subscribes. One that is subscribed to already stays so.
  /// - Throws: as `Client.subscribe`.
  package func add(_ characteristic: Characteristic) async throws {
    guard types.updateValue(characteristic.uuid, forKey: characteristic.valueHandle) == nil else { return }
    do { subscriptions.append(try await client.subscribe(characteristic, keepingValues: false)) } catch {
      types[characteristic.valueHandle] = nil
      throw error
    }
  }

  /// The next value, with the type of its characteristic. One taker at a time.
  /// - Returns: nil at `deadline`, and when `close(at:)` says so (see `isClosed`).
  /// - Throws: why the link ended, once nothing is left; CancellationError.
  package func next(until deadline: LoopClock.Instant?) async throws -> (ValueEvent, UUID)? { try await values.next(until: deadline) }

  /// What comes later is not given out.
  package func close(at end: LoopClock.Instant) { values.close(at: end) }

  package var isClosed: Bool { values.isClosed }

  /// Switches off what was subscribed to, also on the peer, within a second: it may be one that does not answer. Also in a cancelled task.
  package func end() async {
    observer?.cancel()
    loss?.cancel()
    values.close()
    await shielded { [subscriptions] in
      let limit = EventLoop.shared.now.advanced(by: .seconds(1))
      _ = try? await withDeadline(limit) { for subscription in subscriptions { try? await subscription.cancel() } }
    }
  }
}
