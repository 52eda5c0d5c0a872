// SPDX-License-Identifier: Apache-2.0
/// The link of a `SecurityManager`.
@LoopActor
package protocol SecurityLink: AnyObject {
  /// Sends a PDU on the Security Manager channel.
  func sendSecurity(_ pdu: [UInt8])
  /// Encrypts the link as central (LE Enable Encryption). `SecurityManager.encryptionChanged` reports the result.
  func encrypt(key: UInt128, ediv: UInt16, rand: UInt64)
  /// Answers the peripheral's controller. Nil is a negative reply.
  func answerKeyRequest(_ key: UInt128?)
  /// Ends the link, whose keys our side refused.
  func abandon()
}

extension SecurityLink {
  /// Does nothing: only a central refuses keys.
  package func abandon() {}
}

/// The user of our device, or whatever answers the questions of a pairing in place of a user.
@LoopActor
package protocol PairingUser: AnyObject, Sendable {
  /// Returns the passkey that the peer displays. Nil cancels the pairing.
  func passkey() async -> SixDigits?
  /// Shows the passkey for the user to enter on the peer. Returns immediately.
  func show(_ passkey: SixDigits)
  /// Returns whether the peer displays the same number.
  func isSame(_ number: SixDigits) async -> Bool
  /// Returns the error for a failure that this user caused, or the failure itself.
  func explained(_ failure: PairingFailure) -> any Error
}

extension PairingUser { package func explained(_ failure: PairingFailure) -> any Error { failure } }

/// Runs the `Pairing` of one link on the event loop: its timer, the questions to the user, and the wait for the result.
@LoopActor
package final class SecurityManager {
  /// A pairing, or an encryption with the key of a bond, that a caller waits for.
  private struct Procedure {
    let result: Wait<PairingResult?>
    let user: (any PairingUser)?
    let keep: (@LoopActor (PairingResult) throws -> Void)?
    let earlier: Bond?
  }

  package var limit = PairingFailure.longestSilence

  package private(set) var pairing: Pairing
  /// The handler of a Security Request of the peripheral, which `pair`, `encrypt` or `decline` answers.
  package var onRequest: (@LoopActor (AuthenticationRequirements) -> Void)? {
    didSet {
      guard let onRequest, let unheard else { return }
      self.unheard = nil
      onRequest(unheard)
    }
  }
  /// The handler that runs after each change of `level`.
  package var onLevel: (@LoopActor (SecurityLevel) -> Void)?
  /// The handler that runs when the link is encrypted, with the result of a pairing.
  package var onEncrypted: (@LoopActor (LinkSecurity, PairingResult?) -> Void)?
  /// The handler that runs when a pairing or an encryption has ended, with or without success.
  package var onEnd: (@LoopActor () -> Void)?
  /// The handler of pairings that the peer started and `acceptance` refused.
  package var onRefusal: (@LoopActor (PairingFailedReason) -> Void)?
  /// The user who answers the questions of a pairing that the peer starts.
  package var user: (any PairingUser)?

  /// The link, which the owner sets.
  package weak var link: (any SecurityLink)?
  /// A Security Request that arrived before the link had a handler. A peripheral may send one right after the connection.
  private var unheard: AuthenticationRequirements?
  private var procedure: Procedure?
  private var timer: LoopTimer?
  private var question: Task<Void, Never>?

  package init(_ pairing: Pairing) { self.pairing = pairing }

  /// The security of the link. Nil while it is not encrypted.
  package var security: LinkSecurity? { pairing.security }
  package var level: SecurityLevel { security?.level ?? .unencrypted }
  private var reportedLevel = SecurityLevel.unencrypted

  package var bond: Bond? {
    get { pairing.bond }
    set { pairing.bond = newValue }
  }

  package var acceptance: Pairing.Acceptance {
    get { pairing.acceptance }
    set { pairing.acceptance = newValue }
  }

  // MARK: Procedures

  /// Pairs with the peer. A cancellation of the task cancels the pairing.
  /// - Parameter keep: Stores the bond of the result. If it throws, the new keys are forgotten, and the link ends.
  /// - Throws: PairingFailure, CancellationError; the error of `keep`.
  package func pair(
    _ parameters: PairingParameters, user: any PairingUser, keep: @escaping @LoopActor (PairingResult) throws -> Void = { _ in }
  ) async throws -> PairingResult {
    guard let result = try await run(user, keep, pairing.start(parameters)) else { throw CancellationError() }
    return result
  }

  /// Encrypts the link as central with the key of a bond.
  /// - Throws: PairingFailure, CancellationError.
  package func encrypt(with bond: Bond) async throws {
    self.bond = bond
    _ = try await run(nil, nil, pairing.encrypt())
  }

  /// Tells the peripheral that its Security Request is not fulfilled.
  package func decline() { perform(pairing.declineRequest()) }

  private func run(
    _ user: (any PairingUser)?, _ keep: (@LoopActor (PairingResult) throws -> Void)?, _ actions: [Pairing.Action]
  ) async throws -> PairingResult? {
    let procedure = Procedure(result: Wait(), user: user, keep: keep, earlier: bond)
    // The procedure is the answer to an earlier Security Request.
    (self.procedure, unheard) = (procedure, nil)
    perform(actions)
    do { return try await procedure.result.value() } catch is CancellationError {
      perform(pairing.cancel())
      throw CancellationError()
    }
  }

  // MARK: From the link

  package func receive(_ pdu: [UInt8]) {
    let actions = pairing.receive(pdu)
    perform(actions)
    if case .refuse(let reason) = acceptance, case .pairingRequest? = try? PairingPDU(parsing: pdu), actions == [.send(.failed(reason))] {
      onRefusal?(reason)
    }
  }

  package func longTermKeyRequested(ediv: UInt16, rand: UInt64) { perform(pairing.longTermKeyRequested(ediv: ediv, rand: rand)) }

  package func encryptionChanged(_ change: Pairing.EncryptionChange) { perform(pairing.encryptionChanged(change)) }

  package func disconnected(_ code: ControllerErrorCode) { perform(pairing.disconnected(code)) }

  // MARK: Actions

  private func perform(_ actions: [Pairing.Action]) {
    defer {
      if level != reportedLevel {
        reportedLevel = level
        onLevel?(level)
      }
    }
    for action in actions {
      switch action {
      case .send(let pdu): link?.sendSecurity(pdu)
      case .startTimer:
        startTimer()
      case .stopTimer: timer?.cancel()
      case .encrypt(let key, let ediv, let rand): link?.encrypt(key: key, ediv: ediv, rand: rand)
      case .answerKeyRequest(let key): link?.answerKeyRequest(key)
      case .displayPasskey(let passkey): present?.show(passkey)
      case .askPasskey:
        ask { manager, user in
          let passkey = await user.passkey()
          guard !Task.isCancelled else { return }
          manager.question = nil
          manager.perform(passkey.map { manager.pairing.enter($0) } ?? manager.pairing.cancel())
        }
      case .compare(let number):
        ask { manager, user in
          let isSame = await user.isSame(number)
          guard !Task.isCancelled else { return }
          manager.question = nil
          manager.perform(manager.pairing.answerComparison(isSame))
        }
      case .securityRequested(let requirements):
        if let onRequest { onRequest(requirements) } else { unheard = requirements }
      case .encrypted(let security):
        onEncrypted?(security, nil)
        finish(.success(nil))
      case .paired(let result):
        do {
          try procedure?.keep?(result)
          onEncrypted?(result.security, result)
          finish(.success(result))
        } catch {
          // Until the link is down, nothing may rely on its encryption.
          pairing.discard(restoring: procedure?.earlier)
          finish(.failure(error))
          link?.abandon()
        }
      case .failed(let failure): finish(.failure(failure))
      }
    }
  }

  /// The user of the running pairing.
  private var present: (any PairingUser)? { procedure?.user ?? user }

  private func ask(_ body: @escaping @LoopActor @Sendable (SecurityManager, any PairingUser) async -> Void) {
    guard let user = present else { return perform(pairing.cancel()) }
    question = EventLoop.shared.spawn { [weak self] in
      guard let self else { return }
      await body(self, user)
    }
    startTimer()
  }

  private func startTimer() {
    timer?.cancel()
    // The peer, or its own 30 s timer, waits for the person, too.
    let limit = question != nil || pairing.waitsForPerson ? PairingFailure.longestSilence : min(limit, PairingFailure.longestSilence)
    timer = EventLoop.shared.schedule(after: limit) { [weak self] in
      guard let self else { return }
      perform(pairing.timedOut(after: limit))
    }
  }

  private func finish(_ outcome: Result<PairingResult?, any Error>) {
    question?.cancel()
    question = nil
    let procedure = procedure
    self.procedure = nil
    switch outcome {
    case .success(let result): procedure?.result.resume(returning: result)
    case .failure(let failure): procedure?.result.resume(throwing: failure)
    }
    onEnd?()
  }
}
