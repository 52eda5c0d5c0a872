// SPDX-License-Identifier: Apache-2.0
/// The identity of a device behind a resolvable private address.
package struct ResolvedIdentity: Hashable, Sendable {
  /// The identity address. Nil if the user gave only the identity resolving key (IRK).
  package let address: PeerAddress?
}

extension [StoredBond] {
  /// The IRKs of the bonds that have one, each with the identity address.
  package var identityKeys: [(irk: UInt128, address: PeerAddress?)] {
    compactMap { stored in stored.bond.irk.map { ($0, stored.bond.identity) } }
  }
}

/// Finds the identities behind resolvable private addresses (Vol 6 Part B §1.3.2.3).
@LoopActor
package final class IdentityResolver {
  private let keys: [(irk: UInt128, identity: ResolvedIdentity)]
  /// The results of earlier calls, also those without an identity. Each result costs one AES block per key.
  private var known: [Address: ResolvedIdentity?] = [:]
  private static let limit = 4096

  /// - Parameter keys: Each IRK with its identity address, nil if unknown.
  package init(_ keys: [(irk: UInt128, address: PeerAddress?)]) {
    self.keys = keys.map { ($0.irk, ResolvedIdentity(address: $0.address)) }
  }

  /// Whether a device with this identity address may use other addresses on the air.
  package func mayHide(_ address: Address) -> Bool { keys.contains { $0.identity.address?.address == address } }

  /// Returns the identity of a device. Nil for an address that no key resolves.
  package func identity(of peer: PeerAddress?) -> ResolvedIdentity? {
    guard !keys.isEmpty, let peer, peer.randomKind == .resolvablePrivate else { return nil }
    if let found = known[peer.address] { return found }
    let found = keys.first { Bond.resolves(peer.address, irk: $0.irk) }?.identity
    if known.count >= Self.limit { known = [:] }
    known[peer.address] = .some(found)
    return found
  }
}
