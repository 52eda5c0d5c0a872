public import DequeModule

/// Between a source that does not wait, as the air and a link, and one taker, who may. What is too much is dropped and counted.
///
/// `add` and `ready` are public, which inside of a package only this does: other modules make code of their own of them for their elements.
@LoopActor
public final class BoundedQueue<Element> {
  @usableFromInline let capacity: Int
  private let onDrop: (@LoopActor (Int) -> Void)?
  /// What was added and not taken.
  @usableFromInline var items: Deque<Element> = []
  private var taker: Wait<Void>?
  private var timers: [LoopTimer] = []
  private var end: Result<Void, any Error>?
  @usableFromInline package internal(set) var dropped = 0
  private var told = 0

  /// - Parameters:
  ///   - capacity: elements that wait at most.
  ///   - onDrop: told how many elements were dropped so far: when there are twice as many as before and the taker is back, and at the end.
  package init(capacity: Int, onDrop: (@LoopActor (Int) -> Void)? = nil) {
    self.capacity = capacity
    self.onDrop = onDrop
  }

  /// Does nothing after `close`.
  @inlinable public func add(_ element: Element) {
    guard !isClosed else { return }
    guard items.count < capacity else {
      dropped += 1
      return
    }
    items.append(element)
    wakeTaker()
  }

  /// The next element when it is there already: `next` without an asynchronous call.
  /// - Throws: CancellationError.
  @inlinable public func ready() throws -> Element? {
    try prepareToTake()
    return items.popFirst()
  }

  @usableFromInline func prepareToTake() throws {
    try Task.checkCancellation()
    if dropped >= max(1, 2 * told) { reportDropped() }
  }

  /// The next element; what was added before `close` is still given out. One taker at a time.
  /// - Parameter vain: asked when nothing is left, and again at `wakeTaker`: why it is vain to wait.
  /// - Returns: nil at `deadline`, and after `close` (see `isClosed`).
  /// - Throws: what it was closed with, once nothing is left; what `vain` says; CancellationError.
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

  /// Whoever waits looks again whether that is vain.
  @usableFromInline package func wakeTaker() { taker?.resume(returning: ()) }

  @usableFromInline package var isClosed: Bool { end != nil }

  /// The taker gives up: what it has not taken is dropped, and told.
  /// - Parameter taken: elements that it took for nothing.
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
    // Now, although the taker may be far behind.
    reportDropped()
    taker?.resume(returning: ())
  }
}
