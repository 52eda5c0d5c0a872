import TestSupport

@Suite(.timeLimit(.minutes(15))) struct TurnQueueTests {
  private enum Outcome: Equatable { case turn(at: Duration), late(at: Duration), cancelled(at: Duration) }

  /// Requests a turn for each entry immediately and in order, and holds each turn for a while.
  @LoopActor
  private func outcomes(_ queue: TurnQueue, _ all: [(limit: Int, keeps: Int, cancelledAfter: Int?)]) async throws -> [Outcome] {
    let start = EventLoop.shared.now
    var tasks: [Task<Outcome, Never>] = []
    for one in all {
      let task = EventLoop.shared.spawn { () -> Outcome in
        func elapsed() -> Duration { start.duration(to: EventLoop.shared.now) }
        let place = queue.enter()
        defer { place.leave() }
        do {
          guard try await place.untilTurn(until: start.advanced(by: .seconds(one.limit))) else { return .late(at: elapsed()) }
        } catch {
          return .cancelled(at: elapsed())
        }
        let turn = elapsed()
        try? await EventLoop.shared.sleep(for: .seconds(one.keeps))
        return .turn(at: turn)
      }
      if let time = one.cancelledAfter { EventLoop.shared.schedule(after: .seconds(time)) { task.cancel() } }
      tasks.append(task)
      try await EventLoop.shared.sleep(for: .zero)
    }
    var result: [Outcome] = []
    for task in tasks { result.append(await task.value) }
    return result
  }

  @Test(.onLoop) @LoopActor func turnsComeInOrderWithinEverybodysOwnLimit() async throws {
    let queue = TurnQueue()
    let first = try await self.outcomes(
      queue, [(10, 3, nil), (10, 2, nil), (1, 9, nil), (10, 9, 2), (10, 0, nil)])
    #expect(
      first == [
        .turn(at: .zero), .turn(at: .seconds(3)), .late(at: .seconds(1)), .cancelled(at: .seconds(2)), .turn(at: .seconds(5)),
      ])
    // The queue is free, so the turn is immediate.
    #expect(try await self.outcomes(queue, [(1, 0, nil)]) == [.turn(at: .zero)])
  }

  @Test(.onLoop) @LoopActor func aCancelledTaskAsksForNothing() async throws {
    let queue = TurnQueue()
    let task = EventLoop.shared.spawn { () -> Bool in
      let place = queue.enter()
      defer { place.leave() }
      do { return try await place.untilTurn(until: EventLoop.shared.now.advanced(by: .seconds(1))) } catch { return false }
    }
    task.cancel()
    #expect(await !task.value)
    #expect(queue.isEmpty)
    let place = queue.enter()
    let isFree = try await place.untilTurn(until: EventLoop.shared.now)
    #expect(isFree)
    place.leave()
    place.leave()
    #expect(queue.isEmpty)
  }

  /// Joining two queues appends the second in its order, including the entry that had its turn.
  @Test(.onLoop) @LoopActor func oneQueueJoinsAnother() async throws {
    let (first, second) = (TurnQueue(), TurnQueue())
    var order: [String] = []
    let places = [first, first, second, second].map { $0.enter() }
    try await places[2].untilTurn()
    second.join(first)
    second.join(second)
    #expect(second.isEmpty && !first.isEmpty)
    let tasks = zip(places, ["a", "b", "c", "d"]).reversed().map { place, name in
      EventLoop.shared.spawn {
        try? await place.untilTurn()
        order.append(name)
        place.leave()
      }
    }
    for task in tasks { await task.value }
    #expect(order == ["a", "b", "c", "d"] && first.isEmpty)
    // An entry that joins an empty queue has its turn immediately.
    let place = first.enter()
    first.join(second)
    try await place.untilTurn()
    place.leave()
    #expect(second.isEmpty)
  }
}
