import TestSupport

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct WaitTests {
  @Test(.onLoop) @LoopActor func everyoneWhoWaitsGoesOn() async throws {
    let wait = Wait<Int>()
    let tasks = (0..<3).map { number in EventLoop.shared.spawn { (try? await wait.value()).map { $0 + number } } }
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    wait.resume(returning: 10)
    var results: [Int??] = []
    // With a limit, so that a task that is never resumed does not stop the whole run.
    for task in tasks {
      let result = Wait<Int?>()
      EventLoop.shared.spawn { result.resume(returning: await task.value) }
      results.append(try await result.value(until: EventLoop.shared.now.advanced(by: .seconds(1))))
    }
    #expect(results == [10, 11, 12])
  }

  @Test(.onLoop) @LoopActor func whoeverGivesUpLeavesTheValueToTheOthers() async throws {
    let wait = Wait<Int>()
    let patient = EventLoop.shared.spawn { try? await wait.value(until: EventLoop.shared.now.advanced(by: .seconds(3))) }
    let nothing = try await wait.value(until: EventLoop.shared.now.advanced(by: .seconds(1)))
    #expect(nothing == nil && !wait.isSettled)
    wait.resume(returning: 7)
    #expect(await patient.value == 7)
    let value = try await wait.value(until: EventLoop.shared.now)
    #expect(value == 7)
  }

  @Test(.onLoop) @LoopActor func whoIsCancelledLeavesAlone() async throws {
    let wait = Wait<Int>()
    let patient = EventLoop.shared.spawn { try? await wait.value() }
    let hasty = EventLoop.shared.spawn { () -> Bool in
      do { _ = try await wait.value() } catch is CancellationError { return true } catch {}
      return false
    }
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    hasty.cancel()
    #expect(await hasty.value)
    #expect(!wait.isOver && !wait.isSettled)
    wait.resume(returning: 7)
    #expect(await patient.value == 7)
  }

  @Test(.onLoop) @LoopActor func aWaitIsOverWhenNobodyWaitsAnyMore() async throws {
    let wait = Wait<Int>()
    #expect(!wait.isOver)
    let task = EventLoop.shared.spawn { try? await wait.value() }
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    task.cancel()
    #expect(await task.value == nil)
    #expect(wait.isOver && !wait.isSettled)
  }

  /// Every controller command sets a timer of seconds and cancels it. A flood of these must not be kept.
  @Test func cancelledTimersAreNotKept() {
    var queue = TimerQueue()
    var fired: [Int64] = []
    for number in 0..<10 { _ = queue.add(due: Int64(1_000_000 - number)) { fired.append(Int64(number)) } }
    var most = 0
    for number in 0..<100_000 {
      queue.add(due: Int64(2_000_000 + number)) {}.cancel()
      most = max(most, queue.held)
    }
    #expect(most <= 128)
    for timer in queue.takeDue(1_000_000) { timer.fire() }
    #expect(fired == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
  }
}
