// SPDX-License-Identifier: Apache-2.0
/// The pairing and the encryption of one link, as central. Every host that can pair implements this protocol for its links.
@LoopActor
package protocol SecurityProcedures: AnyObject {
  /// The security of the link. Nil while it is not encrypted.
  var security: LinkSecurity? { get }
  /// The bond with the peer. A new pairing must not be weaker, and does not replace this bond in the caller's store.
  var bond: Bond? { get set }
  /// The handler of a Security Request of the peripheral, which `pair`, `encrypt` or `decline` answers. A request waits for a handler.
  var onRequest: (@LoopActor (AuthenticationRequirements) -> Void)? { get set }

  /// The longest silence of the peer in a pairing, at most 30 s. The time that a person takes to answer does not count.
  var limit: Duration { get set }

  /// Pairs with the peer. A cancellation of the task cancels the pairing.
  /// - Parameter keep: Stores the bond of the result. If it throws, the new keys are forgotten, and the link ends.
  /// - Throws: PairingFailure, CancellationError; the error of `keep`.
  func pair(
    _ parameters: PairingParameters, user: any PairingUser, keep: @escaping @LoopActor (PairingResult) throws -> Void
  ) async throws -> PairingResult

  /// Encrypts the link with the key of a bond.
  /// - Throws: PairingFailure, CancellationError.
  func encrypt(with bond: Bond) async throws

  /// Encrypts the link with keys of the system's Bluetooth service.
  /// - Returns: The identity of the peer. Nil if there is no such service, or no bond of it with the peer.
  /// - Throws: PairingFailure, CancellationError; the reason why the service cannot be asked.
  func encryptWithSystemBond() async throws -> PeerAddress?

  /// Tells the peripheral that its Security Request is not fulfilled.
  func decline()
}

extension SecurityProcedures { package func encryptWithSystemBond() async throws -> PeerAddress? { nil } }

extension SecurityManager: SecurityProcedures {}
