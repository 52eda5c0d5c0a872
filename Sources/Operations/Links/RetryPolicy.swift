package import EventLoop
import Finding

/// The policy for restoring a lost link: how often to try, and after which pauses.
package struct RetryPolicy: Sendable, Equatable {
  /// The number of attempts left. Nil for no limit.
  package var attempts: Int?
  /// The pause before the first attempt. It doubles after each, up to `longestPause`.
  package var firstPause = Duration.milliseconds(500)
  package var longestPause = Duration.seconds(30)
  /// The search time of one attempt. Shorter than a connection attempt by the user, which waits for the same controller.
  package var search = PeerSearch.usualLimit
  /// The time to give up. Nil for never.
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

  /// Starts over with the first pause, because a link held.
  package mutating func restart() { pause = nil }

  /// Takes the next attempt.
  /// - Returns: the pause before it. Nil if none is left.
  mutating func next() -> Duration? {
    guard attempts != 0 else { return nil }
    attempts? -= 1
    let pause = self.pause ?? firstPause
    self.pause = min(pause * 2, longestPause)
    return pause
  }
}
