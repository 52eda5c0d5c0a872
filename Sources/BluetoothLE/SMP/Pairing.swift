// SPDX-License-Identifier: Apache-2.0
/// The Security Manager of one link (Vol 3 Part H §2 and §3), without I/O, which turns events into actions.
///
/// The central starts pairings. The peripheral answers them as `acceptance` says, and can ask for one. A pairing has three phases: the
/// devices exchange features, authenticate each other, and distribute keys over the encrypted link.
/// Whatever the peer does wrong ends the pairing without a bond.
package struct Pairing: Sendable {
  package enum Action: Equatable, Sendable {
    /// The link sends a PDU on the Security Manager channel.
    case send([UInt8])
    static func send(_ pdu: PairingPDU) -> Self { .send(pdu.bytes) }
    /// The caller starts its timer again, of at most 30 s (§3.4), and calls `timedOut` when it ends.
    case startTimer
    case stopTimer
    /// The central's controller encrypts the link (LE Enable Encryption).
    case encrypt(key: UInt128, ediv: UInt16, rand: UInt64)
    /// The peripheral's controller gets this key, or a negative reply for nil (LE Long Term Key Request Reply).
    case answerKeyRequest(UInt128?)
    /// The user enters the passkey that the peer displays. `enter(_:)` continues.
    case askPasskey
    /// The user enters this passkey on the peer.
    case displayPasskey(SixDigits)
    /// The user compares this number with the number on the peer. `answerComparison(_:)` continues.
    case compare(SixDigits)
    /// The peripheral asks for encryption, or for pairing if there is no bond. `start`, `encrypt` or `declineRequest` answers.
    case securityRequested(AuthenticationRequirements)
    /// The link is encrypted with the key of the bond.
    case encrypted(LinkSecurity)
    /// The pairing ended successfully. The link is encrypted.
    case paired(PairingResult)
    /// The pairing, or the encryption with the key of the bond, failed. A question to the user has no meaning anymore.
    case failed(PairingFailure)
  }

  /// The reaction of a peripheral to a Pairing Request.
  package enum Acceptance: Equatable, Sendable {
    case refuse(PairingFailedReason)
    /// The peripheral pairs once. After that, it refuses with Repeated Attempts until the caller sets `acceptance` again.
    case accept(PairingParameters)
  }

  /// A change of the link's encryption (Encryption Change, Encryption Key Refresh Complete).
  package enum EncryptionChange: Equatable, Sendable {
    case on, off
    case failed(ControllerErrorCode)
  }

  private enum Phase {
    case idle
    /// The link is down, or a pairing timed out. Nothing is sent anymore (§3.4).
    case closed
    /// Our peripheral sent a Security Request.
    case requested
    /// Our central sent a Pairing Request.
    case awaitingResponse(PairingFeatures, PairingParameters, P256KeyPair?)
    case authenticating(any Authentication, PairingTerms, LocalIdentity?)
    /// The devices agree on a key. `isRequested` is false until the peripheral's controller asks for it.
    case encrypting(key: UInt128, PairingTerms, LocalIdentity?, isRequested: Bool)
    case distributing(KeyExchange, PairingTerms)
    /// The controllers encrypt with the key of the bond.
    case resuming(LongTermKey)
  }

  package let role: LinkRole
  /// Our address on the link, which the keys depend on. It may be private.
  package let own: PeerAddress
  /// The peer's address on the link.
  package let peer: PeerAddress
  package var acceptance: Acceptance
  /// The bond with the peer. A new pairing must not be weaker, and replaces it here.
  package var bond: Bond?
  /// The security of the link. Nil if it is not encrypted, or if the key is unknown.
  package private(set) var security: LinkSecurity?
  private var phase = Phase.idle
  private var random: RandomSource
  /// Whether the caller knows of a Security Request that nothing has answered yet.
  private var isRequestOpen = false

  package init(
    role: LinkRole, own: PeerAddress, peer: PeerAddress, acceptance: Acceptance = .refuse(.pairingNotSupported), bond: Bond? = nil,
    random: RandomSource = RandomSource()
  ) {
    (self.role, self.own, self.peer, self.acceptance, self.bond, self.random) = (role, own, peer, acceptance, bond, random)
  }

  /// Whether a pairing or an encryption is running.
  package var isBusy: Bool {
    switch phase {
    case .idle, .closed: false
    default: true
    }
  }

  /// Whether the next packet of the peer may have to wait for a person there, who enters a passkey or compares a number.
  var waitsForPerson: Bool {
    guard case .authenticating(_, let terms, _) = phase else { return false }
    return terms.method.isAuthenticated && terms.method != .passkeyEntry(displayedBy: role.other)
  }

  // MARK: Our side

  /// Starts a pairing. Our peripheral sends a Security Request, and accepts the central's Pairing Request.
  /// - Throws: `PairingFailure.busy`, `.closed`, or `.cryptography` if LE Secure Connections is impossible here.
  package mutating func start(_ parameters: PairingParameters) throws(PairingFailure) -> [Action] {
    try checkIdle()
    guard role == .central else {
      acceptance = .accept(parameters)
      phase = .requested
      return send(.securityRequest(parameters.authentication))
    }
    let pair = parameters.secureConnections == .never ? nil : try keyPair()
    let request = parameters.features()
    phase = .awaitingResponse(request, parameters, pair)
    isRequestOpen = false
    return send(.pairingRequest(request))
  }

  /// Encrypts the link with the key of the bond. Only a central can.
  /// - Throws: `PairingFailure.busy`, `.closed` or `.noBond`.
  package mutating func encrypt() throws(PairingFailure) -> [Action] {
    try checkIdle()
    guard role == .central, let key = bond?.centralKey else { throw .noBond }
    phase = .resuming(key)
    isRequestOpen = false
    return [.startTimer, .encrypt(key: key.key, ediv: key.ediv, rand: key.rand)]
  }

  /// Tells the peripheral that we do not fulfill its Security Request.
  package mutating func declineRequest() -> [Action] {
    guard isRequestOpen, !isBusy else { return [] }
    isRequestOpen = false
    return [.send(.failed(.pairingNotSupported))]
  }

  /// Continues with the passkey that the user entered. Ignored if no passkey was asked for.
  package mutating func enter(_ passkey: SixDigits) -> [Action] {
    guard case .authenticating(let authentication, let terms, let identity) = phase else { return [] }
    return proceed(authentication, terms, identity) { (authentication, random) throws(PairingFailure) in
      try authentication.enter(passkey, &random)
    }
  }

  /// Continues with the user's answer whether the numbers are the same. Ignored if no comparison is open.
  package mutating func answerComparison(_ isSame: Bool) -> [Action] {
    guard case .authenticating(let authentication, let terms, let identity) = phase, authentication.isComparing else { return [] }
    guard isSame else { return fail(.numberRefused(.us)) }
    return proceed(authentication, terms, identity) { (authentication, _) throws(PairingFailure) in authentication.confirmNumber() }
  }

  /// Cancels the pairing, or the question to the user. Does nothing while the link is encrypted with the key of the bond.
  package mutating func cancel() -> [Action] {
    switch phase {
    case .idle, .closed, .resuming: []
    case .authenticating(_, let terms, _) where terms.method == .numericComparison: fail(.numberRefused(.us))
    case .authenticating(_, let terms, _) where terms.method.usesPasskey: fail(.passkeyNotEntered(.us))
    default: fail(.canceled)
    }
  }

  // MARK: The peer and the controller

  package mutating func receive(_ bytes: [UInt8]) -> [Action] {
    let pdu: PairingPDU
    do throws(MalformedPacket) { pdu = try PairingPDU(parsing: bytes) } catch {
      switch phase {
      case .idle, .closed, .resuming: return []
      default: return fail(.malformedPDU(error))
      }
    }
    if case .reserved = pdu { return [] }
    switch phase {
    case .closed: return []
    case .idle, .requested, .resuming: return receiveUnasked(pdu)
    case .awaitingResponse, .authenticating, .encrypting, .distributing:
      if case .failed(let reason) = pdu { return fail(PairingFailure(peer: reason, method)) }
      switch (pdu, role) {
      // The first comes from a peripheral that did not know of the pairing yet, the second while the user of the peer types (§3.5.8).
      case (.securityRequest, .central), (.keypress, _): return []
      default: return receiveInPairing(pdu)
      }
    }
  }

  /// Takes the request of the peripheral's controller for the key of the link (LE Long Term Key Request).
  package mutating func longTermKeyRequested(ediv: UInt16, rand: UInt64) -> [Action] {
    switch phase {
    case .encrypting(let key, let terms, let identity, isRequested: false) where role == .peripheral && ediv == 0 && rand == 0:
      phase = .encrypting(key: key, terms, identity, isRequested: true)
      return [.answerKeyRequest(key)]
    case .idle, .requested, .resuming:
      guard role == .peripheral, let key = bond?.peripheralKey(ediv: ediv, rand: rand) else { return [.answerKeyRequest(nil)] }
      phase = .resuming(key)
      return [.answerKeyRequest(key.key)]
    default: return [.answerKeyRequest(nil)]
    }
  }

  package mutating func encryptionChanged(_ change: EncryptionChange) -> [Action] {
    if case .failed = change { security = nil }
    switch (change, phase) {
    case (.on, .encrypting(let key, let terms, let identity, isRequested: true)):
      security = terms.security
      return distribute(KeyExchange(terms, linkKey: key, identity: identity), terms)
    case (.on, .resuming(let key)):
      (security, phase) = (key.security, .idle)
      return [.stopTimer, .encrypted(key.security)]
    // The link keeps its key until both devices have all keys. Found by fuzzing.
    case (.on, .distributing): return []
    case (.on, _):
      // We did not give the key.
      security = nil
      return []
    case (.failed(let code), .encrypting): return fail(.encryptionFailed(code))
    case (.failed(let code), .resuming):
      phase = .idle
      return [.stopTimer, .failed(.bondRejected(code))]
    case (.failed, .distributing), (.off, .distributing): return fail(.encryptionLost)
    case (.failed, _): return []
    case (.off, _):
      security = nil
      return []
    }
  }

  /// Forgets the keys of a complete pairing that the caller refused. The link can neither pair nor encrypt again.
  package mutating func discard(restoring bond: Bond?) { (security, self.bond, phase) = (nil, bond, .closed) }

  /// Ends a pairing after silence of this length. The link cannot be used for another one.
  package mutating func timedOut(after limit: Duration = PairingFailure.longestSilence) -> [Action] { close(.silent(limit)) }

  package mutating func disconnected(_ code: ControllerErrorCode) -> [Action] {
    security = nil
    return close(.disconnected(code))
  }

  // MARK: Phases

  private func checkIdle() throws(PairingFailure) {
    if case .closed = phase { throw .closed }
    if isBusy { throw .busy }
  }

  private mutating func keyPair() throws(PairingFailure) -> P256KeyPair {
    do throws(P256Error) { return try P256KeyPair(using: &random) } catch { throw .cryptography(error) }
  }

  /// The method of the running pairing. Nil before the features are exchanged.
  private var method: PairingMethod? {
    switch phase {
    case .authenticating(_, let terms, _), .encrypting(_, let terms, _, _), .distributing(_, let terms): terms.method
    case .idle, .closed, .requested, .awaitingResponse, .resuming: nil
    }
  }

  private func send(_ pdu: PairingPDU) -> [Action] { [.send(pdu), .startTimer] }

  /// Takes a PDU while no pairing is running. Ignores what a failed pairing left on its way.
  private mutating func receiveUnasked(_ pdu: PairingPDU) -> [Action] {
    switch (pdu, role) {
    case (.pairingRequest(let request), .peripheral):
      guard case .accept(let parameters) = acceptance else {
        if case .refuse(let reason) = acceptance { return [.send(.failed(reason))] }
        return []
      }
      return answer(request, parameters)
    case (.securityRequest(let requirements), .central):
      let isMet = security.map { $0.isAuthenticated || !requirements.contains(.mitm) } ?? false
      guard !isBusy, !isRequestOpen, !isMet else { return [] }
      isRequestOpen = true
      return [.securityRequested(requirements)]
    case (.pairingRequest, .central), (.securityRequest, .peripheral): return [.send(.failed(.commandNotSupported))]
    case (.failed(let reason), .peripheral):
      guard case .requested = phase else { return [] }
      return fail(PairingFailure(peer: reason, nil))
    default: return []
    }
  }

  private mutating func receiveInPairing(_ pdu: PairingPDU) -> [Action] {
    switch (pdu, phase) {
    case (.pairingResponse(let response), .awaitingResponse(let request, let parameters, let pair)):
      do throws(PairingFailure) {
        let terms = try PairingTerms(
          role: role, own: own, peer: peer, request: request, response: response, parameters, replacing: bond)
        return authenticate(terms, parameters, pair)
      } catch { return fail(error) }
    case (_, .authenticating(let authentication, let terms, let identity)):
      return proceed(authentication, terms, identity) { (authentication, random) throws(PairingFailure) in
        try authentication.receive(pdu, &random)
      }
    case (_, .distributing(var exchange, let terms)):
      do throws(PairingFailure) { try exchange.receive(pdu) } catch { return fail(error) }
      return distribute(exchange, terms)
    default: return fail(.unexpectedPDU(code: pdu.code))
    }
  }

  private mutating func answer(_ request: PairingFeatures, _ parameters: PairingParameters) -> [Action] {
    let response = parameters.features(answering: request)
    do throws(PairingFailure) {
      let terms = try PairingTerms(role: role, own: own, peer: peer, request: request, response: response, parameters, replacing: bond)
      let pair = terms.security.isSecureConnections ? try keyPair() : nil
      return send(.pairingResponse(response)) + authenticate(terms, parameters, pair)
    } catch { return fail(error) }
  }

  private mutating func authenticate(_ terms: PairingTerms, _ parameters: PairingParameters, _ pair: P256KeyPair?) -> [Action] {
    var prompt: [Action] = []
    var passkey: SixDigits?
    if case .passkeyEntry(let displayer) = terms.method {
      if displayer == role {
        let shown = parameters.passkey ?? SixDigits(lastOf: random.number(below: 1_000_000))
        passkey = shown
        prompt = [.displayPasskey(shown)]
      } else {
        prompt = [.askPasskey]
      }
    }
    let authentication: any Authentication
    if terms.security.isSecureConnections, let pair {
      authentication = SecureAuthentication(terms, pair, passkey: passkey)
    } else {
      authentication = LegacyAuthentication(terms, passkey: passkey)
    }
    return prompt
      + proceed(authentication, terms, parameters.identity) { (authentication, random) throws(PairingFailure) in
        try authentication.begin(&random)
      }
  }

  private mutating func proceed(
    _ authentication: any Authentication, _ terms: PairingTerms, _ identity: LocalIdentity?,
    _ body: (inout any Authentication, inout RandomSource) throws(PairingFailure) -> [Action]
  ) -> [Action] {
    var authentication = authentication
    var actions: [Action]
    do throws(PairingFailure) { actions = try body(&authentication, &random) } catch { return fail(error) }
    phase = .authenticating(authentication, terms, identity)
    if actions.contains(where: { if case .send = $0 { true } else { false } }) { actions.append(.startTimer) }
    guard let key = authentication.key?.cut(to: terms.security.keySize) else { return actions }
    phase = .encrypting(key: key, terms, identity, isRequested: role == .central)
    return role == .central ? actions + [.encrypt(key: key, ediv: 0, rand: 0)] : actions
  }

  private mutating func distribute(_ exchange: KeyExchange, _ terms: PairingTerms) -> [Action] {
    var exchange = exchange
    let pdus = exchange.next(&random)
    phase = .distributing(exchange, terms)
    let actions = pdus.map { Action.send($0) } + (pdus.isEmpty ? [] : [.startTimer])
    guard exchange.isComplete else { return actions }
    let result = PairingResult(method: terms.method, security: terms.security, bond: exchange.bond(with: peer))
    if let bond = result.bond { self.bond = bond }
    end(.idle)
    return actions + [.stopTimer, .paired(result)]
  }

  // MARK: The end

  private mutating func end(_ phase: Phase) {
    self.phase = phase
    if case .accept = acceptance { acceptance = .refuse(.repeatedAttempts) }
  }

  private mutating func fail(_ failure: PairingFailure) -> [Action] {
    // A key that only one device may have protects nothing.
    if case .distributing = phase { security = nil }
    end(.idle)
    let answer = failure.isFromPeer ? nil : failure.reason
    return (answer.map { [.send(.failed($0))] } ?? []) + [.stopTimer, .failed(failure)]
  }

  private mutating func close(_ failure: PairingFailure) -> [Action] {
    let wasBusy = isBusy
    // Without a running pairing, only the end of the link has a meaning.
    if !wasBusy, case .silent = failure { return [] }
    if case .distributing = phase { security = nil }
    end(.closed)
    return wasBusy ? [.stopTimer, .failed(failure)] : []
  }
}
