// SPDX-License-Identifier: Apache-2.0
/// A level of LE security mode 1 (Vol 3 Part C §10.2.1). The raw value is its number, 1…4.
public enum SecurityLevel: Int, Sendable, Comparable, CaseIterable {
  /// No encryption.
  case unencrypted = 1
  /// Encryption with a key from unauthenticated pairing.
  case encrypted = 2
  /// Encryption with a key from authenticated pairing.
  case authenticated = 3
  /// Encryption with a 16-byte key from authenticated LE Secure Connections pairing.
  case secureConnections = 4

  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// The properties of a key, and of a link that is encrypted with it.
package struct LinkSecurity: Hashable, Sendable {
  /// The size of the key, 7–16 bytes.
  package var keySize: UInt8
  /// Whether the pairing detected an attacker in the middle.
  package var isAuthenticated: Bool
  package var isSecureConnections: Bool

  package init(keySize: UInt8, isAuthenticated: Bool, isSecureConnections: Bool) {
    (self.keySize, self.isAuthenticated, self.isSecureConnections) = (keySize, isAuthenticated, isSecureConnections)
  }

  package var level: SecurityLevel {
    guard isAuthenticated else { return .encrypted }
    return isSecureConnections && keySize >= 16 ? .secureConnections : .authenticated
  }

  /// Whether one of the properties is worse than in `other`.
  package func isWeaker(than other: LinkSecurity) -> Bool {
    keySize < other.keySize || !isAuthenticated && other.isAuthenticated || !isSecureConnections && other.isSecureConnections
  }
}
