import TestSupport

@Suite(.timeLimit(.minutes(15))) struct ElementHoldTests {
  private let scope = Scope()

  init() { startLoop() }

  @Test func timeStandsStillUntilTheConsumerAsksForMore() async throws {
    var seen: [Int] = []
    for try await number in Ticks(scope: scope, count: 3) {
      seen.append(number)
      #expect(await timeStandsStill())
    }
    #expect(seen == [0, 1, 2])
    try await waitElsewhere()
  }

  @MainActor @Test func aConsumerOnTheMainActor() async throws {
    for try await _ in Ticks(scope: scope, count: 2) {
      MainActor.assertIsolated()
      #expect(await timeStandsStill())
      try await expectWaitInCall(for: scope)
    }
    try await waitElsewhere()
  }

  @Test func theEndAndAnErrorBeginNoHold() async throws {
    var ended = Ticks(scope: scope, count: 0).makeAsyncIterator()
    #expect(try await ended.next() == nil)
    try await waitElsewhere()
    var failed = Ticks(scope: scope, count: 1, error: Ticks.End()).makeAsyncIterator()
    #expect(try await failed.next() == 0)
    #expect(await timeStandsStill())
    await #expect(throws: Ticks.End.self) { try await failed.next() }
    try await waitElsewhere()
    withExtendedLifetime((ended, failed)) {}
  }

  @Test func leavingTheLoopEndsTheHold() async throws {
    for try await _ in Ticks(scope: scope) { break }
    try await waitElsewhere()
    await #expect(throws: Ticks.End.self) { for try await _ in Ticks(scope: scope) { throw Ticks.End() } }
    try await waitElsewhere()
  }

  @Test func callsWhileAnElementIsProcessed() async throws {
    for try await _ in Ticks(scope: scope, count: 2) {
      try await expectWaitInCall(for: scope)
      #expect(await timeStandsStill())
      // The same task may use another adapter.
      try await expectWaitInCall(for: Scope())
      try await loop.call(
        for: scope, opening: {}, closing: {},
        body: {
          #expect(await timeStandsStill())
          for try await _ in Ticks(scope: scope, count: 2) {
            #expect(await timeStandsStill())
            try await expectWaitInCall()
          }
        })
      #expect(await timeStandsStill())
    }
  }

  @Test func nestedLoops() async throws {
    var count = 0
    for try await _ in Ticks(scope: scope, count: 3) {
      for try await _ in Ticks(scope: scope, count: 3) {
        #expect(await timeStandsStill())
        // Another adapter, in the same task.
        for try await _ in Ticks(scope: Scope(), count: 2) { count += 1 }
      }
    }
    #expect(count == 18)
    try await waitElsewhere()
  }

  @Test func oneTaskReadsFromTwoIteratorsInTurn() async throws {
    var (first, second) = (Ticks(scope: scope).makeAsyncIterator(), Ticks(scope: scope).makeAsyncIterator())
    for number in 0..<3 {
      #expect(try await first.next() == number)
      #expect(try await second.next() == number)
      #expect(await timeStandsStill())
    }
    withExtendedLifetime((first, second)) {}
  }

  @Test func childTasksWhileAnElementIsProcessed() async throws {
    let scope = scope
    for try await _ in Ticks(scope: scope, count: 2) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await expectWaitInCall(for: scope) }
        group.addTask { for try await _ in Ticks(scope: scope, count: 2) {} }
        group.addTask {
          try await loop.call(for: scope, opening: {}, closing: {}, body: { for try await _ in Ticks(scope: scope, count: 2) {} })
        }
        try await group.waitForAll()
      }
      #expect(await timeStandsStill())
    }
  }

  @Test func aChildTaskReadsFromANewIterator() async throws {
    let scope = scope
    for try await _ in Ticks(scope: scope, count: 2) {
      let child = Task { for try await _ in Ticks(scope: scope, count: 2) {} }
      try await child.value
      #expect(await timeStandsStill())
    }
  }

  @Test func anotherTaskAsksForMore() async throws {
    let hold = ElementHold(for: scope)
    #expect(try await hold.next { 1 } == 1)
    let task = Task {
      try await hold.next {
        try await loop.sleep(for: .seconds(1))
        return 2
      }
    }
    #expect(try await task.value == 2)
    #expect(await timeStandsStill())
    withExtendedLifetime(hold) {}
  }

  /// The consumer may wait for another task, whose body began before the element came.
  @Test func anElementWaitsForABodyOfItsScope() async throws {
    let (scope, hold) = (scope, ElementHold(for: scope))
    let (opened, delivered) = (await Wait<Void>(), await Wait<Void>())
    let task = Task {
      try await loop.call(
        for: scope, opening: {}, closing: {},
        body: {
          await opened.resume(returning: ())
          try await delivered.value()
          try await expectWaitInCall()
        })
    }
    try await opened.value()
    #expect(try await hold.next { 1 } == 1)
    await delivered.resume(returning: ())
    try await task.value
    #expect(await timeStandsStill())
    withExtendedLifetime(hold) {}
  }

  /// One reader asks for more while the other still processes its element.
  @Test(arguments: [false, true]) func twoReadersDoNotVoidEachOthersHolds(isInBody: Bool) async throws {
    if !isInBody { return try await readTwice() }
    try await loop.call(for: scope, opening: {}, closing: {}, body: { try await readTwice() })
  }

  private func readTwice() async throws {
    let (delivered, asked) = (await Wait<Void>(), await Wait<Void>())
    let (hold, other) = (ElementHold(for: scope), ElementHold(for: scope))
    async let reader: Duration? = {
      _ = try await other.next { true }
      try await delivered.value()
      return try await other.next {
        let start = loop.now
        asked.resume(returning: ())
        try await loop.sleep(for: .seconds(1))
        return start.duration(to: loop.now)
      }
    }()
    #expect(try await hold.next { 1 } == 1)
    await delivered.resume(returning: ())
    try await asked.value()
    #expect(await timeStandsStill())
    // Now both wait. The first reader comes to its end, so that the second one's element counts alone.
    let last: Int? = try await hold.next {
      try await loop.sleep(for: .seconds(1))
      return nil
    }
    #expect(last == nil)
    let passed = try await reader
    #expect(passed == .seconds(1))
    withExtendedLifetime((hold, other)) {}
  }

  /// An iterator that outlives the body must not delay the closing code.
  @Test func aBodyEndsTheHoldsOfItsElements() async throws {
    let hold = ElementHold(for: scope)
    let scope = scope
    try await loop.call(
      for: scope, opening: {}, closing: { try? await loop.sleep(for: .seconds(1)) },
      body: {
        // The child task received the element, not the task that closes.
        async let element: Int? = hold.next { 1 }
        let received = try await element
        #expect(received == 1)
        #expect(await timeStandsStill())
      })
    try await waitElsewhere()
    withExtendedLifetime(hold) {}
  }

  @Test func anElementOfOneScopeHoldsInAnother() async throws {
    let hold = ElementHold(for: scope)
    #expect(try await hold.next { 1 } == 1)
    let begun = await Wait<Void>()
    let other = Task.detached {
      let scope = Scope()
      for try await _ in Ticks(scope: scope) { await begun.resume(returning: ()) }
    }
    for _ in 0..<64 { await loop.spawn {}.value }
    #expect(await !begun.isSettled)
    // The end of this iterator lets the other task go on.
    #expect(try await hold.next { Int?.none } == nil)
    try await begun.value()
    other.cancel()
    _ = await other.result
  }

  @Test func aCanceledConsumerHoldsNothing() async throws {
    let begun = await Wait<Void>()
    let hold = ElementHold(for: scope)
    let task = Task {
      _ = try await hold.next { 1 }
      return try await hold.next {
        begun.resume(returning: ())
        try await Wait<Void>().value()
        return 2
      }
    }
    try await begun.value()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await waitElsewhere()
    withExtendedLifetime(hold) {}
  }
}
