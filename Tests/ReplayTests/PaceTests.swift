import Testing

@testable import Replay

/// How the time of a recording maps to that of who replays it.
@Suite(.timeLimit(.minutes(1))) struct PaceTests {
  private static let second: Int64 = 1_000_000_000

  @Test func aHostThatIsAsFastAsThen() {
    var pace = Pace(now: 5 * Self.second)
    #expect(pace.due(Self.second) == 6 * Self.second)
    #expect(pace.align(Self.second, now: 6 * Self.second) == 0 && pace.due(2 * Self.second) == 7 * Self.second)
    // It computed then, which takes no time now.
    #expect(pace.align(Self.second, now: 6 * Self.second - Pace.slack) == 0 && pace.due(2 * Self.second) == 7 * Self.second)
  }

  /// What the device did keeps its distance to what the host did.
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
