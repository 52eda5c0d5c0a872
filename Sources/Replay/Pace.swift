/// Maps the time of a recording to ours. The device keeps its recorded distance to the host's preceding action. Computing takes no virtual
/// time, so the host may be early. The recorded time then applies, so that records have the recorded times.
struct Pace: Sendable {
  /// The largest lead in ns that counts as computing. With more, a person was thinking, and the replay skips the pause.
  static let slack: Int64 = 50_000_000

  /// Our time minus the recording's time, in nanoseconds.
  private(set) var offset: Int64

  /// Creates a pace.
  /// - Parameter now: Our time at time 0 of the recording, in nanoseconds.
  init(now: Int64) { offset = now }

  /// Aligns an action of the host with its recorded time.
  /// - Returns: The skipped time of the recording, in nanoseconds.
  mutating func align(_ recorded: Int64, now: Int64) -> Int64 {
    let late = now - due(recorded)
    guard late > 0 || -late > Self.slack else { return 0 }
    offset += late
    return max(0, -late)
  }

  func due(_ recorded: Int64) -> Int64 { recorded + offset }
}
