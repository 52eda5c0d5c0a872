// SPDX-License-Identifier: Apache-2.0
/// The times of the loop's clock, which counts monotonic nanoseconds, or `VirtualTime`.
package enum LoopClock {
  package struct Instant: InstantProtocol, Sendable {
    /// The nanoseconds since an arbitrary start (real time) or since the program's start (virtual time).
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package func advanced(by duration: Duration) -> Self { Self(nanoseconds: nanoseconds &+ duration.wholeNanoseconds) }
    package func duration(to other: Self) -> Duration { .nanoseconds(other.nanoseconds &- nanoseconds) }
    package static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }
  }
}

extension Duration {
  /// The duration in nanoseconds, limited to about 146 years, so that no number of seconds from a user overflows an instant.
  package var wholeNanoseconds: Int64 {
    let limit = Int64.max / 2
    let (seconds, overflow) = components.seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow || seconds.magnitude > limit.magnitude { return components.seconds < 0 ? -limit : limit }
    return seconds + components.attoseconds / 1_000_000_000
  }

  package var inSeconds: Double { Double(wholeNanoseconds) / 1e9 }
  package var inMilliseconds: Double { Double(wholeNanoseconds) / 1e6 }

  /// Converts seconds to a duration. NaN and negative numbers become zero. Numbers above 4e9 become 4e9 seconds.
  package static func limited(seconds: Double) -> Duration {
    guard seconds > 0 else { return .zero }
    return seconds < 4e9 ? .nanoseconds(Int64(seconds * 1e9)) : .seconds(4_000_000_000)
  }
}
