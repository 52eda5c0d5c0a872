// SPDX-License-Identifier: Apache-2.0
/// The key store of one user.
@LoopActor
package protocol BondKeeper: AnyObject {
  /// Returns the bond of an adapter with a device, by the device's identity or by a resolvable private address.
  func bond(of adapter: PeerAddress, with peer: PeerAddress) throws -> StoredBond?
  /// Returns all bonds of an adapter, the oldest first.
  func bonds(of adapter: PeerAddress) throws -> [StoredBond]
  /// Stores bonds, and replaces earlier ones with the same identity and adapter. After an error, the earlier bonds are unchanged.
  func add(_ bonds: [StoredBond]) throws
}

/// A wish to pair with a device, with the user who answers its questions.
package struct PairingWish: Sendable {
  package var parameters: PairingParameters
  package let user: any PairingUser

  /// Whether the command itself pairs. Otherwise, the link pairs when the device demands it.
  package let isOfCommand: Bool
  /// Whether no option sets the abilities of our device and no one can answer a question, so that it pairs by Just Works.
  package var isUnattended = false
  /// The attempts of the command, on this link and on others.
  package var attempts = PairingAttempts()

  package init(_ parameters: PairingParameters, user: any PairingUser, isOfCommand: Bool = false) {
    (self.parameters, self.user, self.isOfCommand) = (parameters, user, isOfCommand)
  }
}

/// The pairings of one command, on all its links. A failed one that protects against an attacker in the middle is the last, because each
/// attempt reveals a part of a passkey.
@LoopActor
package final class PairingAttempts {
  package fileprivate(set) var areOver = false

  package nonisolated init() {}
}

/// The wish to pair of a command, and the least level of its link, without which it sends no request.
package typealias SecurityDemand = (wish: PairingWish?, level: SecurityLevel)

/// A link with less security than a command demands, on which blectl sent no request.
package struct InsufficientSecurity: Error, Equatable, Sendable {
  package let demanded: SecurityLevel
  /// The level of the link. Nil without encryption, for which a bond is missing.
  package let found: SecurityLevel?
  /// Whether the key is from the system's Bluetooth service. Whether it is authenticated is then unknown.
  package let isOfSystem: Bool
}

/// An event in the security of a link, for the user.
package enum SecurityEvent: Sendable {
  /// The device sent a Security Request, but there is neither a bond nor a wish to pair. With a bond, it asks for more than the bond gives.
  case pairingWanted(hasBond: Bool)
  case paired(PairingResult)
  /// The pairing was Just Works, because no one could answer a question.
  case unattended
  /// The device demands pairing, which starts now.
  case pairing
  /// The answer to a Security Request failed.
  case failed(any Error)
}

/// The end of a link by a device that had asked for security in vain, or that names the lack of security as its reason.
package struct SecurityDemanded: PassingError {
  package let cause: any Error
  /// Whether the device had sent a Security Request.
  package let hasAsked: Bool
  /// Whether the device answered requests nevertheless. It then closed the link for another reason.
  package let mayPass: Bool
}

extension Connection {
  /// Returns the error of a link as `SecurityDemanded` if what the link showed explains its end. Returns any other error unchanged.
  package func withDemand(_ error: any Error) -> any Error {
    guard let end = client.closed as? any ConnectionError, let security, security.stored == nil else { return error }
    let isRefused = security.askedInVain || security.shortage != nil
    guard end.isOfSecurity || isRefused && end.retryReason == .closedByPeer else { return error }
    return SecurityDemanded(
      cause: error, hasAsked: security.askedInVain, mayPass: !end.isOfSecurity && client.bearer.hasAnswered)
  }
}

/// The security of one link: uses the bond with the device, pairs, and answers the Security Requests of the device.
@LoopActor
package final class ConnectionSecurity {
  /// The reason why a refused request stays refused.
  package enum Shortage: Sendable {
    /// A missing bond with the device.
    case noBond
    /// An encrypted link without protection against an attacker in the middle.
    case notAuthenticated
    /// An encrypted link whose key has this number of bytes.
    case shortKey(UInt8)
  }

  /// The handler of events.
  package var onEvent: (@LoopActor (SecurityEvent) -> Void)?
  /// The reason why the device's last refusal of a request stands. Nil without such a refusal.
  package private(set) var shortage: Shortage?
  /// Whether the device asked for pairing on this link in vain.
  package private(set) var askedInVain = false

  /// The reason why the adapter gets no keys. Nil if it may.
  var withholding: (any Error)?

  private let procedures: any SecurityProcedures
  private let peer: PeerAddress
  private let adapter: PeerAddress
  private let keeper: (any BondKeeper)?
  /// The wish to pair when the device demands it. Nil without `--pair`, and after one failure.
  package private(set) var wish: PairingWish?
  /// Whether a command pairs, which also answers a Security Request.
  private var commandPairs = false
  private var hasFailed = false
  /// The answer to a Security Request. Nil after its end.
  private var answering: Task<Void, Never>?
  /// The bond with which the link began, or that a pairing has made.
  package private(set) var stored: StoredBond?
  private var usesSystemBond = false
  private var name: String?

  init(
    _ procedures: any SecurityProcedures, _ peer: PeerAddress, name: String?, adapter: PeerAddress, _ keeper: (any BondKeeper)?,
    _ wish: PairingWish?
  ) {
    (self.procedures, self.peer, self.name, self.adapter, self.keeper) = (procedures, peer, name, adapter, keeper)
    take(wish)
  }

  /// The longest silence of the device in a pairing, at most 30 s.
  package var limit: Duration {
    get { procedures.limit }
    set { procedures.limit = min(newValue, PairingFailure.longestSilence) }
  }

  /// The security of the link. Nil while it is not encrypted.
  package var level: LinkSecurity? { procedures.security }

  /// Returns whether a selector is the plain name of other devices, with which there are bonds. They are meant, also while this link is open.
  func isNamesake(_ selector: PeerSelector) -> Bool {
    let meant = (try? keeper?.bonds(of: adapter))?.filter { selector.isName(of: $0) } ?? []
    return !meant.isEmpty && !meant.contains { $0.bond.identity == stored?.bond.identity }
  }

  /// Returns the bond with the device. Nil without one, also if a command has removed it since the connection began.
  /// - Throws: The errors of the key store.
  package func bond() throws -> StoredBond? {
    if stored != nil, try keeper?.bond(of: adapter, with: peer) == nil { (stored, procedures.bond) = (nil, nil) }
    return stored
  }

  /// Encrypts the link if there is a bond with the device. Then answers the Security Requests of the device, also earlier ones.
  /// - Throws: PairingFailure, CancellationError; the errors of the key store; `withholding`.
  func begin() async throws {
    stored = try keeper?.bond(of: adapter, with: peer)
    procedures.bond = stored?.bond
    // Before the handler: an earlier Security Request would take the key.
    if let withholding, stored?.bond.centralKey != nil { throw withholding }
    defer { procedures.onRequest = { [weak self] in self?.requested($0) } }
    guard let stored, stored.bond.centralKey != nil else { return }
    do { try await procedures.encrypt(with: stored.bond) } catch PairingFailure.disconnected(let code) {
      if [.pinOrKeyMissing, .authenticationFailure, .micFailure].contains(code) { throw PairingFailure.bondRejected(code) }
      // Another reason may pass: the caller may connect again.
      throw Disconnection(peer, .lost(code))
    }
  }

  /// Takes the wish of a command that uses the link.
  package func take(_ wish: PairingWish?) {
    commandPairs = wish?.isOfCommand ?? false
    self.wish = hasFailed || commandPairs || wish?.attempts.areOver ?? false ? nil : wish
  }

  // MARK: Pairing

  /// Returns the bond that makes a new pairing unnecessary, and encrypts the link with it.
  /// - Throws: PairingFailure, CancellationError; the reason why the system's Bluetooth service cannot be asked.
  package func existingBond(for parameters: PairingParameters) async throws -> PairingResult? {
    let stored = try bond()
    let identity = stored == nil ? try await procedures.encryptWithSystemBond() : nil
    usesSystemBond = identity != nil
    guard let level, identity != nil || stored != nil, parameters.accepts(level), level.isAuthenticated || !parameters.requestsMITM
    else { return nil }
    return PairingResult(method: stored?.bond.method, security: level, bond: stored?.bond, systemIdentity: identity)
  }

  /// Pairs, and stores the bond. An earlier bond stays until the new one is complete.
  /// - Throws: PairingFailure, CancellationError; the errors of the key store.
  package func pair(_ wish: PairingWish) async throws -> PairingResult {
    _ = try bond()
    if let withholding { throw withholding }
    let result: PairingResult
    do { result = try await procedures.pair(wish.parameters, user: wish.user) { [self] in try keep($0.bond) } } catch let failure
      as PairingFailure
    { throw wish.user.explained(failure) }
    // The device may refuse even now.
    shortage = result.security.isAuthenticated ? nil : .notAuthenticated
    if wish.isUnattended, result.method == .justWorks { onEvent?(.unattended) }
    return result
  }

  /// Stores the bond of a new pairing.
  /// - Throws: PairingFailure if the bond may not replace the stored one with the same identity; the errors of the key store.
  private func keep(_ bond: Bond?) throws {
    guard let bond, let keeper else { return }
    let other = try keeper.bonds(of: adapter).first { $0.bond.identity == bond.identity }
    // A device can claim the identity of another one.
    if let other, stored.map({ !$0.replaces(other) }) ?? true || bond.isWeaker(than: other.bond) {
      throw bond.isWeaker(than: other.bond) ? PairingFailure.weakerThanBond : .identityTaken(bond.identity)
    }
    let kept = StoredBond(bond, of: adapter, created: EventLoop.shared.wallClock, name: name)
    try keeper.add([kept])
    stored = kept
  }

  /// Raises the security of the link after the device refused a request.
  /// - Returns: Whether to repeat the request.
  /// - Throws: PairingFailure, CancellationError; the errors of the key store.
  func raise(for code: ErrorCode) async throws -> Bool {
    if answering != nil {
      let before = procedures.security
      await settle()
      if let now = procedures.security, before.map({ $0.level < now.level }) ?? true { return true }
    }
    guard let level = procedures.security else {
      if try await useBond() { return true }
      return try await pair(because: .noBond)
    }
    switch code {
    case .insufficientAuthentication where !level.isAuthenticated: return try await pair(because: .notAuthenticated, .authenticated)
    case .encryptionKeySizeTooShort where level.keySize < 16: return try await pair(because: .shortKey(level.keySize))
    // More security is not possible.
    default: return false
    }
  }

  /// Raises the security of the link to a level by a bond, or by pairing if the command wishes so.
  /// - Throws: InsufficientSecurity, PairingFailure, CancellationError; the errors of the key store.
  func reach(_ level: SecurityLevel) async throws {
    func isReached() -> Bool { procedures.security.map { $0.level >= level } ?? false }
    await settle()
    if procedures.security == nil { _ = try await useBond() }
    if !isReached(), wish != nil { _ = try await pair(because: .noBond, level) }
    if !isReached() { throw InsufficientSecurity(demanded: level, found: procedures.security?.level, isOfSystem: usesSystemBond) }
  }

  /// Encrypts the link with a bond, ours or that of the system.
  /// - Returns: False without a bond.
  private func useBond() async throws -> Bool {
    if let stored = try bond(), stored.bond.centralKey != nil {
      if let withholding { throw withholding }
      try await procedures.encrypt(with: stored.bond)
      return true
    }
    do { usesSystemBond = try await procedures.encryptWithSystemBond() != nil } catch let error
      where !(error is PairingFailure || error is CancellationError)
    { onEvent?(.failed(error)) }
    return usesSystemBond
  }

  /// Waits for the end of the answer to a Security Request: a link that ends before leaves the device with half a bond. At the limit, or
  /// in a canceled task, the device gets Pairing Failed instead.
  func settle(within limit: Duration? = nil) async {
    guard let answering else { return }
    let timer = limit.map { EventLoop.shared.schedule(after: $0) { answering.cancel() } }
    await withTaskCancellationHandler {
      await answering.value
    } onCancel: {
      answering.cancel()
    }
    timer?.cancel()
  }

  private func pair(because reason: Shortage, _ level: SecurityLevel = .encrypted) async throws -> Bool {
    guard var wish else {
      shortage = reason
      return false
    }
    onEvent?(.pairing)
    wish.parameters.level = max(wish.parameters.level, level)
    do {
      // Not as an argument of `onEvent`: without a handler, Swift would not evaluate it.
      let result = try await pair(wish)
      onEvent?(.paired(result))
    } catch {
      (self.wish, hasFailed) = (nil, true)
      if wish.parameters.requestsMITM { wish.attempts.areOver = true }
      throw error
    }
    return true
  }

  /// Answers a Security Request (Vol 3 Part H §2.4.6). A bond is the answer, as long as there is one. A new pairing instead would give an
  /// attacker the place of the bond, and a short command would cut the pairing off.
  private func requested(_ requirements: AuthenticationRequirements) {
    if commandPairs { return }
    let bond = ((try? bond()) ?? stored).flatMap { $0.bond.centralKey == nil ? nil : $0.bond }
    if let bond, procedures.security == nil, withholding == nil {
      answer { try await $0.procedures.encrypt(with: bond) }
    } else if bond == nil, wish != nil {
      answer { _ = try await $0.pair(because: .noBond, requirements.contains(.mitm) ? .authenticated : .encrypted) }
    } else {
      if !askedInVain { onEvent?(.pairingWanted(hasBond: bond != nil)) }
      askedInVain = true
      procedures.decline()
    }
  }

  private func answer(_ body: @escaping @LoopActor @Sendable (ConnectionSecurity) async throws -> Void) {
    answering = EventLoop.shared.spawn { [weak self] in
      guard let self else { return }
      // `busy`: a command already encrypts or pairs.
      do { try await body(self) } catch PairingFailure.busy {} catch { onEvent?(.failed(error)) }
      answering = nil
    }
  }
}
