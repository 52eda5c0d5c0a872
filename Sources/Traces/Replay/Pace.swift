/// A mapping from the time of a recording to the time of the event loop. Each answer keeps its recorded delay after the host's action.
/// If the host acts up to `slack` too early, the answer still has its recorded time.
struct Pace: Sendable {
  /// The longest lead of the host, in ns, that the mapping ignores. If the lead is longer, the replay skips the pause.
  static let slack: Int64 = 50_000_000

  /// The event loop's time minus the recording's time, in nanoseconds.
  private(set) var offset: Int64

  /// Creates a mapping for a recording that starts at `now`.
  /// - Parameter now: The event loop's time at time 0 of the recording, in nanoseconds.
  init(now: Int64) { offset = now }

  /// Aligns the mapping with a host action at `recorded` in the recording and at `now` on the event loop, both in nanoseconds.
  /// - Returns: The skipped time of the recording, in nanoseconds.
  mutating func align(_ recorded: Int64, now: Int64) -> Int64 {
    let late = now - due(recorded)
    guard late > 0 || -late > Self.slack else { return 0 }
    offset += late
    return max(0, -late)
  }

  func due(_ recorded: Int64) -> Int64 { recorded + offset }
}
