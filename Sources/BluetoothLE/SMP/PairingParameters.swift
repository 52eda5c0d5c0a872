// SPDX-License-Identifier: Apache-2.0
/// The use of LE Secure Connections in a pairing. Without it, devices use LE legacy pairing.
package enum SecureConnectionsUse: Sendable {
  /// The device supports only LE legacy pairing.
  case never
  /// The device uses LE Secure Connections if the peer supports it.
  case preferred
  /// The device refuses LE legacy pairing.
  case required
}

/// The identity that our device distributes.
package struct LocalIdentity: Hashable, Sendable {
  package let irk: UInt128
  package let address: PeerAddress

  package init(irk: UInt128, address: PeerAddress) { (self.irk, self.address) = (irk, address) }
}

/// The requirements and abilities of our device in a pairing.
package struct PairingParameters: Equatable, Sendable {
  package var ioCapability = IOCapability.noInputNoOutput
  /// The minimum level. The pairing fails if the peer makes it impossible.
  package var level = SecurityLevel.encrypted
  /// Whether our device requests protection against an attacker in the middle. It always does for level 3 and 4.
  package var requestsMITM = false
  package var secureConnections = SecureConnectionsUse.preferred
  /// Whether our device stores the keys.
  package var isBonding = true
  /// The minimum and the maximum size of the key, in bytes. Values outside 7–16 are clamped.
  package var keySizes: ClosedRange<UInt8> = 16...16
  /// The keys that our device distributes. It distributes an identity only if `identity` is not nil.
  package var ownKeys: KeyDistribution = [.encryption, .identity]
  /// The keys that our device accepts.
  package var peerKeys: KeyDistribution = [.encryption, .identity]
  package var identity: LocalIdentity?
  /// The passkey that our device displays. Nil for a new random one in each pairing.
  ///
  /// A passkey must not be used twice: each pairing with LE Secure Connections reveals it to a listener, and a guess at each
  /// attempt reveals one more bit of it.
  package var passkey: SixDigits?

  package init(ioCapability: IOCapability = .noInputNoOutput, requestsMITM: Bool = false) {
    (self.ioCapability, self.requestsMITM) = (ioCapability, requestsMITM)
  }

  /// The least size of the key, in bytes.
  package var minimumKeySize: UInt8 { level == .secureConnections ? 16 : keySizes.clamped(to: 7...16).lowerBound }

  /// Returns whether a key, for example that of a bond, fulfills the requirements.
  package func accepts(_ security: LinkSecurity) -> Bool {
    security.level >= level && security.keySize >= minimumKeySize && (secureConnections != .required || security.isSecureConnections)
  }

  /// The AuthReq field of our PDUs.
  var authentication: AuthenticationRequirements {
    var requirements: AuthenticationRequirements = []
    if isBonding { requirements.insert(.bonding) }
    if requestsMITM || level >= .authenticated { requirements.insert(.mitm) }
    if secureConnections != .never { requirements.insert(.secureConnections) }
    return requirements
  }

  /// The features in our Pairing Request, or in our Pairing Response to `request`.
  func features(answering request: PairingFeatures? = nil) -> PairingFeatures {
    var own = ownKeys
    if identity == nil { own.remove(.identity) }
    var (initiatorKeys, responderKeys) = request == nil ? (own, peerKeys) : (peerKeys, own)
    if let request {
      initiatorKeys.formIntersection(request.initiatorKeys)
      responderKeys.formIntersection(request.responderKeys)
    }
    // Keys that no device stores are not sent.
    if !isBonding || request?.authentication.isBonding == false { (initiatorKeys, responderKeys) = ([], []) }
    return PairingFeatures(
      ioCapability: ioCapability, authentication: authentication, maximumKeySize: keySizes.clamped(to: 7...16).upperBound,
      initiatorKeys: initiatorKeys, responderKeys: responderKeys)
  }
}
