// SPDX-License-Identifier: Apache-2.0
/// The channel identifier (CID) of an L2CAP channel (Vol 3 Part A §2.1).
package struct ChannelIdentifier: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package init(integerLiteral value: UInt16) { rawValue = value }

  /// The fixed channel of the Attribute Protocol on an LE link.
  package static let att: Self = 0x0004
  package static let signalling: Self = 0x0005
  package static let securityManager: Self = 0x0006
  /// The fixed channel of the Security Manager on a BR/EDR link.
  package static let classicSecurityManager: Self = 0x0007
}
