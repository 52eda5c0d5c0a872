// SPDX-License-Identifier: Apache-2.0
extension LocalDevice {
  /// An action of a central. The address of a central is that of its link: a later link of the same central may have another one.
  public enum Event: Sendable {
    /// A central has connected.
    case connected(Peripheral)
    /// A central has read this value.
    case read(Characteristic, [UInt8], Peripheral)
    /// A central has written this value, which the device has now.
    case written(Characteristic, [UInt8], Peripheral)
    /// A central gets the values of ``Server/notify(_:_:to:)`` from now on. Bonded centrals need not subscribe again on their next link.
    case subscribed(Characteristic, Peripheral)
    /// A central gets no values any more.
    case unsubscribed(Characteristic, Peripheral)
    /// A central has paired. Its link has this level.
    case paired(Peripheral, SecurityLevel)
    /// The link of a central has ended, with its subscriptions, for this reason.
    case disconnected(Peripheral, BluetoothError)
  }

  /// The actions of centrals, in order, from the beginning of ``Adapter/serve(_:_:)`` to its end.
  ///
  /// Iterate once: another iteration has no events. Up to 16,384 events wait while the caller works. The device also answers
  /// without an iteration.
  public struct Events: AsyncSequence, Sendable {
    private let queue: CallQueue<Event>

    @LoopActor init(_ events: BoundedQueue<Event>, of central: any Central, _ adapter: Adapter) {
      queue = CallQueue(of: adapter, Endings(), onEnd: { events.abandon() }) {
        while true {
          // The events that wait still arrive, and the loss is known after them.
          if events.dropped > 0, !events.isClosed { events.close(throwing: Overrun(count: events.dropped)) }
          // Without a connected central, nobody reports the failure of the adapter.
          let deadline = EventLoop.shared.now.advanced(by: .seconds(1))
          if let event = try await events.next(until: deadline) { return event }
          if events.isClosed { return nil }
          if let failure = central.failure { throw failure }
        }
      }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(queue) }

    /// The one iteration of the events.
    public struct Iterator: AsyncIteratorProtocol {
      private let queue: CallQueue<Event>.Reader

      init(_ queue: CallQueue<Event>) { self.queue = CallQueue.Reader(queue) }

      /// Waits for the next event.
      /// - Returns: Nil after the end of ``Adapter/serve(_:_:)``.
      /// - Throws: ``BluetoothError/Reason/adapter`` if the adapter fails, ``BluetoothError/Reason/overrun`` after the events that waited if
      ///   others were lost because the caller was too slow; CancellationError.
      public mutating func next() async throws -> Event? { try await queue.next() }
    }
  }
}
