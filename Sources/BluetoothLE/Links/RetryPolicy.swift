// SPDX-License-Identifier: Apache-2.0
/// The policy for restoring a lost link: the number of attempts and the pauses between them.
package struct RetryPolicy: Sendable, Equatable {
  /// The number of attempts left. Nil means no limit.
  package var attempts: Int?
  /// The pause before the first attempt. The pause doubles after each attempt, up to `longestPause`.
  package var firstPause = Duration.milliseconds(500)
  package var longestPause = Duration.seconds(30)
  /// The time limit for the search of one attempt. A long search delays the user's own connection attempts.
  package var search = PeerSearch.usualLimit
  /// The time at which the attempts end. Nil means no time limit.
  package var deadline: LoopClock.Instant?
  private var pause: Duration?

  package init() {}

  /// Returns a policy with up to `count` attempts and a pause of half a second before each.
  package static func times(_ count: Int) -> RetryPolicy {
    var policy = RetryPolicy()
    policy.attempts = count
    policy.longestPause = policy.firstPause
    return policy
  }

  /// Returns whether an attempt on a new link may succeed after this error. Other errors end all attempts.
  package static func mayPass(_ error: any Error) -> Bool { (error as? any PassingError)?.mayPass ?? false }

  /// Resets the next pause to `firstPause`. The caller does this after a link proves stable.
  package mutating func restart() { pause = nil }

  /// Uses up an attempt and returns the pause before that attempt. Returns nil if no attempt is left.
  mutating func next() -> Duration? {
    guard attempts != 0 else { return nil }
    attempts? -= 1
    let pause = self.pause ?? firstPause
    self.pause = min(pause * 2, longestPause)
    return pause
  }
}
