import HeapModule

/// A pending call. Canceling is idempotent and allowed within the call itself.
package final class LoopTimer {
  fileprivate let due: Int64
  fileprivate let number: Int
  fileprivate var action: (() -> Void)?

  fileprivate init(due: Int64, number: Int, action: @escaping () -> Void) {
    self.due = due
    self.number = number
    self.action = action
  }

  package func cancel() { action = nil }

  func fire() {
    let action = action
    self.action = nil
    action?()
  }
}

/// Timers by due time, then by order of insertion. Canceled timers stay until they are first or outnumber the others. Canceling is the
/// common case (every wait has a limit) and must be cheap.
struct TimerQueue {
  private struct Entry: Comparable {
    let timer: LoopTimer

    static func == (a: Entry, b: Entry) -> Bool { a.timer === b.timer }
    static func < (a: Entry, b: Entry) -> Bool { (a.timer.due, a.timer.number) < (b.timer.due, b.timer.number) }
  }

  private var heap = Heap<Entry>()
  private var count = 0
  /// The number of timers in the heap at which `sweep` removes the canceled ones.
  private var sweepAt = 64

  /// The number of timers, including canceled ones.
  var held: Int { heap.count }

  /// The due time of the first active timer, in nanoseconds of the loop's clock.
  var next: Int64? {
    mutating get {
      while let first = heap.min, first.timer.action == nil { _ = heap.popMin() }
      return heap.min?.timer.due
    }
  }

  mutating func add(due: Int64, action: @escaping () -> Void) -> LoopTimer {
    if heap.count >= sweepAt { sweep() }
    let timer = LoopTimer(due: due, number: count, action: action)
    count += 1
    heap.insert(Entry(timer: timer))
    return timer
  }

  /// Removes and returns the timers due at `now`, in order. The caller runs the timers, because an action may add new ones.
  mutating func takeDue(_ now: Int64) -> [LoopTimer] {
    var due: [LoopTimer] = []
    while let first = heap.min, first.timer.due <= now || first.timer.action == nil {
      _ = heap.popMin()
      due.append(first.timer)
    }
    return due
  }

  /// Removes canceled timers. The cost per added timer is constant, because the loop has added at least as many since as it checks.
  private mutating func sweep() {
    heap = Heap(heap.unordered.filter { $0.timer.action != nil })
    sweepAt = max(64, 2 * heap.count)
  }
}
