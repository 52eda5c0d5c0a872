import Glibc
import TestSupport

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct LibraryCallTests {
  struct Failure: Error, Equatable {}

  init() { startLoop() }

  // MARK: Callers

  @Test func aCallReturnsToCodeWithoutAnActor() async throws {
    #expect(!loop.isOnThread)
    let isOnLoop = try await loop.call { loop.isOnThread }
    #expect(isOnLoop)
    #expect(!loop.isOnThread)
  }

  @MainActor @Test func aCallReturnsToTheMainActor() async throws {
    var count = 0
    for _ in 0..<3 {
      let passed = try await waitInCall()
      #expect(passed == .seconds(1))
      MainActor.assertIsolated()
      count += 1
    }
    #expect(count == 3)
  }

  actor Counter {
    var count = 0

    func callThreeTimes() async throws -> Int {
      for _ in 0..<3 {
        _ = try await waitInCall()
        count += 1
      }
      return count
    }
  }

  @Test func aCallReturnsToAnActor() async throws { #expect(try await Counter().callThreeTimes() == 3) }

  @MainActor @Test func aBodyRunsOnTheCallersActor() async throws {
    var seen: [Int] = []
    let result = try await loop.call(
      opening: { 7 }, closing: { _ in },
      body: { value in
        MainActor.assertIsolated()
        seen.append(value)
        return seen.count
      })
    #expect(result == 1)
    #expect(seen == [7])
  }

  @Test func aThousandCallsAtOnce() async throws {
    let sum = try await withThrowingTaskGroup(of: Int64.self) { group in
      for number in 0..<1000 { group.addTask { try await waitInCall(.seconds(number % 10)).components.seconds } }
      return try await group.reduce(0, +)
    }
    #expect(sum == 4500)
  }

  @Test func aThousandBodiesAtOnce() async throws {
    let log = LoopLog<Int>()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<1000 {
        group.addTask {
          try await loop.call(opening: { number }, closing: { log.items.append($0) }, body: { _ = try await waitInCall(.seconds($0 % 10)) })
        }
      }
      try await group.waitForAll()
    }
    #expect(await loop.spawn { log.items.sorted() }.value == Array(0..<1000))
  }

  // MARK: Errors and cancellation

  @Test func anErrorReachesTheCaller() async throws {
    await #expect(throws: Failure()) { try await loop.call { throw Failure() } }
    let log = LoopLog<String>()
    await #expect(throws: Failure()) {
      try await loop.call(opening: { throw Failure() }, closing: { log.items.append("closed") }, body: { Issue.record("not open") })
    }
    await #expect(throws: Failure()) {
      try await loop.call(opening: { 1 }, closing: { _ in log.items.append("closed after error") }, body: { _ in throw Failure() })
    }
    #expect(await loop.spawn { log.items }.value == ["closed after error"])
    try await waitElsewhere()
  }

  @Test func aCancellationReachesACall() async throws {
    let (begun, canceled) = (await Wait<Void>(), await Wait<Void>())
    let task = Task {
      try await loop.call {
        begun.resume(returning: ())
        do { try await Wait<Void>().value() } catch {
          canceled.resume(returning: ())
          throw error
        }
      }
    }
    try await begun.value()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await canceled.value()
  }

  @Test func aCancellationReachesAnOpening() async throws {
    let begun = await Wait<Void>()
    let task = Task {
      try await loop.call(
        opening: {
          begun.resume(returning: ())
          try await Wait<Void>().value()
        }, closing: { Issue.record("not open") }, body: { Issue.record("not open") })
    }
    try await begun.value()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await waitElsewhere()
  }

  /// The closing code takes its time, even if the task is canceled.
  @Test func aCancellationReachesABodyButNotItsClosing() async throws {
    let (begun, closed) = (await Wait<Void>(), await Wait<Duration>())
    let task = Task {
      try await loop.call(
        opening: {},
        closing: {
          let start = loop.now
          try? await loop.sleep(for: .seconds(2))
          closed.resume(returning: start.duration(to: loop.now))
        },
        body: {
          try await loop.call {
            begun.resume(returning: ())
            try await Wait<Void>().value()
          }
        })
    }
    try await begun.value()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await closed.value() == .seconds(2))
    try await waitElsewhere()
  }

  // MARK: Bodies and time

  @Test func timeStandsStillWhileABodyComputes() async throws {
    try await loop.call(
      opening: {}, closing: {},
      body: {
        #expect(await timeStandsStill())
        // What is due now still happens.
        await loop.spawn { for _ in 0..<100 { try? await loop.sleep(for: .zero) } }.value
        try await expectWaitInCall(.seconds(3600))
        #expect(await timeStandsStill())
      })
    try await waitElsewhere()
  }

  @Test func openingAndClosingTakeTime() async throws {
    let log = LoopLog<Duration>()
    let step: @LoopActor @Sendable () async -> Void = {
      let start = loop.now
      try? await loop.sleep(for: .seconds(5))
      log.items.append(start.duration(to: loop.now))
    }
    try await loop.call(
      opening: { await step() }, closing: { await step() },
      body: {
        // The outer body waits for the inner opening and closing.
        try await loop.call(opening: { await step() }, closing: { await step() }, body: { #expect(await timeStandsStill()) })
        #expect(await timeStandsStill())
      })
    #expect(await loop.spawn { log.items }.value == Array(repeating: .seconds(5), count: 4))
  }

  @Test func aBodyInABodyWaitsInCalls() async throws {
    try await loop.call(
      opening: {}, closing: {},
      body: {
        try await loop.call(
          opening: {}, closing: {},
          body: {
            try await expectWaitInCall()
            #expect(await timeStandsStill())
          })
        try await expectWaitInCall()
      })
  }

  /// The first call of two child tasks to end must not stop time for the second.
  @Test func childTasksOfABodyCallAtOnce() async throws {
    try await loop.call(
      opening: {}, closing: {},
      body: {
        async let short = waitInCall(.seconds(1))
        async let long = waitInCall(.seconds(2))
        let passed = try await (short, long)
        #expect(passed == (.seconds(1), .seconds(2)))
        #expect(await timeStandsStill())
      })
  }

  @Test func twoBodiesSideBySide() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for scope in [Scope(), Scope()] {
        group.addTask {
          try await loop.call(
            for: scope, opening: {}, closing: {},
            body: {
              #expect(await timeStandsStill())
              try await expectWaitInCall(for: scope)
              #expect(await timeStandsStill())
            })
        }
      }
      try await group.waitForAll()
    }
  }

  // MARK: Delegates

  @Test func timeStandsStillWhileADelegateComputes() async throws {
    let value = try await loop.call {
      try await loop.callOut {
        #expect(!loop.isOnThread)
        #expect(await timeStandsStill())
        try await expectWaitInCall()
        #expect(await timeStandsStill())
        return 7
      }
    }
    #expect(value == 7)
    try await waitElsewhere()
  }

  @Test func aDelegateThatBlocksStopsNoJob() async throws {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    let (reading, writing) = (ends[0], ends[1])
    defer { for end in ends { close(end) } }
    let begun = await Wait<Void>()
    let unblock = loop.spawn {
      try? await begun.value()
      var byte: UInt8 = 1
      _ = unsafe write(writing, &byte, 1)
    }
    let count = try await loop.call {
      try await loop.callOut {
        loop.perform { begun.resume(returning: ()) }
        var byte: UInt8 = 0
        return unsafe read(reading, &byte, 1)
      }
    }
    #expect(count == 1)
    await unblock.value
  }

  @Test func aDelegateThatThrowsOrIsCanceledEndsItsHold() async throws {
    await #expect(throws: Failure()) { try await loop.call { try await loop.callOut { throw Failure() } } }
    try await waitElsewhere()
    let begun = await Wait<Void>()
    let task = Task {
      try await loop.call {
        try await loop.callOut {
          try await loop.call {
            begun.resume(returning: ())
            try await Wait<Void>().value()
          }
        }
      }
    }
    try await begun.value()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await waitElsewhere()
  }
}
