import Glibc
import Synchronization

/// One thread: runs Swift jobs, waits for descriptors with poll(2), and owns the clock.
///
/// A turn is a limited batch of jobs, a look at the descriptors and the due timers: none of them can starve the others. A job that need never
/// suspend is given a share of its turn (`isShareSpent`).
///
/// In virtual time it does not wait for timers: when no job and no descriptor is ready, the clock jumps to the next timer, so a
/// 16-second transfer over the simulated air takes milliseconds and always gives the same result.
package final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
  package static let shared = EventLoop()

  // Touched on the loop's thread only, except `foreign` and what is set before run().
  private var jobs: [UnownedJob] = []
  /// Resumed when the other jobs had their turn. Here and below, the second list is the one being worked on, and empty but for its memory.
  private var waitingForTurn: [LoopContinuation<Void>] = [], resuming: [LoopContinuation<Void>] = []
  /// What is due before the descriptors are looked at.
  private var deferred: [DeferredAction] = [], running: [DeferredAction] = []
  /// Jobs and steps that this turn, and steps that this job, may still take, and turns that `deferred` may wait.
  private var turnLeft = 0, shareLeft = share, batchesLeft = 64
  private var timers = TimerQueue()
  private var watches: [Int: Watch] = [:]
  private var nextWatch = 0
  private var pollSet: [pollfd] = []
  private var pollOrder: [Watch] = []
  private var pollSetIsStale = true
  private var thread: pthread_t?
  private var isFinished = false
  private var virtualNow: Int64 = 0
  /// The wall clock at virtual time zero.
  private var virtualStart: Int64 = 1_767_225_600_000_000_000
  package private(set) var isVirtual = false

  /// Jobs from other threads, and the pipe that wakes poll for them.
  private let foreign = Mutex<[UnownedJob]>([])
  private let wakeRead: Int32
  private let wakeWrite: Int32

  /// Others than `shared` are for tests: `LoopActor` is the shared one's.
  init() {
    var ends: [Int32] = [-1, -1]
    _ = unsafe pipe(&ends)
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    wakeRead = ends[0]
    wakeWrite = ends[1]
  }

  // MARK: Jobs

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if isOnThread {
      jobs.append(job)
    } else {
      foreign.withLock { $0.append(job) }
      wake()
    }
  }

  package func checkIsolated() {
    precondition(isOnThread, "called off the event loop's thread")
  }

  package func isIsolatingCurrentContext() -> Bool? { isOnThread }

  private var isOnThread: Bool {
    guard let thread = thread else { return false }
    return pthread_equal(thread, pthread_self()) != 0
  }

  private func wake() {
    var byte: UInt8 = 1
    _ = unsafe write(wakeWrite, &byte, 1)
  }

  // MARK: Running

  /// Switches to virtual time. Call before `run`.
  package func useVirtualTime() { isVirtual = true }

  /// Runs `body` on the loop's actor until it returns; the calling thread becomes the loop's thread.
  package func run<T: Sendable>(_ body: @escaping @LoopActor () async throws -> T) throws -> T {
    let outcome = Outcome<T>()
    thread = pthread_self()
    spawn {
      do { outcome.result = .success(try await body()) } catch { outcome.result = .failure(error) }
      self.isFinished = true
      // The turn in which this happens would wait for a descriptor or a timer otherwise.
      self.wake()
    }
    while true {
      if isFinished, let result = LoopActor.assumeIsolated({ outcome.result }) {
        isFinished = false
        thread = nil
        return try result.get()
      }
      turn()
    }
  }

  /// Starts a task on the loop. Use this instead of `Task { @LoopActor in … }`: without the executor preference a task resumes from every
  /// wait on another thread first, which costs two hops, and lets the loop believe that nothing is left to do.
  @discardableResult
  package func spawn<T: Sendable>(_ body: @escaping @LoopActor @Sendable () async -> T) -> Task<T, Never> {
    Task(executorPreference: self) { await body() }
  }

  /// Calls `action` at once when on the loop's thread, else as soon as the loop gets to it: for cancellation handlers.
  package func perform(_ action: @escaping @LoopActor @Sendable () -> Void) {
    if isOnThread { LoopActor.assumeIsolated(action) } else { spawn { action() } }
  }

  @LoopActor private final class Outcome<T> {
    nonisolated init() {}
    var result: Result<T, any Error>?
  }

  /// Pumps for ever on the calling thread: for test processes, whose tests are isolated to `LoopActor`.
  package func runForever() -> Never {
    thread = pthread_self()
    while true { turn() }
  }

  /// Jobs and steps of one turn: many, because looking at the descriptors costs as much as dozens of them; few enough to take milliseconds.
  static let batch = 4096
  /// Steps of one job in one turn.
  static let share = 64

  /// A batch of jobs, then all ready descriptors, then all due timers.
  func turn() {
    takeForeignJobs()
    runJobs()
    runDeferred()
    let isBusy = !jobs.isEmpty || !waitingForTurn.isEmpty || !deferred.isEmpty
    let ready = pollDescriptors(timeout: isBusy ? 0 : pollTimeout())
    if isVirtual, !isBusy, !ready, hasReader {
      hasReader = false
      _ = pollDescriptors(timeout: Self.readersTime)
      return
    }
    if isVirtual, !isBusy, !ready, foreign.withLock({ $0.isEmpty }), let due = nextDue { virtualNow = max(virtualNow, due) }
    for timer in timers.takeDue(now.nanoseconds) {
      shareLeft = Self.share
      timer.fire()
    }
  }

  /// A reader of our output lives in real time. Virtual time waits for it this long before it goes on without it: 0.2 s.
  private static let readersTime: Int64 = 200_000_000
  private var hasReader = false

  /// In virtual time the clock stops here, until it is set anew: someone who lives in real time is at the keyboard. Nil: it goes on.
  package var horizon: LoopClock.Instant?

  /// The time of the next timer that the clock may reach.
  private var nextDue: Int64? {
    guard let due = timers.next else { return nil }
    if isVirtual, let horizon, due > horizon.nanoseconds { return nil }
    return due
  }

  /// Says that someone has begun to read what was written, and is behind.
  package func waitForReader() { hasReader = true }

  /// Set while nothing is under way, and what comes next is for whoever types or writes commands to say: virtual time waits for them, as long as it takes.
  package var timeStandsStill: Bool {
    get { horizon != nil }
    set { horizon = newValue ? now : nil }
  }

  /// The jobs that are ready, and those that they make ready, up to a batch.
  private func runJobs() {
    turnLeft = Self.batch
    resumeWaiting()
    var next = 0
    while turnLeft > 0 {
      // Whoever waits goes on in the same turn when nobody else wants it: a turn must do at least as much as its descriptors can bring.
      if next == jobs.count { resumeWaiting() }
      guard next < jobs.count else { break }
      let job = jobs[next]
      next += 1
      turnLeft -= 1
      shareLeft = Self.share
      unsafe job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }
    if next == jobs.count { jobs.removeAll(keepingCapacity: true) } else { jobs.removeFirst(next) }
  }

  private func resumeWaiting() {
    guard !waitingForTurn.isEmpty else { return }
    swap(&waitingForTurn, &resuming)
    for continuation in resuming { continuation.resume(returning: ()) }
    resuming.removeAll(keepingCapacity: true)
  }

  func atEndOfTurn(_ action: DeferredAction) { deferred.append(action) }

  private func runDeferred() {
    guard !deferred.isEmpty else { return }
    // The jobs that some wait for may need more than one batch, but others must not hold them up for ever.
    batchesLeft = jobs.isEmpty || batchesLeft == 0 ? 64 : batchesLeft - 1
    swap(&deferred, &running)
    for action in running { if action.waitsForJobs, batchesLeft < 64 { deferred.append(action) } else { action.run() } }
    running.removeAll(keepingCapacity: true)
  }

  // MARK: Sharing a turn

  /// True when the running job should let the others go first (`waitForTurn`) before it goes on.
  package var isShareSpent: Bool { shareLeft <= 0 }

  /// Counts a step of the running job. For functions that may be called over and over and need not suspend each time: without
  /// suspending nobody else runs, signals included.
  package func spendStep() {
    shareLeft -= 1
    turnLeft -= 1
  }

  /// Returns at once while the running job has some of its share left, else after all other jobs, with a new share.
  /// - Throws: CancellationError after a wait, when the task was cancelled.
  @LoopActor
  package func waitForTurn() async throws {
    guard isShareSpent else { return }
    await LoopContinuation.suspend { waitingForTurn.append($0) }
    try Task.checkCancellation()
  }

  private func takeForeignJobs() {
    foreign.withLock {
      guard !$0.isEmpty else { return }
      jobs += $0
      $0.removeAll(keepingCapacity: true)
    }
  }

  /// Nanoseconds that poll may wait; nil for ever.
  private func pollTimeout() -> Int64? {
    guard let due = nextDue else { return nil }
    return isVirtual ? 0 : max(0, due - now.nanoseconds)
  }

  private func pollDescriptors(timeout: Int64?) -> Bool {
    if pollSetIsStale { rebuildPollSet() }
    for index in pollSet.indices { pollSet[index].revents = 0 }
    // Rounded up to poll's milliseconds: a timer may fire late, never early.
    let limit = timeout.map { Int32(clamping: ($0 + 999_999) / 1_000_000) } ?? -1
    var found = unsafe poll(&pollSet, nfds_t(pollSet.count), limit)
    // What a signal's handler has written to a pipe is seen before the timers that came due while the process was stopped.
    if found < 0, errno == EINTR { found = unsafe poll(&pollSet, nfds_t(pollSet.count), 0) }
    guard found > 0 else { return false }
    if pollSet[0].revents != 0 { drainWakePipe() }
    // A handler may cancel other watches or add some: both lists stay as they were polled until the next time, `isActive` is what still holds.
    for index in pollOrder.indices {
      let (watch, revents) = (pollOrder[index], pollSet[index + 1].revents)
      guard revents != 0, watch.isActive else { continue }
      shareLeft = Self.share
      watch.handler(Readiness(revents: revents))
    }
    return true
  }

  private func rebuildPollSet() {
    pollOrder = watches.sorted { $0.key < $1.key }.map(\.value)
    pollSet = [pollfd(fd: wakeRead, events: Int16(POLLIN), revents: 0)]
    for (index, watch) in pollOrder.enumerated() {
      pollSet.append(watch.pollEntry)
      watch.position = index + 1
    }
    pollSetIsStale = false
  }

  private func drainWakePipe() {
    var buffer = [UInt8](repeating: 0, count: 64)
    while unsafe read(wakeRead, &buffer, buffer.count) > 0 {}
  }

  // MARK: Descriptors

  /// Calls `handler` on the loop's thread whenever `descriptor` is ready, level-triggered, until the watch is cancelled.
  /// The descriptor stays the caller's: cancel the watch before closing it.
  @LoopActor
  package func watch(_ descriptor: Int32, _ interest: Interest, handler: @escaping @LoopActor (Readiness) -> Void) -> Watch {
    let number = nextWatch
    nextWatch += 1
    let watch = Watch(descriptor, interest, handler: LoopActor.assumingIsolated(handler)) { [unowned self] watch in
      if !watch.isActive {
        watches[number] = nil
        pollSetIsStale = true
      } else if !pollSetIsStale {
        // What it reported in this turn it did report.
        let entry = watch.pollEntry
        (pollSet[watch.position].fd, pollSet[watch.position].events) = (entry.fd, entry.events)
      }
    }
    watches[number] = watch
    pollSetIsStale = true
    return watch
  }

  // MARK: Time

  package var now: LoopClock.Instant {
    if isVirtual { return LoopClock.Instant(nanoseconds: virtualNow) }
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return LoopClock.Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Nanoseconds since 1970-01-01T00:00:00Z. In virtual time the program starts at 2026-01-01T00:00:00Z, so that output is reproducible.
  /// Only there it can be set.
  package var wallClock: Int64 {
    get {
      if isVirtual { return virtualStart &+ virtualNow }
      var time = timespec()
      unsafe clock_gettime(CLOCK_REALTIME, &time)
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
    set { virtualStart = newValue &- virtualNow }
  }

  /// Calls `action` once at `due` (at the next turn when that is past), in the order of due times, then of calls. Keep the timer to cancel it.
  @LoopActor @discardableResult
  package func schedule(at due: LoopClock.Instant, _ action: @escaping @LoopActor () -> Void) -> LoopTimer {
    timers.add(due: due.nanoseconds) { LoopActor.assumeIsolated(action) }
  }

  @LoopActor @discardableResult
  package func schedule(after delay: Duration, _ action: @escaping @LoopActor () -> Void) -> LoopTimer {
    schedule(at: now.advanced(by: delay), action)
  }

  /// Suspends until `due`.
  /// - Throws: CancellationError at once when the task is cancelled.
  @LoopActor
  package func sleep(until due: LoopClock.Instant) async throws {
    let wait = Wait<Void>()
    let timer = schedule(at: due) { wait.resume(returning: ()) }
    defer { timer.cancel() }
    try await wait.value()
  }

  @LoopActor
  package func sleep(for delay: Duration) async throws { try await sleep(until: now.advanced(by: delay)) }
}
