// SPDX-License-Identifier: Apache-2.0
/// The Connection_Handle, a controller's number for a link (Vol 4 Part E §5.3.1), 0x0000…0x0EFF.
package struct ConnectionHandle: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let rawValue: UInt16

  /// Creates a handle.
  /// - Parameter rawValue: A field with the handle in the lower 12 bits. The upper 4 bits have no effect.
  package init(_ rawValue: UInt16) { self.rawValue = rawValue & 0x0FFF }

  /// Whether the handle is 0x0F00…0x0FFF, which no link has and no data can use.
  package var isReserved: Bool { rawValue > 0x0EFF }

  package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }

  package var description: String { "\(rawValue)" }
}

extension ConnectionHandle: ExpressibleByIntegerLiteral { package init(integerLiteral value: UInt16) { self.init(value) } }
