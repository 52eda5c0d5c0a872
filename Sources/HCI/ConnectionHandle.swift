/// Connection_Handle: a link as the controller numbers it (Vol 4 Part E §5.3.1), 0x0000…0x0EFF.
package struct ConnectionHandle: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let rawValue: UInt16

  /// - Parameter rawValue: of which the lower twelve bits count; the others are reserved, or flags.
  package init(_ rawValue: UInt16) { self.rawValue = rawValue & 0x0FFF }

  /// 0x0F00…0x0FFF: no link has such a handle, and no data can be sent to it.
  package var isReserved: Bool { rawValue > 0x0EFF }

  package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }

  package var description: String { "\(rawValue)" }
}

extension ConnectionHandle: ExpressibleByIntegerLiteral {
  package init(integerLiteral value: UInt16) { self.init(value) }
}
