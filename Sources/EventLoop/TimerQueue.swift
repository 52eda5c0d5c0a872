import HeapModule

/// A pending call. Cancelling is idempotent and may be done from the call itself.
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

/// By due time, then in the order of insertion. Cancelled timers stay until they surface or outnumber the others: cancelling is the common
/// case (every wait has a limit) and must be cheap.
struct TimerQueue {
  private struct Entry: Comparable {
    let timer: LoopTimer

    static func == (a: Entry, b: Entry) -> Bool { a.timer === b.timer }
    static func < (a: Entry, b: Entry) -> Bool { (a.timer.due, a.timer.number) < (b.timer.due, b.timer.number) }
  }

  private var heap = Heap<Entry>()
  private var count = 0
  /// The heap is swept of cancelled timers when it has grown to this.
  private var sweepAt = 64

  /// Timers held, cancelled ones included.
  var held: Int { heap.count }

  /// Due time of the first timer that is not cancelled.
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

  /// Takes out what is due at `now`, in order; the caller runs it, because an action may add timers.
  mutating func takeDue(_ now: Int64) -> [LoopTimer] {
    var due: [LoopTimer] = []
    while let first = heap.min, first.timer.due <= now || first.timer.action == nil {
      _ = heap.popMin()
      due.append(first.timer)
    }
    return due
  }

  /// Constant cost per timer added, because at least as many have been added since as are looked at.
  private mutating func sweep() {
    heap = Heap(heap.unordered.filter { $0.timer.action != nil })
    sweepAt = max(64, 2 * heap.count)
  }
}
