// SPDX-License-Identifier: Apache-2.0
/// The virtual time of a loop: when it jumps, and why it stands still.
///
/// In virtual time, the loop does not wait for timers. When no job and no descriptor is ready, the clock jumps to the next timer. A
/// 16-second transfer over the simulated air takes milliseconds and always has the same result. `Holds` has the rules for user's code on
/// other threads.
package struct VirtualTime {
  /// The nanoseconds since the program's start.
  private(set) var now: Int64 = 0
  /// The wall clock at virtual time zero, in nanoseconds since 1970-01-01T00:00:00Z.
  var start: Int64 = 1_767_225_600_000_000_000
  /// The instant at which virtual time stops, because a user types in real time. Nil means no stop.
  package var horizon: LoopClock.Instant?
  /// Whether virtual time waits once for the reader of blectl's output.
  package var waitsForReader = false
  /// The longest wait for that reader, in nanoseconds of real time.
  static let readersLimit: Int64 = 200_000_000

  /// Whether virtual time waits without a limit for the user's or a script's next command. Callers set it while no command runs.
  package var standsStill: Bool {
    get { horizon != nil }
    set { horizon = newValue ? LoopClock.Instant(nanoseconds: now) : nil }
  }

  /// Returns whether time may reach the due time of a timer. `mayAdvance` tells what the holds allow.
  func mayReach(_ due: Int64, _ mayAdvance: @autoclosure () -> Bool) -> Bool {
    if let horizon, due > horizon.nanoseconds { return false }
    return due <= now || mayAdvance()
  }

  mutating func jump(to due: Int64) { now = max(now, due) }
}
