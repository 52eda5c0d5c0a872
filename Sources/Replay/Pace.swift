/// How the time of a recording maps to ours. What the device did keeps its distance to what the host did before it. A host that computes, which
/// takes no virtual time, is no reason to be early: the recorded time holds then, so that records have the recorded times.
struct Pace: Sendable {
  /// So much earlier than recorded counts as computing; more is someone who thought, and is not waited for.
  static let slack: Int64 = 50_000_000

  /// Our time, less the recording's.
  private(set) var offset: Int64

  /// - Parameter now: what time 0 of the recording is.
  init(now: Int64) { offset = now }

  /// The host does now what it did then.
  /// - Returns: how much of the recording's time is left out.
  mutating func align(_ recorded: Int64, now: Int64) -> Int64 {
    let late = now - due(recorded)
    guard late > 0 || -late > Self.slack else { return 0 }
    offset += late
    return max(0, -late)
  }

  func due(_ recorded: Int64) -> Int64 { recorded + offset }
}
