// SPDX-License-Identifier: Apache-2.0
/// A form of the times in records and lines.
package enum RecordTimes: Sendable {
  /// RFC 3339 in UTC: `2026-11-26T12:03:04.512Z`.
  case utc
  /// RFC 3339 with the offset of the local time zone. The function returns the offset from UTC at a time. Both are in nanoseconds.
  case local(offset: @Sendable (Int64) -> Int64)
  /// Seconds since the first time, which is nil before it: `0.000`, `1.250`.
  case relative(since: Int64?)
  /// No times.
  case none

  /// Returns the text of a time in nanoseconds since 1970-01-01T00:00:00Z. Returns nil if the form has no times.
  package mutating func text(_ nanoseconds: Int64) -> String? {
    switch self {
    case .utc: return Timestamp.text(nanoseconds)
    case .local(let offset):
      let minutes = offset(nanoseconds) / 60_000_000_000
      let (local, overflow) = nanoseconds.addingReportingOverflow(minutes * 60_000_000_000)
      guard !overflow else { return Timestamp.text(nanoseconds) }
      func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
      let zone = "\(minutes < 0 ? "-" : "+")\(two(abs(minutes) / 60)):\(two(abs(minutes) % 60))"
      return Timestamp.text(local).dropLast() + zone
    case .relative(let start):
      if start == nil { self = .relative(since: nanoseconds) }
      let (since, overflow) = nanoseconds.subtractingReportingOverflow(start ?? nanoseconds)
      let milliseconds = overflow ? 0 : since / 1_000_000
      return "\(milliseconds < 0 ? "-" : "")\(abs(milliseconds) / 1000).\("\(abs(milliseconds) % 1000)".padded(to: 3, with: "0"))"
    case .none: return nil
    }
  }
}
