import Glibc
import Testing

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct LoopStateTests {
  @Test func theFirstJobStartsTheOwnThreadOnce() {
    var state = LoopState()
    let starts = (0..<3).map { _ in state.startsOwnThread() }
    #expect(starts == [true, false, false])
    #expect(state.isVirtual == false)
    #expect(throws: EventLoopError.ownThread) { try state.beginRun() }
    state.ownThreadFailed()
    let startsAgain = state.startsOwnThread()
    #expect(startsAgain)
  }

  @Test func aLoopThatRanWaitsForTheNextRun() throws {
    var state = LoopState()
    try state.beginRun()
    var starts = [state.startsOwnThread()]
    #expect(throws: EventLoopError.running) { try state.beginRun() }
    state.endRun()
    starts.append(state.startsOwnThread())
    #expect(starts == [false, false])
    try state.beginRun()
    #expect(state.isVirtual == false)
  }

  @Test func theFirstChoiceOfTheClockCounts() throws {
    var state = LoopState()
    try state.choose(virtual: true)
    try state.choose(virtual: true)
    #expect(throws: EventLoopError.mixedClocks(isVirtual: true)) { try state.choose(virtual: false) }
    try state.beginRun()
    #expect(state.isVirtual == true)
    #expect("\(EventLoopError.mixedClocks(isVirtual: true))".contains("virtual and real time cannot be mixed in one process"))
  }

  /// Real time that nobody chose is in use as soon as the loop runs.
  @Test(arguments: [true, false]) func theClockOfALoopThatRunsIsReal(isOwn: Bool) throws {
    var state = LoopState()
    if isOwn { _ = state.startsOwnThread() } else { try state.beginRun() }
    try state.choose(virtual: false)
    #expect(throws: EventLoopError.mixedClocks(isVirtual: false)) { try state.choose(virtual: true) }
  }

  @Test func aLoopChoosesItsClockOnce() async {
    let loop = EventLoop()
    let accepted = await withTaskGroup(of: Bool?.self) { group in
      for number in 0..<100 {
        group.addTask { (try? loop.chooseClock(virtual: number % 2 == 0)).map { number % 2 == 0 } }
      }
      return await group.reduce(into: [Bool]()) { if let choice = $1 { $0.append(choice) } }
    }
    #expect(accepted.count == 50)
    #expect(Set(accepted) == [loop.isVirtual])
  }

  /// A process may have no descriptors left for the pipe that wakes the loop.
  @Test func aLoopWithoutAPipeTakesJobsOfOtherThreads() async {
    let loop = EventLoop(pipe: (-1, -1))
    for _ in 0..<20 { #expect(await Task(executorPreference: loop) { @concurrent in loop.isOnThread }.value) }
  }

  /// Jobs that come from many threads at the same time start one thread.
  @Test func jobsOfManyThreadsStartOneThread() async {
    let loop = EventLoop()
    let threads = await withTaskGroup(of: pthread_t?.self) { group in
      for _ in 0..<200 {
        group.addTask {
          await Task(executorPreference: loop) { @concurrent in loop.isOnThread ? pthread_self() : nil }.value
        }
      }
      return await group.reduce(into: Set<pthread_t?>()) { $0.insert($1) }
    }
    #expect(threads.count == 1)
    #expect(!threads.contains(nil))
    #expect(throws: EventLoopError.ownThread) { try loop.run {} }
    #expect(throws: EventLoopError.ownThread) { try loop.startForTests() }
  }
}
