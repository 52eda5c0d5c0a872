// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The elements of an asynchronous sequence of the library, for one iteration.
package final class CallQueue<Element: Sendable>: Sendable {
  typealias Source = @LoopActor @Sendable () async throws -> Element?

  @LoopActor fileprivate final class State {
    private let source: Source
    private let onEnd: @LoopActor @Sendable () async -> Void
    private let endings: Endings
    private var isOver = false

    nonisolated init(_ source: @escaping Source, _ onEnd: @escaping @LoopActor @Sendable () async -> Void, _ endings: Endings) {
      (self.source, self.onEnd, self.endings) = (source, onEnd, endings)
    }

    /// Waits for the next element. Nothing follows the end and an error.
    func next() async throws -> Element? {
      guard !isOver else { return nil }
      do {
        if let element = try await source() { return element }
      } catch {
        end()
        throw error
      }
      end()
      return nil
    }

    func end() {
      guard !isOver else { return }
      isOver = true
      endings.add(onEnd)
    }
  }

  fileprivate let state: State
  private let adapter: Adapter
  /// Whether there is an iteration. Others have no elements.
  private let isTaken = Atomic(false)

  /// - Parameters:
  ///   - endings: The ends that later calls wait for.
  ///   - onEnd: Runs on the loop after the end of the sequence, also if it never began.
  ///   - source: Waits for the next element. Nil ends the sequence.
  init(of adapter: Adapter, _ endings: Endings, onEnd: @escaping @LoopActor @Sendable () async -> Void, _ source: @escaping Source) {
    self.adapter = adapter
    state = State(source, onEnd, endings)
  }

  /// - Parameter produce: Runs in a task from the first request on, and adds elements until the sequence ends. A cancellation ends it.
  package convenience init(
    of adapter: Adapter, _ endings: Endings, _ produce: @escaping @LoopActor @Sendable (BoundedQueue<Element>) async throws -> Void
  ) {
    let production = Production(produce)
    self.init(of: adapter, endings, onEnd: { await production.end() }) { try await production.next() }
  }

  deinit { end() }

  private func end() {
    let state = state
    EventLoop.shared.perform { state.end() }
  }

  /// An iteration, whose end is the end of the sequence.
  package final class Reader: Sendable {
    private let queue: CallQueue
    private let hold: ElementHold
    private let isFirst: Bool

    package init(_ queue: CallQueue) {
      self.queue = queue
      hold = ElementHold(for: queue.adapter)
      isFirst = !queue.isTaken.exchange(true, ordering: .relaxed)
    }

    deinit { if isFirst { queue.end() } }

    /// Waits for the next element. Only one task may wait at a time.
    /// - Throws: BluetoothError, CancellationError.
    package func next() async throws -> Element? {
      guard isFirst else { return nil }
      let state = queue.state
      return try await BluetoothError.wrapping { try await self.hold.next { () async throws -> Element? in try await state.next() } }
    }
  }
}

/// A task that adds elements to a queue.
@LoopActor
private final class Production<Element: Sendable> {
  private lazy var queue = BoundedQueue<Element>(capacity: 16_384)
  private let produce: @LoopActor @Sendable (BoundedQueue<Element>) async throws -> Void
  private var task: Task<Void, Never>?

  nonisolated init(_ produce: @escaping @LoopActor @Sendable (BoundedQueue<Element>) async throws -> Void) { self.produce = produce }

  func next() async throws -> Element? {
    task =
      task
      ?? EventLoop.shared.spawn { [queue, produce] in
        do {
          try await produce(queue)
          queue.close()
        } catch { queue.close(throwing: error) }
      }
    return try await queue.next()
  }

  func end() async {
    task?.cancel()
    await task?.value
  }
}

/// The ends of sequences that are under way. Later calls wait for them, so that a device has no subscription that the caller has ended.
@LoopActor
package final class Endings {
  private var count = 0
  private var waiting: Wait<Void>?

  package nonisolated init() {}

  func add(_ end: @escaping @LoopActor @Sendable () async -> Void) {
    count += 1
    EventLoop.shared.spawn { [self] in
      await end()
      count -= 1
      guard count == 0 else { return }
      waiting?.resume(returning: ())
      waiting = nil
    }
  }

  /// - Throws: CancellationError.
  func settle() async throws {
    while count > 0 {
      let wait = waiting ?? Wait()
      waiting = wait
      try await wait.value()
    }
  }
}

/// The loss of elements because the caller was too slow.
struct Overrun: Error {
  let count: Int
}
