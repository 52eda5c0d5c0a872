// SPDX-License-Identifier: Apache-2.0
/// A time that packets carry as a 16-bit count of a fixed unit.
package protocol TimeCount: RawRepresentable<UInt16>, Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
  /// The duration of one count in nanoseconds.
  static var unit: Int64 { get }

  init(rawValue: UInt16)
}

extension TimeCount {
  package init(integerLiteral value: UInt16) { self.init(rawValue: value) }

  package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }

  @inlinable package var nanoseconds: Int64 { Int64(rawValue) * Self.unit }
  package var duration: Duration { .nanoseconds(nanoseconds) }
}

/// A time in units of 0.625 ms, for scan intervals, scan windows and connection event lengths.
package struct Slots: TimeCount {
  package static var unit: Int64 { 625_000 }

  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// A time in units of 1.25 ms, for connection intervals.
package struct ConnectionInterval: TimeCount {
  package static var unit: Int64 { 1_250_000 }

  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// A time in units of 10 ms, for supervision timeouts and scan durations.
package struct Centiseconds: TimeCount {
  package static var unit: Int64 { 10_000_000 }

  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }
}
