import Foundation
import TestSupport

/// A program that uses the library and never runs the loop. It needs a process without the tests' loop: this executable, with one test.
@Suite(.timeLimit(.minutes(15))) struct OwnThreadTests {
  private static let variable = "BLECTL_TEST_OWN_THREAD"
  private static let isProgram = ProcessInfo.processInfo.environment[variable] != nil

  @Test(.disabled(if: isProgram)) func anotherProcess() throws {
    let executable = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let result = try RunningProcess.run(
      [executable, "--testing-library", "swift-testing", "--filter", "OwnThreadTests.program"],
      environment: ProcessInfo.processInfo.environment.merging([Self.variable: "1"]) { $1 })
    #expect(result.status == 0, "\(result.text)\n\(result.errors)")
    let output = result.text + result.errors
    #expect(output.contains("program() passed"), "no such test")
  }

  @Test(.enabled(if: isProgram)) func program() async throws {
    try loop.chooseClock(virtual: true)
    #expect(throws: EventLoopError.mixedClocks(isVirtual: true)) { try loop.chooseClock(virtual: false) }
    // Calls of many threads at the same time start the loop.
    let sum = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<100 { group.addTask { try await loop.call { number } } }
      return try await group.reduce(0, +)
    }
    #expect(sum == 4950)
    #expect(throws: EventLoopError.ownThread) { try loop.run {} }

    // Without a call, the timers of the simulated devices wait for the program.
    let due = await loop.spawn {
      loop.schedule(after: .seconds(1)) {}
      return loop.now.advanced(by: .seconds(1))
    }.value
    for _ in 0..<64 { await loop.spawn {}.value }
    #expect(await loop.spawn { loop.now < due }.value)
    try await expectWaitInCall(.seconds(3600))
    let start = await loop.spawn { loop.now }.value
    for try await _ in Ticks(scope: Scope(), count: 2) { #expect(await timeStandsStill()) }
    for _ in 0..<64 { await loop.spawn {}.value }
    #expect(await loop.spawn { start.duration(to: loop.now) }.value == .seconds(2))
  }
}
