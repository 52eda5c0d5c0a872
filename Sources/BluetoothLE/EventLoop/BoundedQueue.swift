// SPDX-License-Identifier: Apache-2.0
public import DequeModule

/// A queue from a source that cannot wait, such as a link, to one taker. The queue drops and counts excess elements.
@LoopActor
@_documentation(visibility: internal)
// `add` and `ready` are public and inlinable, so that other modules can specialize them for their elements.
public final class BoundedQueue<Element> {
  @usableFromInline let capacity: Int
  private let onDrop: (@LoopActor (Int) -> Void)?
  /// The elements that wait for the taker.
  @usableFromInline var items: Deque<Element> = []
  private var taker: Wait<Void>?
  private var timers: [LoopTimer] = []
  private var end: Result<Void, any Error>?
  @usableFromInline package internal(set) var dropped = 0
  private var told = 0

  /// Creates an empty queue.
  /// - Parameter capacity: The maximum number of waiting elements.
  /// - Parameter onDrop: The callback with the total number of drops, before a take if the number has doubled, and after `close`.
  package init(capacity: Int, onDrop: (@LoopActor (Int) -> Void)? = nil) { (self.capacity, self.onDrop) = (capacity, onDrop) }

  /// Adds an element, or drops the element if the queue is full. Does nothing after `close`.
  @inlinable public func add(_ element: Element) {
    guard !isClosed else { return }
    guard items.count < capacity else {
      dropped += 1
      return
    }
    items.append(element)
    wakeTaker()
  }

  /// Returns the next element without suspending. Nil if the queue is empty.
  /// - Throws: CancellationError.
  @inlinable public func ready() throws -> Element? {
    try prepareToTake()
    return items.popFirst()
  }

  @usableFromInline func prepareToTake() throws {
    try Task.checkCancellation()
    if dropped >= max(1, 2 * told) { reportDropped() }
  }

  /// Waits for the next element and returns it. Still returns elements added before `close`. Only one task may wait at a time.
  /// - Parameter vain: Returns the error to throw, or nil to wait. `next` calls it when the queue is empty, and again after `wakeTaker`.
  /// - Returns: Nil at `deadline`, or after `close` if the queue is empty.
  /// - Throws: The error of `close` once the queue is empty, the error of `vain`, or CancellationError.
  package func next(until deadline: LoopClock.Instant? = nil, vain: (@LoopActor () -> (any Error)?)? = nil) async throws -> Element? {
    try prepareToTake()
    while true {
      if let element = items.popFirst() { return element }
      if let end {
        try end.get()
        return nil
      }
      if let reason = vain?() { throw reason }
      let wait = Wait<Void>()
      taker = wait
      guard try await wait.value(until: deadline) != nil else { return nil }
    }
  }

  /// Wakes the task that waits in `next`, so that it checks again whether to stop waiting.
  @usableFromInline package func wakeTaker() { taker?.resume(returning: ()) }

  @usableFromInline package var isClosed: Bool { end != nil }

  /// Closes the queue. Drops the waiting elements and reports the number of all dropped elements.
  /// - Parameter taken: The number of elements that the taker took but did not use.
  package func abandon(taken: Int = 0) {
    dropped += items.count + taken
    items = []
    reportDropped()
    close()
  }

  private func reportDropped() {
    guard dropped > told else { return }
    told = dropped
    onDrop?(dropped)
  }

  package func close(at time: LoopClock.Instant) { timers.append(EventLoop.shared.schedule(at: time) { [weak self] in self?.close() }) }

  package func close(after time: Duration) { close(at: EventLoop.shared.now.advanced(by: time)) }

  package func close() { close(.success(())) }

  package func close(throwing error: any Error) { close(.failure(error)) }

  private func close(_ result: Result<Void, any Error>) {
    guard end == nil else { return }
    end = result
    for timer in timers { timer.cancel() }
    timers = []
    // Report now, although the taker may lag far behind.
    reportDropped()
    taker?.resume(returning: ())
  }
}
