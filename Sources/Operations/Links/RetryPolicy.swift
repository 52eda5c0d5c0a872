package import EventLoop
import Finding

/// The policy for restoring a lost link: the number of attempts and the pauses between them.
package struct RetryPolicy: Sendable, Equatable {
  /// The number of attempts left. Nil for no limit.
  package var attempts: Int?
  /// The pause before the first attempt. It doubles after each, up to `longestPause`.
  package var firstPause = Duration.milliseconds(500)
  package var longestPause = Duration.seconds(30)
  /// The search time of one attempt. Short, because a connection attempt by the user waits for the same controller.
  package var search = PeerSearch.usualLimit
  /// The time at which to give up. Nil for never.
  package var deadline: LoopClock.Instant?
  private var pause: Duration?

  package init() {}

  /// Retries up to `count` times, with a pause of half a second.
  package static func times(_ count: Int) -> RetryPolicy {
    var policy = RetryPolicy()
    policy.attempts = count
    policy.longestPause = policy.firstPause
    return policy
  }

  /// Whether the pauses grow.
  var pausesGrow: Bool { longestPause > firstPause }

  /// Starts over with the first pause. The caller does this when a link holds.
  package mutating func restart() { pause = nil }

  /// Uses up an attempt and returns the pause before it. Nil if no attempt is left.
  mutating func next() -> Duration? {
    guard attempts != 0 else { return nil }
    attempts? -= 1
    let pause = self.pause ?? firstPause
    self.pause = min(pause * 2, longestPause)
    return pause
  }
}
