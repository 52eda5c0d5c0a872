// SPDX-License-Identifier: Apache-2.0
/// The elements of an asynchronous sequence of the library. A task on the loop produces them from the first request on.
final class CallQueue<Element: Sendable>: Sendable {
  typealias Producer = @LoopActor @Sendable (BoundedQueue<Element>) async throws -> Void

  @LoopActor fileprivate final class State {
    private(set) lazy var queue = BoundedQueue<Element>(capacity: 16_384)
    let produce: Producer
    let onEnd: @LoopActor @Sendable () async -> Void
    let isLossy: Bool
    var task: Task<Void, Never>?
    var isOver = false

    nonisolated init(_ produce: @escaping Producer, _ onEnd: @escaping @LoopActor @Sendable () async -> Void, isLossy: Bool) {
      (self.produce, self.onEnd, self.isLossy) = (produce, onEnd, isLossy)
    }

    func start() {
      guard task == nil, !isOver else { return }
      task = EventLoop.shared.spawn { [queue, produce] in
        do {
          try await produce(queue)
          queue.close()
        } catch { queue.close(throwing: error) }
      }
    }

    func end(_ endings: Endings) {
      guard !isOver else { return }
      isOver = true
      task?.cancel()
      queue.close()
      endings.add { [task, onEnd] in
        await task?.value
        await onEnd()
      }
    }
  }

  fileprivate let state: State
  private let adapter: Adapter

  /// - Parameters:
  ///   - isLossy: Whether elements may be lost if the caller is too slow. Otherwise, the loss is an error.
  ///   - onEnd: Runs on the loop after the end of the sequence, also if it never began.
  ///   - produce: Adds elements until the sequence ends. A cancellation ends it.
  init(
    of adapter: Adapter, isLossy: Bool = false, onEnd: @escaping @LoopActor @Sendable () async -> Void = {}, _ produce: @escaping Producer
  ) {
    self.adapter = adapter
    state = State(produce, onEnd, isLossy: isLossy)
  }

  deinit { end() }

  /// Ends the sequence. Idempotent.
  func end() {
    let (state, endings) = (state, adapter.endings)
    EventLoop.shared.perform { state.end(endings) }
  }

  /// An iteration, whose end is the end of the sequence.
  final class Reader: Sendable {
    private let queue: CallQueue
    private let hold: ElementHold

    init(_ queue: CallQueue) {
      self.queue = queue
      hold = ElementHold(for: queue.adapter)
    }

    deinit { queue.end() }

    /// Waits for the next element. Only one task may wait at a time.
    /// - Throws: BluetoothError, CancellationError.
    func next() async throws -> Element? {
      let state = queue.state
      let element = try await BluetoothError.wrapping {
        try await self.hold.next { () async throws -> Element? in
          state.start()
          if state.queue.dropped > 0, !state.isLossy { throw Overrun(count: state.queue.dropped) }
          return try await state.queue.next()
        }
      }
      if element == nil { queue.end() }
      return element
    }
  }
}

/// The ends of sequences that are under way. Later calls wait for them, so that a device has no subscription that the caller has ended.
@LoopActor
final class Endings {
  private var tasks: [Int: Task<Void, Never>] = [:]
  private var count = 0

  nonisolated init() {}

  func add(_ end: @escaping @LoopActor @Sendable () async -> Void) {
    let number = count
    count += 1
    tasks[number] = EventLoop.shared.spawn { [weak self] in
      await end()
      self?.tasks[number] = nil
    }
  }

  func settle() async { for task in tasks.values { await task.value } }
}

/// The loss of elements because the caller was too slow.
struct Overrun: Error {
  let count: Int
}
