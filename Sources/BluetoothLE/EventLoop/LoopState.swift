// SPDX-License-Identifier: Apache-2.0
/// The part of the event loop's state that any thread may read and change: who runs the loop, its clock, and the jobs from other threads.
///
/// The loop guards it with a mutex. The functions have no other effects, so that tests show every transition.
struct LoopState {
  enum Runner: Equatable {
    /// No runner yet. The next job from another thread starts the loop's own thread.
    case nobody
    /// A caller of `run`, or the thread of a test process. The caller's own code runs on the loop, so time needs no library call.
    case caller
    /// The loop's own thread, until the process ends.
    case ownThread
    /// No runner any more, because `run` returned. Jobs wait for the next `run`.
    case finished
  }

  private(set) var runner = Runner.nobody
  /// Whether time is virtual. Nil until the first choice.
  private(set) var isVirtual: Bool?
  /// The jobs that other threads have added.
  var jobs: [UnownedJob] = []

  /// Adds a job from another thread.
  /// - Returns: Whether the caller must start the loop's own thread.
  mutating func add(_ job: UnownedJob) -> Bool {
    jobs.append(job)
    return startsOwnThread()
  }

  /// Makes the loop's own thread the runner, if no caller has ever run the loop. Time is real then, unless a choice was made before.
  mutating func startsOwnThread() -> Bool {
    guard runner == .nobody else { return false }
    runner = .ownThread
    isVirtual = isVirtual ?? false
    return true
  }

  /// Records that the machine could not start the thread. The next job tries again.
  mutating func ownThreadFailed() { runner = .nobody }

  /// Makes a caller the runner. Time is real then, unless a choice was made before.
  /// - Throws: `EventLoopError.ownThread` or `EventLoopError.running`.
  mutating func beginRun() throws(EventLoopError) {
    switch runner {
    case .ownThread: throw .ownThread
    case .caller: throw .running
    case .nobody, .finished: runner = .caller
    }
    isVirtual = isVirtual ?? false
  }

  mutating func endRun() { runner = .finished }

  /// Chooses the clock.
  /// - Throws: `EventLoopError.mixedClocks` if the other clock was chosen before.
  mutating func choose(virtual: Bool) throws(EventLoopError) {
    if let isVirtual, isVirtual != virtual { throw .mixedClocks(isVirtual: isVirtual) }
    isVirtual = virtual
  }
}

/// The reason why the event loop of this process cannot be used as requested.
package enum EventLoopError: Error, Equatable, CustomStringConvertible {
  /// The other clock is in use. `isVirtual` tells which one that is.
  case mixedClocks(isVirtual: Bool)
  /// The loop has started its own thread, because a job came before `run`.
  case ownThread
  /// Another caller runs the loop.
  case running

  package var description: String {
    switch self {
    case .mixedClocks(let isVirtual):
      let (used, refused) = isVirtual ? ("virtual", "real") : ("real", "virtual")
      return "Cannot use \(refused) time: this process already uses \(used) time, and virtual and real time cannot be mixed in one process."
        + " Use another process, or choose the clock before anything else."
    case .ownThread: return "Cannot run the event loop on this thread: it already runs on its own thread. Run it before the first job."
    case .running: return "Cannot run the event loop on this thread: another caller already runs it."
    }
  }
}
