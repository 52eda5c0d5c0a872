import Glibc
import TestSupport
import Testing

@testable import CommandLine
@testable import Presentation
@testable import Terminal

/// The question before a step that cannot be undone, on a terminal of this process.
@Suite(.timeLimit(.minutes(15))) struct ConfirmationTests {
  /// A key that is no answer changes nothing about the limit.
  @Test(.onLoop) @LoopActor func aQuestionWithoutAnAnswerEndsAfterItsLimit() async throws {
    var (master, slave): (Int32, Int32) = (-1, -1)
    try #require(unsafe openpty(&master, &slave, nil, nil, nil) == 0)
    defer {
      close(master)
      close(slave)
    }
    _ = fcntl(master, F_SETFL, O_NONBLOCK)
    let (begin, output) = (EventLoop.shared.now, Output(Output.Style(), out: slave, err: slave) { _ in nil })
    let asked = EventLoop.shared.spawn { [slave] in
      await Result(of: { try await Confirmation.ask("Erase it?", output, "Nothing was written.", on: slave) })
    }
    var shown = [UInt8](repeating: 0, count: 4096)
    while unsafe read(master, &shown, shown.count) <= 0 { await Task.yield() }
    #expect(String(decoding: shown, as: UTF8.self).contains("Erase it? y or n:"))
    // While blectl asks, virtual time stands still, because the time of the user is real.
    EventLoop.shared.virtualTime.standsStill = false
    try await EventLoop.shared.sleep(for: .seconds(30))
    #expect(unsafe write(master, "x", 1) == 1)
    let answer = await asked.value
    let error = try #require(throws: Failure.self) { try answer.get() }
    #expect(error == Failure(.timeout, "There was no answer within 60 s. Nothing was written."))
    #expect(begin.duration(to: EventLoop.shared.now) == .seconds(60))
  }
}
