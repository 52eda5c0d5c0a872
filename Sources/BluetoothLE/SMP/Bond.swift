// SPDX-License-Identifier: Apache-2.0
/// A long term key (LTK), with which a link is encrypted.
package struct LongTermKey: Hashable, Sendable {
  /// The key, cut to its size: a device may send it whole, and the controller takes 16 bytes (Vol 3 Part H §2.3.4).
  package let key: UInt128
  /// The identifier of a key of LE legacy pairing, 0 for LE Secure Connections.
  package let ediv: UInt16
  /// The second identifier of a key of LE legacy pairing, 0 for LE Secure Connections.
  package let rand: UInt64
  /// The role of our device on links that use the key. Nil means both roles, as with LE Secure Connections.
  package let role: LinkRole?
  package let security: LinkSecurity

  package init(key: UInt128, ediv: UInt16 = 0, rand: UInt64 = 0, role: LinkRole? = nil, security: LinkSecurity) {
    (self.key, self.ediv, self.rand, self.role, self.security) = (key.cut(to: security.keySize), ediv, rand, role, security)
  }
}

/// The keys that a pairing leaves on both devices for later links. The caller adds the date, and stores the bond in one step.
///
/// A device can claim any identity. Before the caller replaces a stored bond of the same identity, it must check
/// `isWeaker(than:)`: otherwise an attacker could replace an authenticated bond by Just Works.
package struct Bond: Equatable, Sendable {
  /// The identity address of the peer, or the address of the link if the peer distributed no identity.
  package let identity: PeerAddress
  /// The identity resolving key (IRK) of the peer. Nil if the peer uses no resolvable private addresses.
  package let irk: UInt128?
  package let keys: [LongTermKey]
  package let method: PairingMethod

  /// - Parameter irk: The key. 0 counts as no key: a device without private addresses may send zeros.
  package init(identity: PeerAddress, irk: UInt128?, keys: [LongTermKey], method: PairingMethod) {
    (self.identity, self.irk, self.keys, self.method) = (identity, irk == 0 ? nil : irk, keys, method)
  }

  /// The properties of the pairing. Nil if it left no key.
  package var security: LinkSecurity? { keys.first?.security }

  package func isWeaker(than other: Bond) -> Bool {
    guard let old = other.security else { return false }
    return security?.isWeaker(than: old) ?? true
  }

  /// The key with which a central in this bond encrypts a link.
  package var centralKey: LongTermKey? { keys.first { $0.role != .peripheral } }

  /// Returns the key that a peripheral in this bond gives its controller for the identifiers that the central sent.
  package func peripheralKey(ediv: UInt16, rand: UInt64) -> LongTermKey? {
    keys.first { $0.role != .central && $0.ediv == ediv && $0.rand == rand }
  }
}

/// The result of a pairing.
package struct PairingResult: Equatable, Sendable {
  /// The method. Nil for a bond that another program made.
  package let method: PairingMethod?
  package let security: LinkSecurity
  /// The bond to store. Nil if one of the devices does not bond, or if they exchanged no long term key.
  package let bond: Bond?
  /// The identity of the peer if the system's Bluetooth service keeps the keys, which are then unknown.
  package var systemIdentity: PeerAddress?

  package init(method: PairingMethod?, security: LinkSecurity, bond: Bond?, systemIdentity: PeerAddress? = nil) {
    (self.method, self.security, self.bond, self.systemIdentity) = (method, security, bond, systemIdentity)
  }

  /// The identity of the peer. Nil without a bond.
  package var identity: PeerAddress? { bond?.identity ?? systemIdentity }

  /// Whether the key is from LE Secure Connections. Nil if the system keeps the keys, and the level does not tell.
  package var isSecureConnections: Bool? {
    let isTold = security.level == .secureConnections || security.isAuthenticated && security.keySize == 16
    return systemIdentity == nil || isTold ? security.isSecureConnections : nil
  }
}
