// SPDX-License-Identifier: Apache-2.0
/// The policy for restoring a lost link: number of attempts, and pauses between them.
/// ``ConnectionOptions/reconnect`` says what is restored.
public struct ReconnectPolicy: Sendable, Hashable {
  /// The number of attempts after each loss. Less than 0 counts as 0. Nil means no limit.
  public var attempts: Int?
  /// The pause before the first attempt, at least 1 ms. It doubles with each attempt.
  public var firstPause = Duration.milliseconds(500)
  /// The longest pause between two attempts, at least 1 ms.
  public var longestPause = Duration.seconds(30)
  /// The time limit for the search of one attempt. A long search delays the user's own connection attempts.
  package var search = PeerSearch.usualLimit
  /// The time at which the attempts end. Nil means no time limit.
  package var deadline: LoopClock.Instant?
  private var pause: Duration?

  /// Creates a policy with pauses of 0.5 s to 30 s.
  /// - Parameter attempts: The number of attempts after each loss. Nil means no limit.
  public init(attempts: Int?) { self.attempts = attempts }

  /// No attempt: a lost link ends the connection.
  public static let never = ReconnectPolicy(attempts: 0)
  /// Attempts without a limit.
  public static let forever = ReconnectPolicy(attempts: nil)
  /// Returns a policy with up to `count` attempts after each loss.
  public static func times(_ count: Int) -> ReconnectPolicy { ReconnectPolicy(attempts: count) }

  package init(attempts: Int, longestPause: Duration) { (self.attempts, self.longestPause) = (attempts, longestPause) }

  /// Returns whether an attempt on a new link may succeed after this error. Other errors end all attempts.
  package static func mayPass(_ error: any Error) -> Bool { (error as? any PassingError)?.mayPass ?? false }

  /// Resets the next pause to `firstPause`. The caller does this after a link proves stable.
  package mutating func restart() { pause = nil }

  /// Uses up an attempt and returns the pause before that attempt. Returns nil if no attempt is left.
  mutating func next() -> Duration? {
    guard attempts != 0 else { return nil }
    attempts? -= 1
    defer { pause = min((pause ?? firstPause) * 2, longestPause) }
    return pause ?? firstPause
  }
}
