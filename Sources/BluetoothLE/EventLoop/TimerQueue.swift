// SPDX-License-Identifier: Apache-2.0
import HeapModule

/// A pending call of an action. Canceling the call is idempotent and allowed within the action itself.
package final class LoopTimer {
  fileprivate let due: Int64
  fileprivate let number: Int
  fileprivate var action: (() -> Void)?

  fileprivate init(due: Int64, number: Int, action: @escaping () -> Void) { (self.due, self.number, self.action) = (due, number, action) }

  package func cancel() { action = nil }

  func fire() {
    let action = action
    self.action = nil
    action?()
  }
}

/// A queue of timers, ordered by due time and then by insertion. Canceled timers stay until they are first or outnumber the active timers.
struct TimerQueue {
  private struct Entry: Comparable {
    let timer: LoopTimer

    static func == (a: Entry, b: Entry) -> Bool { a.timer === b.timer }
    static func < (a: Entry, b: Entry) -> Bool { (a.timer.due, a.timer.number) < (b.timer.due, b.timer.number) }
  }

  private var heap = Heap<Entry>()
  private var count = 0
  /// The number of timers in the heap at which `sweep` removes the canceled timers.
  private var sweepAt = 64

  /// The number of timers in the heap, including canceled timers.
  var held: Int { heap.count }

  /// The due time of the first active timer, in nanoseconds of the loop's clock. Nil without an active timer.
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

  /// Removes and returns the timers due at `now`, in nanoseconds of the loop's clock, in order. `EventLoop.turn` fires them.
  mutating func takeDue(_ now: Int64) -> [LoopTimer] {
    var due: [LoopTimer] = []
    while let first = heap.min, first.timer.due <= now || first.timer.action == nil {
      _ = heap.popMin()
      due.append(first.timer)
    }
    return due
  }

  /// Removes canceled timers from the heap. Sets the limit for the next call to twice the number of active timers, at least 64.
  private mutating func sweep() {
    heap = Heap(heap.unordered.filter { $0.timer.action != nil })
    sweepAt = max(64, 2 * heap.count)
  }
}
