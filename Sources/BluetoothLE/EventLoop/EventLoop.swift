// SPDX-License-Identifier: Apache-2.0
import CBluetoothLESystem
import Glibc
import Synchronization

/// A single-threaded event loop that runs Swift jobs, waits for descriptors with poll(2), and owns the clock.
///
/// A turn runs a limited batch of jobs, the handlers of ready descriptors and the due timers. A job that never suspends must limit
/// itself to its share of a turn (`isShareSpent`).
///
/// A program runs the loop on its main thread (`run`). In a process that never does so, the loop starts its own thread with the first job.
package final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
  package static let shared = EventLoop()

  // Used on the loop's thread only, except `state`, `thread` and what is set before the loop runs.
  private var jobs: [UnownedJob] = []
  /// The continuations of jobs that wait for the other jobs, and a second list for the continuations that the loop is resuming.
  private var waitingForTurn: [LoopContinuation<Void>] = [], resuming: [LoopContinuation<Void>] = []
  /// The actions to run before the loop checks the descriptors, and a second list for the actions that the loop is running.
  private var deferred: [DeferredAction] = [], running: [DeferredAction] = []
  /// The numbers of jobs and steps left in this turn, of steps left in this job, and of batches that actions in `deferred` may still wait.
  private var turnLeft = 0, shareLeft = share, batchesLeft = 64
  private var timers = TimerQueue()
  private var watches: [Int: Watch] = [:]
  private var nextWatch = 0
  private var pollSet: [pollfd] = []
  private var pollOrder: [Watch] = []
  private var pollSetIsStale = true
  /// The loop's thread. Zero means none.
  private let thread = Atomic<pthread_t>(0)
  private var isOwnThread = false
  private var isFinished = false
  package private(set) var isVirtual = false
  package var virtualTime = VirtualTime()
  var holds = Holds()

  /// The state that other threads change. The pipe of `wakeRead` and `wakeWrite` wakes poll(2) for the jobs that they add.
  private let state = Guarded(LoopState())
  /// Whether other threads may have added jobs. Each turn asks it, and an atomic value costs less than the mutex.
  private let hasForeignJobs = Atomic(false)
  private let wakeRead: Int32
  private let wakeWrite: Int32

  /// Creates a separate loop for tests. `LoopActor` uses `shared`.
  init(pipe: (read: Int32, write: Int32) = openPipe()) { (wakeRead, wakeWrite) = pipe }

  // MARK: Jobs

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if isOnThread {
      jobs.append(job)
    } else {
      let mustStart = state.withLock { state in
        defer { hasForeignJobs.store(true, ordering: .releasing) }
        return state.add(job)
      }
      if mustStart { startOwnThread() }
      wake()
    }
  }

  package func checkIsolated() { precondition(isOnThread, "called off the event loop's thread") }

  package func isIsolatingCurrentContext() -> Bool? { isOnThread }

  var isOnThread: Bool { thread.load(ordering: .relaxed) == pthread_self() }

  private func wake() {
    var byte: UInt8 = 1
    _ = unsafe write(wakeWrite, &byte, 1)
  }

  // MARK: Running

  /// Switches to virtual time. Call it before `run`.
  package func useVirtualTime() { try? chooseClock(virtual: true) }

  /// Chooses the clock of this process, from any thread. The first choice counts. A loop that runs without a choice uses real time.
  /// - Throws: `EventLoopError.mixedClocks` if the other clock was chosen before.
  package func chooseClock(virtual: Bool) throws(EventLoopError) {
    try state.withLock { state throws(EventLoopError) in
      try state.choose(virtual: virtual)
      // A choice that changes it comes before the loop runs.
      if isVirtual != virtual { isVirtual = virtual }
    }
  }

  /// Runs `body` on the loop's actor until it returns. The calling thread becomes the loop's thread.
  /// - Throws: The error of `body`, or `EventLoopError.ownThread` or `.running` if the loop already runs elsewhere.
  package func run<T: Sendable>(_ body: @escaping @LoopActor () async throws -> T) throws -> T {
    try state.withLock { state throws(EventLoopError) in try state.beginRun() }
    let outcome = Outcome<T>()
    thread.store(pthread_self(), ordering: .relaxed)
    spawn {
      do { outcome.result = .success(try await body()) } catch { outcome.result = .failure(error) }
      self.isFinished = true
      // Otherwise the current turn would wait for a descriptor or a timer.
      self.wake()
    }
    while true {
      if isFinished, let result = LoopActor.assumeIsolated({ outcome.result }) {
        isFinished = false
        thread.store(0, ordering: .relaxed)
        state.withLock { $0.endRun() }
        return try result.get()
      }
      turn()
    }
  }

  /// Starts a task that runs on the loop's thread only. After every wait, a `Task { @LoopActor in … }` would first resume on another
  /// thread, and virtual time could advance too early.
  @discardableResult
  package func spawn<T: Sendable>(_ body: @escaping @LoopActor @Sendable () async -> T) -> Task<T, Never> {
    Task(executorPreference: self) { await body() }
  }

  /// Calls `action` on the loop's thread, immediately or, from another thread, in a later turn. Cancellation handlers need this function.
  package func perform(_ action: @escaping @LoopActor @Sendable () -> Void) {
    if isOnThread { LoopActor.assumeIsolated(action) } else { spawn { action() } }
  }

  @LoopActor private final class Outcome<T> {
    nonisolated init() {}
    var result: Result<T, any Error>?
  }

  /// Runs the loop forever on a new thread, in test processes with tests that are isolated to `LoopActor`. They make no library calls,
  /// so virtual time advances without any.
  /// - Throws: `EventLoopError.ownThread` or `.running` if the loop already runs.
  package func startForTests() throws(EventLoopError) {
    try state.withLock { state throws(EventLoopError) in try state.beginRun() }
    _ = startThread()
  }

  private func startOwnThread() {
    isOwnThread = true
    guard !startThread() else { return }
    isOwnThread = false
    state.withLock { $0.ownThreadFailed() }
  }

  /// Starts a thread that runs the loop until the process ends.
  /// - Returns: False if the machine has no more threads.
  private func startThread() -> Bool {
    var new = pthread_t()
    let loop = unsafe Unmanaged.passRetained(self)
    let result = unsafe pthread_create(
      &new, nil,
      { argument in
        guard let argument = unsafe argument else { return nil }
        unsafe Unmanaged<EventLoop>.fromOpaque(argument).takeRetainedValue().runForever()
      }, loop.toOpaque())
    if result != 0 { unsafe loop.release() }
    return result == 0
  }

  private func runForever() -> Never {
    pthread_detach(pthread_self())
    Self.nameThread("BluetoothLE")
    // A write to a closed socket or pipe must be an error of the write, not the end of a process that does not ignore the signal.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    thread.store(pthread_self(), ordering: .relaxed)
    while true { turn() }
  }

  /// Names the calling thread for debuggers and `ps -L`.
  private static func nameThread(_ name: StaticString) {
    let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = unsafe write(file, name.utf8Start, name.utf8CodeUnitCount)
    close(file)
  }

  /// The maximum number of jobs and steps per turn. A turn of this length takes milliseconds.
  static let batch = 4096
  /// The maximum number of steps of a job in a turn.
  static let share = 64

  /// Runs a batch of jobs, then the handlers of all ready descriptors, then all due timers.
  func turn() {
    takeForeignJobs()
    runJobs()
    runDeferred()
    let isBusy = !jobs.isEmpty || !waitingForTurn.isEmpty || !deferred.isEmpty
    let ready = pollDescriptors(timeout: isBusy ? 0 : pollTimeout())
    if isVirtual, !isBusy, !ready, virtualTime.waitsForReader {
      virtualTime.waitsForReader = false
      _ = pollDescriptors(timeout: VirtualTime.readersLimit)
      return
    }
    if isVirtual, !isBusy, !ready, !hasForeignJobs.load(ordering: .acquiring), let due = nextDue { virtualTime.jump(to: due) }
    for timer in timers.takeDue(now.nanoseconds) {
      shareLeft = Self.share
      timer.fire()
    }
  }

  /// The due time of the next timer, in nanoseconds of the loop's clock. Nil without a timer, or if virtual time must not reach it.
  private var nextDue: Int64? {
    timers.next.flatMap { !isVirtual || virtualTime.mayReach($0, holds.allowAdvance(needsCall: isOwnThread)) ? $0 : nil }
  }

  /// Runs the ready jobs and the jobs that they make ready, up to `batch` jobs and steps.
  private func runJobs() {
    turnLeft = Self.batch
    resumeWaiting()
    var next = 0
    while turnLeft > 0 {
      // Resume waiting jobs in the same turn if no other job is ready: a turn must do as much work as its descriptors can bring.
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
    // Some actions wait for jobs that take several batches, but other jobs must not delay them forever.
    batchesLeft = jobs.isEmpty || batchesLeft == 0 ? 64 : batchesLeft - 1
    swap(&deferred, &running)
    for action in running { if action.waitsForJobs, batchesLeft < 64 { deferred.append(action) } else { action.run() } }
    running.removeAll(keepingCapacity: true)
  }

  // MARK: Sharing a turn

  /// Whether the running job has spent its share of steps and should call `waitForTurn`.
  package var isShareSpent: Bool { shareLeft <= 0 }

  /// Counts a step of the running job. Functions that callers repeat without suspending must call this. Without a suspension, the loop
  /// runs nothing else, not even signal handlers.
  package func spendStep() {
    shareLeft -= 1
    turnLeft -= 1
  }

  /// Lets all other ready jobs run and gets a new share. Returns immediately if the share of the running job is not spent.
  /// - Throws: CancellationError after a wait, if the task was canceled.
  @LoopActor
  package func waitForTurn() async throws {
    guard isShareSpent else { return }
    await LoopContinuation.suspend { waitingForTurn.append($0) }
    try Task.checkCancellation()
  }

  private func takeForeignJobs() {
    // A job that is added now sets it again, and wakes the loop.
    guard hasForeignJobs.load(ordering: .relaxed), hasForeignJobs.exchange(false, ordering: .acquiring) else { return }
    state.withLock {
      jobs += $0.jobs
      $0.jobs.removeAll(keepingCapacity: true)
    }
  }

  /// Returns the time in nanoseconds that poll(2) may wait. Nil means no limit.
  private func pollTimeout() -> Int64? { nextDue.map { isVirtual ? 0 : max(0, $0 - now.nanoseconds) } }

  /// The time in milliseconds after which a loop without a pipe looks for jobs of other threads.
  private static let longestSleep: Int32 = 10

  private func pollDescriptors(timeout: Int64?) -> Bool {
    if pollSetIsStale { rebuildPollSet() }
    for index in pollSet.indices { pollSet[index].revents = 0 }
    // Round up to poll's milliseconds: a timer may fire late, never early.
    var limit = timeout.map { Int32(clamping: ($0 + 999_999) / 1_000_000) } ?? -1
    // Without a pipe, nothing wakes poll(2).
    if wakeRead < 0 { limit = limit < 0 ? Self.longestSleep : min(limit, Self.longestSleep) }
    var found = unsafe poll(&pollSet, nfds_t(pollSet.count), limit)
    // Handle a signal handler's write to a pipe before the timers that became due while the process was stopped.
    if found < 0, errno == EINTR { found = unsafe poll(&pollSet, nfds_t(pollSet.count), 0) }
    guard found > 0 else { return false }
    if pollSet[0].revents != 0 { drainWakePipe() }
    // Handlers may add or cancel watches. Both lists stay as polled until the next turn; `isActive` shows which watches still count.
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

  /// Watches a descriptor. Calls `handler` on the loop's thread whenever `descriptor` is ready (level-triggered), until the caller cancels
  /// the watch. The caller keeps the descriptor and must cancel the watch before closing it.
  @LoopActor
  package func watch(_ descriptor: Int32, _ interest: Interest, handler: @escaping @LoopActor (Readiness) -> Void) -> Watch {
    let number = nextWatch
    nextWatch += 1
    let watch = Watch(descriptor, interest, handler: LoopActor.assumingIsolated(handler)) { [unowned self] watch in
      if !watch.isActive {
        watches[number] = nil
        pollSetIsStale = true
      } else if !pollSetIsStale {
        // Keep the events that it reported in this turn.
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
    LoopClock.Instant(nanoseconds: isVirtual ? virtualTime.now : Self.time(of: CLOCK_MONOTONIC))
  }

  /// The current time in nanoseconds since 1970-01-01T00:00:00Z. Virtual time starts at 2026-01-01T00:00:00Z, so output is reproducible.
  /// The program can set the clock in virtual time only.
  package var wallClock: Int64 {
    get { isVirtual ? virtualTime.start &+ virtualTime.now : Self.realTime }
    set { virtualTime.start = newValue &- virtualTime.now }
  }

  /// The time of the machine's clock, even in virtual time, in nanoseconds since 1970-01-01T00:00:00Z.
  package static var realTime: Int64 { time(of: CLOCK_REALTIME) }

  private static func time(of clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Calls `action` once at `due`, or at the next turn if `due` has passed. Timers run by due time, then by the order of scheduling.
  /// The caller needs the returned timer only to cancel it.
  @LoopActor @discardableResult
  package func schedule(at due: LoopClock.Instant, _ action: @escaping @LoopActor () -> Void) -> LoopTimer {
    timers.add(due: due.nanoseconds) { LoopActor.assumeIsolated(action) }
  }

  @LoopActor @discardableResult
  package func schedule(after delay: Duration, _ action: @escaping @LoopActor () -> Void) -> LoopTimer {
    schedule(at: now.advanced(by: delay), action)
  }

  /// Suspends until `due`.
  /// - Throws: CancellationError immediately after a cancellation of the task.
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

/// Opens a pipe whose ends never block, and which child processes do not get.
/// - Returns: -1 for both ends if the process may not open more descriptors. poll(2) ignores -1.
package func openPipe() -> (read: Int32, write: Int32) {
  var ends: [Int32] = [-1, -1]
  return unsafe shim_open_pipe(&ends) == 0 ? (ends[0], ends[1]) : (-1, -1)
}
