import Testing

@testable import Replay

/// Tests how the time of a recording maps to the time of a replay.
@Suite(.timeLimit(.minutes(1))) struct PaceTests {
  private static let second: Int64 = 1_000_000_000

  @Test func aHostThatIsAsFastAsThen() {
    var pace = Pace(now: 5 * Self.second)
    #expect(pace.due(Self.second) == 6 * Self.second)
    #expect(pace.align(Self.second, now: 6 * Self.second) == 0 && pace.due(2 * Self.second) == 7 * Self.second)
    // The recorded host computed at this point, which now takes no time.
    #expect(pace.align(Self.second, now: 6 * Self.second - Pace.slack) == 0 && pace.due(2 * Self.second) == 7 * Self.second)
  }

  /// The device's actions keep their distance to the host's actions.
  @Test func aHostThatIsSlower() {
    var pace = Pace(now: 0)
    #expect(pace.align(Self.second, now: 4 * Self.second) == 0 && pace.due(2 * Self.second) == 5 * Self.second)
  }

  @Test func aHostThatDoesNotThinkAgain() {
    var pace = Pace(now: 0)
    #expect(pace.align(10 * Self.second, now: Self.second) == 9 * Self.second)
    #expect(pace.due(12 * Self.second) == 3 * Self.second)
  }
}
