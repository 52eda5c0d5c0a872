// SPDX-License-Identifier: Apache-2.0
/// The two ends of a pairing and the features that they exchanged in phase 1 (Vol 3 Part H §2.3).
struct PairingTerms: Sendable {
  /// Our role. The central initiates the pairing.
  let role: LinkRole
  let initiator: PeerAddress
  let responder: PeerAddress
  let request: PairingFeatures
  let response: PairingFeatures
  let method: PairingMethod
  let security: LinkSecurity

  var isBonding: Bool { request.authentication.isBonding && response.authentication.isBonding }

  /// The keys that our device distributes, and those that the peer distributes.
  var keys: (own: KeyDistribution, peer: KeyDistribution) {
    // Both devices have computed the key of LE Secure Connections.
    let excluded: KeyDistribution = security.isSecureConnections ? .encryption : []
    let (initiator, responder) = (response.initiatorKeys.subtracting(excluded), response.responderKeys.subtracting(excluded))
    return role == .central ? (initiator, responder) : (responder, initiator)
  }

  /// Derives the method and the key size from the features of both devices.
  /// - Parameter bond: The existing bond with the peer, whose security the new key must reach.
  /// - Throws: The failure if the result does not fulfill our requirements.
  init(
    role: LinkRole, own: PeerAddress, peer: PeerAddress, request: PairingFeatures, response: PairingFeatures,
    _ parameters: PairingParameters, replacing bond: Bond?
  ) throws(PairingFailure) {
    self.role = role
    (initiator, responder) = role == .central ? (own, peer) : (peer, own)
    (self.request, self.response) = (request, response)
    let both = request.authentication.intersection(response.authentication)
    let isSecureConnections = both.contains(.secureConnections)
    method = PairingMethod(
      initiator: request.ioCapability, responder: response.ioCapability,
      mitm: request.authentication.union(response.authentication).contains(.mitm), secureConnections: isSecureConnections)
    security = LinkSecurity(
      keySize: min(request.maximumKeySize, response.maximumKeySize), isAuthenticated: method.isAuthenticated,
      isSecureConnections: isSecureConnections)

    guard response.initiatorKeys.isSubset(of: request.initiatorKeys), response.responderKeys.isSubset(of: request.responderKeys) else {
      throw .unrequestedKeys
    }
    // In LE legacy pairing, the flags of both devices select OOB. We never set ours.
    if isSecureConnections, (role == .central ? response : request).hasOOBData { throw .outOfBandWanted }
    let minimum = parameters.minimumKeySize
    if security.keySize < minimum { throw .keySize(agreed: security.keySize, minimum: minimum) }
    if !isSecureConnections, parameters.secureConnections == .required || parameters.level == .secureConnections { throw .legacyPairing }
    if let old = bond?.security, security.isWeaker(than: old) { throw .weakerThanBond }
    if parameters.level >= .authenticated, !method.isAuthenticated { throw .notAuthenticated }
  }
}
