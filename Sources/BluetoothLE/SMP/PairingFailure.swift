// SPDX-License-Identifier: Apache-2.0
/// The device that detected the cause of a failure.
package enum PairingParty: Sendable {
  case us, peer
}

/// The cause for which a pairing failed, or for which a link could not be encrypted.
package enum PairingFailure: Error, Equatable, Sendable {
  // MARK: The user
  /// The passkey on one device differs from the passkey on the other.
  case wrongPasskey(PairingParty)
  /// The user of a device says that the displayed numbers differ.
  case numberRefused(PairingParty)
  /// The user of a device did not enter the passkey.
  case passkeyNotEntered(PairingParty)
  /// Our user canceled the pairing.
  case canceled

  // MARK: The peer's decision, and silence
  /// The peer sent Pairing Failed for another reason.
  case refused(PairingFailedReason)
  /// The peer sent nothing for this long. The link cannot be used for another pairing (Vol 3 Part H §3.4).
  case silent(Duration)
  /// The peer sent nothing for the longest time that the specification permits, 30 s.
  package static let timedOut = Self.silent(longestSilence)
  /// The silence that ends a pairing at the latest (Vol 3 Part H §3.4).
  package static let longestSilence = Duration.seconds(30)
  case disconnected(ControllerErrorCode)

  // MARK: Our requirements
  /// The key would have `agreed` bytes, which is below our minimum.
  case keySize(agreed: UInt8, minimum: UInt8)
  /// The peer supports only LE legacy pairing, and we require LE Secure Connections.
  case legacyPairing
  /// The capabilities of the devices allow only Just Works, and we require authentication.
  case notAuthenticated
  /// The new key would be weaker than the stored one: an attacker may pretend to be a bonded device.
  case weakerThanBond
  /// The peer claims the identity address of another device that we have a bond with.
  case identityTaken(PeerAddress)
  /// The peer expects that we have its OOB data.
  case outOfBandWanted

  // MARK: Attacks and defects
  /// The peer's public key is not on the curve (CVE-2018-5383).
  case invalidPublicKey
  /// The peer uses the public key whose private key the specification prints.
  case debugKey
  /// The peer sends our own public key, confirm value or random number back (CVE-2020-26558).
  case reflected
  /// The peer's random number does not fit its confirm value.
  case confirmMismatch
  /// The peer's DHKey check is wrong: the devices disagree on a key, an address or a capability.
  case checkMismatch
  /// The peer's response announces keys that we did not ask for.
  case unrequestedKeys
  /// The peer sent a PDU that the current state does not allow.
  case unexpectedPDU(code: UInt8)
  case malformedPDU(MalformedPacket)

  // MARK: Encryption
  /// The controllers did not encrypt the link with the new key.
  case encryptionFailed(ControllerErrorCode)
  /// The link was encrypted with the new key, but the encryption ended before the devices had all keys.
  case encryptionLost
  /// The controllers did not encrypt the link with the key of the bond. The peer lost the bond if the code is PIN or Key Missing.
  case bondRejected(ControllerErrorCode)

  // MARK: Our side
  case cryptography(P256Error)
  /// A pairing or an encryption is already running.
  case busy
  /// The link is down, or an earlier pairing on it timed out.
  case closed
  /// A missing key for our role on this link.
  case noBond

  /// The reason in the Pairing Failed PDU that either device sends for this failure. Nil for a failure without such a PDU.
  package var reason: PairingFailedReason? {
    switch self {
    case .refused(let reason): reason
    case .passkeyNotEntered: .passkeyEntryFailed
    case .outOfBandWanted: .oobNotAvailable
    case .legacyPairing, .notAuthenticated, .weakerThanBond, .identityTaken: .authenticationRequirements
    case .wrongPasskey, .confirmMismatch: .confirmValueFailed
    case .keySize: .encryptionKeySize
    case .canceled, .unexpectedPDU, .cryptography: .unspecifiedReason
    case .invalidPublicKey, .debugKey, .reflected, .unrequestedKeys, .malformedPDU: .invalidParameters
    case .checkMismatch: .dhKeyCheckFailed
    case .numberRefused: .numericComparisonFailed
    case .silent, .disconnected, .encryptionFailed, .encryptionLost, .bondRejected, .busy, .closed, .noBond: nil
    }
  }

  /// Whether the peer sent the reason.
  package var isFromPeer: Bool {
    switch self {
    case .refused, .wrongPasskey(.peer), .numberRefused(.peer), .passkeyNotEntered(.peer): true
    default: false
    }
  }

  /// Creates the failure for a reason that the peer sent.
  init(peer reason: PairingFailedReason, _ method: PairingMethod?) {
    switch reason {
    case .confirmValueFailed where method?.usesPasskey ?? false: self = .wrongPasskey(.peer)
    case .passkeyEntryFailed: self = .passkeyNotEntered(.peer)
    case .numericComparisonFailed: self = .numberRefused(.peer)
    default: self = .refused(reason)
    }
  }
}
