// SPDX-License-Identifier: Apache-2.0
/// An event that occurs repeatedly and that tasks wait for, for example room to send. A wait allocates no memory.
@LoopActor
package final class Gate {
  private enum Outcome: Sendable { case opened, late, cancelled }

  private struct Waiter {
    let number: Int
    let deadline: LoopClock.Instant?
    let continuation: LoopContinuation<Outcome>
  }

  private var waiting: [Waiter] = []
  /// The tasks that `open` is resuming. Empty at all other times.
  private var leaving: [Waiter] = []
  private var count = 0
  /// The timer for the earliest deadline of the waiting tasks. It may remain after its task stopped waiting.
  private var timer: (due: LoopClock.Instant, timer: LoopTimer)?

  package init() {}

  isolated deinit { timer?.timer.cancel() }

  /// Resumes all waiting tasks. Later tasks wait for the next opening.
  package func open() {
    guard !waiting.isEmpty else { return }
    swap(&waiting, &leaving)
    for waiter in leaving { waiter.continuation.resume(returning: .opened) }
    leaving.removeAll(keepingCapacity: true)
  }

  /// Waits for the next call of `open`.
  /// - Parameter deadline: The time limit of the wait. Nil means no limit.
  /// - Returns: False if the deadline passed first.
  /// - Throws: CancellationError.
  package func pass(until deadline: LoopClock.Instant? = nil) async throws -> Bool {
    let number = count
    count += 1
    let outcome = await withTaskCancellationHandler {
      if Task.isCancelled { return Outcome.cancelled }
      if let deadline { arm(deadline) }
      return await LoopContinuation.suspend { waiting.append(Waiter(number: number, deadline: deadline, continuation: $0)) }
    } onCancel: {
      EventLoop.shared.perform { self.leave(number) }
    }
    if outcome == .cancelled { throw CancellationError() }
    return outcome == .opened
  }

  private func leave(_ number: Int) {
    guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
    waiting.remove(at: index).continuation.resume(returning: .cancelled)
  }

  private func arm(_ deadline: LoopClock.Instant) {
    if let timer {
      if timer.due <= deadline { return }
      timer.timer.cancel()
    }
    timer = (deadline, EventLoop.shared.schedule(at: deadline) { [weak self] in self?.expire() })
  }

  private func expire() {
    guard let due = timer?.due else { return }
    timer = nil
    var next: LoopClock.Instant?
    let all = waiting
    waiting.removeAll()
    for waiter in all {
      guard let deadline = waiter.deadline, deadline <= due else {
        if let deadline = waiter.deadline { next = min(next ?? deadline, deadline) }
        waiting.append(waiter)
        continue
      }
      waiter.continuation.resume(returning: .late)
    }
    if let next { arm(next) }
  }
}
