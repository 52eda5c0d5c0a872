import Glibc
import TestSupport

@testable import BluetoothLE

/// A busy task leaves other tasks their turns. Each test ends even if the loop is not fair.
@Suite(.timeLimit(.minutes(15))) struct FairnessTests {
  private static let patience = 100_000

  @LoopActor private final class State {
    var isDone = false
    var count = 0
  }

  /// Becomes ready again and again, until `state` is done or the patience is over.
  @LoopActor private func busy(_ state: State) async {
    while !state.isDone, state.count < Self.patience {
      state.count += 1
      await Task.yield()
    }
  }

  @Test(.onLoop) @LoopActor func aJobThatEnqueuesItselfStarvesNoDescriptor() async throws {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let state = State()
    let watch = EventLoop.shared.watch(ends[0], .readable) { _ in state.isDone = true }
    defer { watch.cancel() }
    var byte: UInt8 = 1
    _ = unsafe write(ends[1], &byte, 1)
    await busy(state)
    #expect(state.isDone)
    #expect(state.count <= 2 * EventLoop.batch)
  }

  @Test(.onLoop) @LoopActor func aJobThatEnqueuesItselfStarvesNoTimer() async throws {
    let state = State()
    EventLoop.shared.schedule(after: .zero) { state.isDone = true }
    await busy(state)
    #expect(state.isDone)
    #expect(state.count <= 2 * EventLoop.batch)
  }

  @Test(.onLoop) @LoopActor func virtualTimeStandsStillWhileAJobIsReady() async throws {
    let (state, start) = (State(), EventLoop.shared.now)
    let timer = EventLoop.shared.schedule(after: .nanoseconds(1)) { state.isDone = true }
    await busy(state)
    #expect(state.count == Self.patience)
    #expect(EventLoop.shared.now == start)
    timer.cancel()
  }

  @Test(.onLoop) @LoopActor func aJobThatNeedNotSuspendDoesSoWhenItsShareIsSpent() async throws {
    let state = State()
    let task = EventLoop.shared.spawn { () -> Bool in
      do {
        while state.count < Self.patience {
          try await EventLoop.shared.waitForTurn()
          EventLoop.shared.spendStep()
          state.count += 1
        }
      } catch { return true }
      return false
    }
    EventLoop.shared.schedule(after: .zero) { task.cancel() }
    #expect(await task.value, "the timer came too late to cancel it")
    // It uses the part of a turn that no other task wants.
    #expect(state.count >= EventLoop.share && state.count <= EventLoop.batch)
  }

  @Test(.onLoop) @LoopActor func aJobThatNeedNotSuspendLetsTheOthersGoFirst() async throws {
    let (state, other) = (State(), State())
    let task = EventLoop.shared.spawn { () -> [Int] in
      var seen: [Int] = []
      while state.count < 3 * EventLoop.share {
        try? await EventLoop.shared.waitForTurn()
        EventLoop.shared.spendStep()
        state.count += 1
        seen.append(other.count)
      }
      return seen
    }
    let second = EventLoop.shared.spawn {
      for _ in 0..<3 {
        other.count += 1
        await Task.yield()
      }
    }
    let seen = await task.value
    await second.value
    #expect(seen.prefix(EventLoop.share).allSatisfy { $0 == 0 })
    #expect(seen.dropFirst(EventLoop.share).allSatisfy { $0 >= 1 })
  }

  /// The shares of many jobs together do not exceed one turn.
  @Test(.onLoop) @LoopActor func theSharesOfManyJobsMakeUpTheTurn() async throws {
    let state = State()
    var counted = 0
    EventLoop.shared.schedule(after: .zero) {
      state.isDone = true
      counted = state.count
    }
    let tasks = (0..<1000).map { _ in
      EventLoop.shared.spawn {
        for _ in 0..<EventLoop.share { EventLoop.shared.spendStep() }
        state.count += EventLoop.share
      }
    }
    for task in tasks { await task.value }
    #expect(state.isDone && counted <= EventLoop.batch)
  }

  /// A deferred action waits for all jobs, even if these exceed one turn.
  @Test(.onLoop) @LoopActor func theEndOfATurnComesAfterItsJobs() async throws {
    let (state, seen) = (State(), State())
    let end = DeferredAction(waitingForJobs: true) { seen.count = state.count }
    let jobs = (0..<2 * EventLoop.batch).map { _ in EventLoop.shared.spawn { state.count += 1 } }
    end.request()
    for job in jobs { await job.value }
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    #expect(seen.count == 2 * EventLoop.batch)
  }
}
