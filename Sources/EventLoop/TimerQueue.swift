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

/// A binary heap by due time, then by order of insertion, so that equal times fire in the order they were set. Cancelled timers stay
/// in the heap until they surface or outnumber the others: cancelling is the common case (every wait has a limit) and must be cheap.
struct TimerQueue {
  private var heap: [LoopTimer] = []
  private var count = 0
  /// The heap is swept of cancelled timers when it has grown to this.
  private var sweepAt = 64

  /// Timers held, cancelled ones included.
  var held: Int { heap.count }

  /// Due time of the first timer that is not cancelled.
  var next: Int64? {
    mutating get {
      while let first = heap.first, first.action == nil { removeFirst() }
      return heap.first?.due
    }
  }

  mutating func add(due: Int64, action: @escaping () -> Void) -> LoopTimer {
    if heap.count >= sweepAt { sweep() }
    let timer = LoopTimer(due: due, number: count, action: action)
    count += 1
    heap.append(timer)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard Self.isBefore(heap[child], heap[parent]) else { break }
      heap.swapAt(child, parent)
      child = parent
    }
    return timer
  }

  /// Takes out what is due at `now`, in order; the caller runs it, because an action may add timers.
  mutating func takeDue(_ now: Int64) -> [LoopTimer] {
    var due: [LoopTimer] = []
    while let first = heap.first, first.due <= now || first.action == nil {
      removeFirst()
      due.append(first)
    }
    return due
  }

  /// Constant cost per timer added, because at least as many have been added since as are looked at.
  private mutating func sweep() {
    heap.removeAll { $0.action == nil }
    // A sorted array is a heap.
    heap.sort(by: Self.isBefore)
    sweepAt = max(64, 2 * heap.count)
  }

  private mutating func removeFirst() {
    guard let last = heap.popLast(), !heap.isEmpty else { return }
    heap[0] = last
    var parent = 0
    while true {
      var smallest = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && Self.isBefore(heap[child], heap[smallest]) {
        smallest = child
      }
      guard smallest != parent else { return }
      heap.swapAt(parent, smallest)
      parent = smallest
    }
  }

  private static func isBefore(_ a: LoopTimer, _ b: LoopTimer) -> Bool { (a.due, a.number) < (b.due, b.number) }
}
