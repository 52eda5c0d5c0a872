/// The conversation with the kernel during one pairing: answers its events, and collects the keys.
struct KernelPairing {
  enum Action: Equatable {
    case send(ManagementCommand)
    /// The user enters the passkey that the peer displays. `enter(_:)` continues.
    case askPasskey
    /// The user compares the number. `answerComparison(_:)` continues.
    case compare(SixDigits)
    case show(SixDigits)
  }

  private struct Keys {
    var irk: UInt128?
    /// The long term keys. Nil stands for a debug key.
    var longTerm: [LongTermKey?] = []
    var isLasting = false
  }

  /// The peer by the address that the kernel uses for the link.
  private(set) var peer: PeerAddress
  private let parameters: PairingParameters
  private let adapter: String
  private(set) var method: PairingMethod?
  /// The keys that the kernel has reported, by identity. Other devices may pair on the adapter at the same time.
  private var found: [PeerAddress: Keys] = [:]
  private var displayed: SixDigits?
  /// The reason for which our side ended the pairing. The kernel reports only that authentication failed.
  private(set) var refusal: (any Error)?
  /// Whether the kernel reported the failure of the pairing.
  private(set) var hasFailed = false

  init(with peer: PeerAddress, _ parameters: PairingParameters, adapter: String) {
    (self.peer, self.parameters, self.adapter) = (peer, parameters, adapter)
  }

  // MARK: Events

  mutating func receive(_ event: ManagementEvent) -> [Action] {
    switch event {
    case .identityKey(let key, let identity, let address):
      found[identity, default: Keys()].irk = key
      // From now on, the kernel calls the device by its identity. The address is 0 for each device without a resolvable private one.
      if PeerAddress(address, .random) == peer { peer = identity }
    case .longTermKey(let owner, let key, let isLasting):
      // Legacy pairing leaves a key for each role.
      if keyCount(of: owner) < 2 { found[owner, default: Keys()].longTerm.append(key) }
      found[owner]?.isLasting = isLasting
    case .confirmation(peer, let number?):
      method = .numericComparison
      return [.compare(number)]
    case .confirmation(peer, nil):
      method = .justWorks
      guard parameters.level < .authenticated else { return refuse(PairingFailure.notAuthenticated, .confirm(peer, false)) }
      // The user has already decided to pair.
      return [.send(.confirm(peer, true))]
    case .passkeyRequest(peer):
      method = .passkeyEntry(displayedBy: .peripheral)
      return [.askPasskey]
    case .passkeyDisplay(peer, let passkey):
      method = .passkeyEntry(displayedBy: .central)
      guard parameters.passkey == nil else { return refuse(KernelPairingProblem.choosesPasskey(adapter), .cancelPairing(peer)) }
      // The kernel repeats the event for each digit that the user enters.
      guard displayed != passkey else { return [] }
      displayed = passkey
      return [.show(passkey)]
    case .authenticationFailed(peer, _), .disconnected(peer, _): hasFailed = true
    default: break
    }
    return []
  }

  private mutating func refuse(_ reason: any Error, _ command: ManagementCommand) -> [Action] {
    refusal = reason
    return [.send(command)]
  }

  mutating func enter(_ passkey: SixDigits?) -> [Action] {
    guard let passkey else { return refuse(PairingFailure.passkeyNotEntered(.us), .enter(peer, nil)) }
    return [.send(.enter(peer, passkey))]
  }

  mutating func answerComparison(_ isSame: Bool) -> [Action] {
    isSame ? [.send(.confirm(peer, true))] : refuse(PairingFailure.numberRefused(.us), .confirm(peer, false))
  }

  // MARK: The end

  /// The number of long term keys that the kernel has reported for the peer.
  var keyCount: Int { keyCount(of: peer) }

  private func keyCount(of owner: PeerAddress) -> Int { found[owner]?.longTerm.count ?? 0 }

  /// Takes the answer of Pair Device, which has the address by which the kernel now calls the device of the link.
  mutating func end(_ answer: ManagementChannel.Answer) {
    var reader = ByteReader(answer.parameters)
    if let peer = try? reader.managedPeer() { self.peer = peer }
  }

  /// Returns the error for a status of Pair Device other than success. Nil for a status without meaning for a pairing.
  /// - Parameters:
  ///   - reason: The controller's reason if the link is down.
  ///   - isOverdue: Whether both devices have been silent for the timeout of a pairing, 30 s.
  func failure(_ status: UInt8, reason: ControllerErrorCode?, isOverdue: Bool) -> (any Error)? {
    if let refusal { return refusal }
    return switch status {
    case _ where isOverdue: PairingFailure.timedOut
    case ManagementStatus.authenticationFailed: authenticationFailure
    // The kernel reports no other status when the link ends during the pairing.
    case ManagementStatus.failed: reason.map { PairingFailure.disconnected($0) }
    case ManagementStatus.timeout: PairingFailure.timedOut
    case ManagementStatus.busy: PairingFailure.busy
    case ManagementStatus.canceled: PairingFailure.canceled
    case ManagementStatus.disconnected: PairingFailure.disconnected(reason ?? .remoteUserTerminated)
    default: nil
    }
  }

  /// The most probable cause of a failed authentication. The kernel does not report the reason that the peer gave.
  var authenticationFailure: PairingFailure {
    switch method {
    case .passkeyEntry: .wrongPasskey(.peer)
    case .numericComparison: .numberRefused(.peer)
    case .justWorks, nil: .refused(.unspecifiedReason)
    }
  }

  /// Checks the security of the link against our requirements, which the kernel knows only in part.
  /// - Parameter socket: The security that the socket reports.
  func result(_ socket: LinkSecurity, replacing bond: Bond?) throws -> PairingResult {
    if let refusal { throw refusal }
    let found = found[peer] ?? Keys()
    let keys = found.longTerm.compactMap(\.self)
    if keys.count < found.longTerm.count { throw PairingFailure.debugKey }
    let security = keys.first?.security ?? socket
    let minimum = parameters.minimumKeySize
    if security.keySize < minimum { throw PairingFailure.keySize(agreed: security.keySize, minimum: minimum) }
    if parameters.level == .secureConnections, !security.isSecureConnections { throw PairingFailure.legacyPairing }
    if let old = bond?.security, security.isWeaker(than: old) { throw PairingFailure.weakerThanBond }
    guard security.level >= parameters.level else { throw PairingFailure.notAuthenticated }
    let method = method ?? .justWorks
    let isBond = parameters.isBonding && found.isLasting && !keys.isEmpty
    return PairingResult(
      method: method, security: security, bond: isBond ? Bond(identity: peer, irk: found.irk, keys: keys, method: method) : nil)
  }
}
