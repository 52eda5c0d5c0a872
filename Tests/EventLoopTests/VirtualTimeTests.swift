import TestSupport

@Suite(.timeLimit(.minutes(15))) struct VirtualTimeTests {
  @Test func sleepsInOrderAndWithoutWaiting() async throws {
    let order = try await onLoop { () async throws -> [Int] in
      let log = Log()
      for (number, hours) in [(2, 20), (1, 10), (3, 30)] {
        EventLoop.shared.schedule(after: .seconds(3600 * hours)) { log.items.append(number) }
      }
      try await EventLoop.shared.sleep(for: .seconds(3600 * 40))
      return log.items
    }
    #expect(order == [1, 2, 3])
  }

  @Test(.onLoop) @LoopActor func timersOfOneInstantFireInTheOrderOfTheirScheduling() async throws {
    let log = Log()
    let due = EventLoop.shared.now.advanced(by: .seconds(1))
    for number in 0..<9 { EventLoop.shared.schedule(at: due) { log.items.append(number) } }
    try await EventLoop.shared.sleep(for: .seconds(2))
    #expect(log.items == Array(0..<9))
  }

  @Test(.onLoop) @LoopActor func theLoserOfARaceIsCancelled() async throws {
    let log = Log()
    let result = try await race(
      { 1 },
      {
        do { try await EventLoop.shared.sleep(for: .seconds(1)) } catch { log.items.append(2) }
        return 2
      })
    #expect(result == 1)
    #expect(log.items == [2])
  }

  @Test(.onLoop) @LoopActor func aDeadlineCancelsAndSaysSo() async throws {
    let log = Log()
    let outcome = try await withDeadline(EventLoop.shared.now.advanced(by: .seconds(5))) {
      do { try await Wait<Void>().value() } catch { log.items.append(1) }
      return 7
    }
    #expect(outcome == nil)
    #expect(log.items == [1])
    let prompt = try await withDeadline(EventLoop.shared.now.advanced(by: .seconds(5))) { 7 }
    let unlimited = try await withDeadline(nil) { 7 }
    #expect(prompt == 7 && unlimited == 7)
  }

  @Test(.onLoop) @LoopActor func cleanUpRunsInACancelledTask() async throws {
    let log = Log()
    let task = EventLoop.shared.spawn {
      do { try await EventLoop.shared.sleep(for: .seconds(100)) } catch {
        await shielded {
          do { try await EventLoop.shared.sleep(for: .seconds(1)) } catch { log.items.append(8) }
          log.items.append(7)
        }
      }
    }
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    task.cancel()
    await task.value
    #expect(log.items == [7])
  }
}

@LoopActor private final class Log { var items: [Int] = [] }
