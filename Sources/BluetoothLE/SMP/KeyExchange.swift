// SPDX-License-Identifier: Apache-2.0
/// Phase 3 of a pairing, in which both devices distribute keys over the encrypted link (Vol 3 Part H §2.4.3, §3.6).
/// The peripheral sends all its keys first.
struct KeyExchange: Sendable {
  private let terms: PairingTerms
  /// The key with which the link is encrypted. A bond keeps it if it is from LE Secure Connections.
  private let linkKey: UInt128
  private let identity: LocalIdentity?
  /// The codes of the PDUs that the peer still has to send, in their order.
  private var expected: ArraySlice<UInt8>
  private var isSent = false
  /// The long term key of LE legacy pairing that we sent.
  private var ownKey: LongTermKey?
  private var peerKey: UInt128?
  private var peerIdentifiers: (ediv: UInt16, rand: UInt64) = (0, 0)
  private var irk: UInt128?
  private var peerIdentity: PeerAddress?

  init(_ terms: PairingTerms, linkKey: UInt128, identity: LocalIdentity?) {
    (self.terms, self.linkKey, self.identity) = (terms, linkKey, identity)
    let keys = terms.keys.peer
    expected = ((keys.contains(.encryption) ? [0x06, 0x07] : []) + (keys.contains(.identity) ? [0x08, 0x09] : []))[...]
  }

  /// Whether both devices have all keys.
  var isComplete: Bool { isSent && expected.isEmpty }

  /// Sends our keys if it is our turn.
  mutating func next(_ random: inout RandomSource) -> [PairingPDU] {
    guard !isSent, terms.role == .peripheral || expected.isEmpty else { return [] }
    isSent = true
    var pdus: [PairingPDU] = []
    if terms.keys.own.contains(.encryption) {
      // A central cannot name a key whose identifiers are both 0: they belong to LE Secure Connections.
      let key = LongTermKey(
        key: random.number(UInt128.self).cut(to: terms.security.keySize), ediv: random.number(), rand: random.number(UInt64.self) | 1,
        role: .peripheral, security: terms.security)
      ownKey = key
      pdus += [.encryptionInformation(key.key), .centralIdentification(ediv: key.ediv, rand: key.rand)]
    }
    if terms.keys.own.contains(.identity), let identity {
      pdus += [.identityInformation(identity.irk), .identityAddress(identity.address)]
    }
    return pdus
  }

  mutating func receive(_ pdu: PairingPDU) throws(PairingFailure) {
    guard pdu.code == expected.first else { throw .unexpectedPDU(code: pdu.code) }
    switch pdu {
    case .encryptionInformation(let key): peerKey = key
    case .centralIdentification(let ediv, let rand): peerIdentifiers = (ediv, rand)
    case .identityInformation(let key): irk = key
    case .identityAddress(let address): peerIdentity = address
    default: throw .unexpectedPDU(code: pdu.code)
    }
    expected.removeFirst()
  }

  /// The bond of a complete exchange. Nil if one of the devices does not bond, or if they exchanged no long term key.
  func bond(with peer: PeerAddress) -> Bond? {
    guard isComplete, terms.isBonding else { return nil }
    var keys: [LongTermKey] = []
    if terms.security.isSecureConnections {
      keys.append(LongTermKey(key: linkKey, security: terms.security))
    } else {
      if let peerKey {
        keys.append(
          LongTermKey(key: peerKey, ediv: peerIdentifiers.ediv, rand: peerIdentifiers.rand, role: .central, security: terms.security))
      }
      if let ownKey { keys.append(ownKey) }
    }
    guard !keys.isEmpty else { return nil }
    // A device could claim the identity of another one. Its address on the link is its identity unless that address is private.
    let isPrivate = peer.randomKind == .resolvablePrivate && irk.map { Bond.resolves(peer.address, irk: $0) } ?? false
    return Bond(identity: isPrivate ? peerIdentity ?? peer : peer, irk: irk, keys: keys, method: terms.method)
  }
}
