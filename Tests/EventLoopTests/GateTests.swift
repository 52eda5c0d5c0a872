import TestSupport

@Suite(.timeLimit(.minutes(15))) struct GateTests {
  private static func seconds(_ count: Int64) -> LoopClock.Instant { EventLoop.shared.now.advanced(by: .seconds(count)) }

  @Test(.onLoop) @LoopActor func allWhoWaitGoOnAndWhoComesLaterWaits() async throws {
    let gate = Gate()
    let first = (0..<3).map { _ in EventLoop.shared.spawn { try? await gate.pass(until: Self.seconds(9)) } }
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    gate.open()
    for task in first { #expect(await task.value == true) }
    // An opening is not kept for later waiters.
    #expect(try await gate.pass(until: Self.seconds(1)) == false)
  }

  @Test(.onLoop) @LoopActor func eachHasItsOwnLimit() async throws {
    let gate = Gate()
    let begin = EventLoop.shared.now
    let waits = [7, 3, 5, 30].map { limit in
      EventLoop.shared.spawn { () -> (Bool?, Duration) in
        let isOpen = try? await gate.pass(until: begin.advanced(by: .seconds(limit)))
        return (isOpen, begin.duration(to: EventLoop.shared.now))
      }
    }
    try await EventLoop.shared.sleep(until: begin.advanced(by: .seconds(10)))
    gate.open()
    let results = [await waits[0].value, await waits[1].value, await waits[2].value, await waits[3].value]
    #expect(results.map(\.0) == [false, false, false, true])
    #expect(results.map(\.1) == [.seconds(7), .seconds(3), .seconds(5), .seconds(10)])
  }

  /// The limit of an earlier wait does not affect a later one, which may have a shorter limit.
  @Test(.onLoop) @LoopActor func limitsOfWaitsThatAreOverMeanNothing() async throws {
    let gate = Gate()
    for limit in [Int64(20), 4, 20] {
      let begin = EventLoop.shared.now
      let wait = EventLoop.shared.spawn { try? await gate.pass(until: Self.seconds(20)) }
      try await EventLoop.shared.sleep(for: .seconds(15))
      gate.open()
      #expect(await wait.value == true)
      #expect(try await gate.pass(until: begin.advanced(by: .seconds(15 + limit))) == false)
      #expect(begin.duration(to: EventLoop.shared.now) == .seconds(15 + limit))
    }
  }

  @Test(.onLoop) @LoopActor func whoIsCancelledLeavesAlone() async throws {
    let gate = Gate()
    let patient = EventLoop.shared.spawn { try? await gate.pass(until: Self.seconds(9)) }
    let hasty = EventLoop.shared.spawn { () -> Bool in
      do { _ = try await gate.pass() } catch is CancellationError { return true } catch {}
      return false
    }
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    hasty.cancel()
    #expect(await hasty.value)
    gate.open()
    #expect(await patient.value == true)
  }
}
