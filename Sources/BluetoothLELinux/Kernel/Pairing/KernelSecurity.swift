import SystemPackage

/// The socket of a link whose security the kernel can raise.
@LoopActor
protocol SecuredSocket: AnyObject {
  /// The security of the link. Nil if the link is down or not encrypted.
  var security: LinkSecurity? { get }
  /// Raises the security, and waits for the encryption.
  /// - Returns: False if the link is not encrypted at the deadline.
  /// - Throws: Errno if the kernel refuses; the error that ended the link; CancellationError.
  func raiseSecurity(to level: SecurityLevel, until deadline: LoopClock.Instant) async throws -> Bool
  /// Ends the link with an error, after the kernel has left it without a way to go on.
  func abandon()
}

/// The last encryption of a link.
private struct Encryption {
  var isRunning = false
  /// The controller's reason for a failure.
  var failure: ControllerErrorCode?
}

/// Pairs and encrypts one link of the kernel, by management commands or through bluetoothd.
///
/// Pairing uses Pair Device on the connected link: it sets the IO capability of the link, does not block the socket, and has one answer.
/// The kernel answers Security Requests itself, so `onRequest` is never called.
@LoopActor
final class KernelSecurity: SecurityProcedures {
  /// The time after which the kernel gives up a silent peer is 30 s. It ends some failed attempts without an event, so we have a limit, too.
  static let silenceLimit = Duration.seconds(35)
  /// The time limit to encrypt the link with a known key.
  static let encryptionLimit = Duration.seconds(10)
  var limit = PairingFailure.longestSilence

  private let keyring: KernelKeyring
  private let socket: any SecuredSocket
  /// The peer by the address that the kernel uses.
  private var peer: PeerAddress
  /// The function that returns the controller's reason after the link went down.
  private let reason: @LoopActor () -> ControllerErrorCode?
  var bond: Bond?
  var onRequest: (@LoopActor (AuthenticationRequirements) -> Void)?
  /// The properties of the key that encrypts the link. Nil if this process did not choose the key.
  private var known: LinkSecurity?
  private var isBusy = false
  private var encryption = Encryption()
  private var pairing: KernelPairing?
  private var partners: (user: any PairingUser, channel: any PairingChannel)?
  private var question: Task<Void, Never>?
  private var silence: LoopTimer?
  private var lastEvent = EventLoop.shared.now
  /// The end of a pairing that has no answer of its own: true with the first key, false after a failure.
  private var outcome: Wait<Bool>?

  init(_ keyring: KernelKeyring, _ socket: any SecuredSocket, _ peer: PeerAddress, reason: @escaping @LoopActor () -> ControllerErrorCode?)
  {
    (self.keyring, self.socket, self.peer, self.reason) = (keyring, socket, peer, reason)
  }

  var security: LinkSecurity? { socket.security.map { seen in known.flatMap { $0.level == seen.level ? $0 : nil } ?? seen } }

  func decline() {}

  // MARK: Encryption

  func encrypt(with bond: Bond) async throws {
    guard !isBusy else { throw PairingFailure.busy }
    guard let wanted = bond.security, bond.centralKey != nil else { throw PairingFailure.noBond }
    self.bond = bond
    isBusy = true
    defer { isBusy = false }
    if security.map({ $0.level < wanted.level }) ?? true {
      // The kernel looks up the key by the address of the link.
      guard peer == bond.identity else { throw PairingFailure.closed }
      try await keyring.provide(bond, for: peer)
      do {
        try await raise(to: wanted.level, within: min(Self.encryptionLimit, limit))
      } catch let error where !(error is CancellationError) {
        throw rejection(error)
      }
    }
    known = wanted
  }

  /// Returns the error for a link that ended, or was not encrypted, although the kernel has the key.
  private func rejection(_ error: any Error) -> any Error {
    // A device that is silent or out of range has not lost its bond.
    if case PairingFailure.silent = error { return error }
    if error is KernelPairingProblem { return error }
    if let failure = encryption.failure { return PairingFailure.bondRejected(failure) }
    let isRefused = error as? SocketEnd == SocketEnd(peer, .errno(.permissionDenied))
    switch reason() {
    case .pinOrKeyMissing?, .micFailure?, .authenticationFailure?: return PairingFailure.bondRejected(reason() ?? .authenticationFailure)
    // The kernel ends the link itself after the controller reported the failure.
    case .terminatedByLocalHost?: return PairingFailure.bondRejected(.authenticationFailure)
    case nil where isRefused: return PairingFailure.bondRejected(.authenticationFailure)
    default: return error
    }
  }

  /// Raises the security of the socket. A socket that stays blocked is of no more use.
  private func raise(to level: SecurityLevel, within limit: Duration) async throws {
    encryption = Encryption(isRunning: true)
    defer { encryption.isRunning = false }
    do {
      let deadline = EventLoop.shared.now.advanced(by: limit)
      guard try await socket.raiseSecurity(to: level, until: deadline) else { throw PairingFailure.silent(limit) }
      guard let now = socket.security, now.level >= level else { throw PairingFailure.encryptionFailed(.authenticationFailure) }
    } catch Errno.invalidArgument {
      throw KernelPairingProblem.noSecurityManager(keyring.adapter.name)
    } catch {
      socket.abandon()
      throw error
    }
  }

  /// Takes the status of an Encryption Change event. The kernel now ends the link. Debian's kernel 6.1 may crash in close() after that,
  /// so the socket closes first.
  func encryptionFailed(_ status: ControllerErrorCode) {
    encryption.failure = status
    if encryption.isRunning { socket.abandon() }
  }

  // MARK: Pairing

  func pair(
    _ parameters: PairingParameters, user: any PairingUser, keep: @escaping @LoopActor (PairingResult) throws -> Void = { _ in }
  ) async throws -> PairingResult {
    guard !isBusy else { throw PairingFailure.busy }
    if parameters.level >= .authenticated, parameters.ioCapability == .noInputNoOutput { throw PairingFailure.notAuthenticated }
    isBusy = true
    defer { isBusy = false }
    if keyring.hasDaemon() { return try await pairThroughDaemon(parameters, user) }
    let management = try keyring.management(for: peer)
    let settings = try await KernelSettings(management, of: keyring)
    do {
      try await settings.set(bondable: parameters.isBonding, secureConnections: parameters.secureConnections != .never)
      // With the old key, the kernel would refuse to pair.
      try await keyring.load(for: peer, without: bond?.identity ?? peer)
      let result = try await converse(parameters, user, management, keep)
      await shielded { await settings.restore() }
      (known, bond) = (result.security, result.bond ?? bond)
      return result
    } catch {
      await shielded { [keyring, peer] in
        await settings.restore()
        // The kernel gets the earlier bond back.
        try? await keyring.load(for: peer)
      }
      throw error
    }
  }

  private func converse(
    _ parameters: PairingParameters, _ user: any PairingUser, _ channel: any PairingChannel,
    _ keep: @LoopActor (PairingResult) throws -> Void
  ) async throws -> PairingResult {
    pairing = KernelPairing(with: peer, parameters, adapter: keyring.adapter.name)
    partners = (user, channel)
    channel.observer = { [weak self] in self?.received($0) }
    let before = security
    let command = ManagementCommand.pair(peer, parameters.ioCapability)
    let answer = try channel.start(command)
    watchSilence { answer.resume(throwing: $0) }
    defer {
      silence?.cancel()
      question?.cancel()
      channel.observer = nil
      (pairing, partners) = (nil, nil)
    }
    var isPaired = false
    do {
      let answer = try await answer.value()
      channel.pump()
      if answer.status != 0 {
        if let failure = pairing?.failure(answer.status, reason: reason(), isOverdue: isOverdue) { throw failure }
        throw KernelPairingProblem(keyring.adapter.name, command, answer.status)
      }
      pairing?.end(answer)
      // The kernel does not pair on a link that is encrypted already, but knows our IO capability now.
      if before != nil, pairing?.method == nil { try await upgrade(parameters, channel) }
      guard let now = socket.security, let pairing else { throw KernelPairingProblem.noSecurityManager(keyring.adapter.name) }
      isPaired = true
      let result = try pairing.result(now, replacing: bond)
      try keep(result)
      peer = pairing.peer
      return result
    } catch {
      channel.pump()
      let isRaised = socket.security.map { now in before.map { $0.level < now.level } ?? true } ?? false
      if let pairing, isPaired || isRaised || pairing.keyCount > 0 {
        // The kernel has accepted what we do not. Linux 6.1 may crash in close() after the link has ended, so the socket closes first.
        socket.abandon()
        await answered(channel, .unpair(pairing.peer, disconnects: true), within: ManagementSocket.limit)
      } else if !(error is KernelPairingProblem) {
        await answered(channel, .cancelPairing(peer), within: .seconds(2))
      }
      throw error
    }
  }

  /// Sends a command, and waits for its answer, also in a canceled task.
  private func answered(_ channel: any PairingChannel, _ command: ManagementCommand, within limit: Duration) async {
    let deadline = EventLoop.shared.now.advanced(by: limit)
    await shielded { _ = try? await channel.start(command).value(until: deadline) }
  }

  /// Pairs on an encrypted link by raising its security, which has no answer of its own.
  private func upgrade(_ parameters: PairingParameters, _ channel: any PairingChannel) async throws {
    guard parameters.ioCapability != .noInputNoOutput else { throw PairingFailure.notAuthenticated }
    let outcome = Wait<Bool>()
    self.outcome = outcome
    defer { self.outcome = nil }
    watchSilence { outcome.resume(throwing: $0) }
    let level = max(parameters.level, .authenticated)
    let task = EventLoop.shared.spawn { [self] in
      do { try await raise(to: level, within: .seconds(120)) } catch { outcome.resume(throwing: error) }
    }
    defer { task.cancel() }
    do {
      if try await outcome.value() { return channel.pump() }
    } catch is Errno {} catch is PairingFailure where pairing?.hasFailed ?? false {}
    throw pairing?.refusal ?? pairing?.authenticationFailure ?? PairingFailure.closed
  }

  // MARK: bluetoothd

  private func pairThroughDaemon(_ parameters: PairingParameters, _ user: any PairingUser) async throws -> PairingResult {
    let daemon = try await keyring.openDaemon()
    defer { daemon.close() }
    guard let device = try await daemon.device(peer, on: keyring.adapter.name) else { throw BluetoothDaemonProblem.silent }
    if device.isPaired { throw BluetoothDaemonProblem.isPaired(peer) }
    var result = try await converse(parameters, user, DaemonPairing(daemon, device, as: peer)) { _ in }
    // The device may have told its identity.
    result.systemIdentity = try await daemon.devices().first { $0.path == device.path }?.peer ?? peer
    return result
  }

  func encryptWithSystemBond() async throws -> PeerAddress? {
    guard keyring.hasDaemon() else { return nil }
    guard !isBusy else { throw PairingFailure.busy }
    isBusy = true
    defer { isBusy = false }
    let daemon = try await keyring.openDaemon()
    defer { daemon.close() }
    guard let device = try await daemon.device(peer, on: keyring.adapter.name), device.isPaired else { return nil }
    do { try await raise(to: .encrypted, within: min(Self.encryptionLimit, limit)) } catch let error
      where !(error is CancellationError)
    { throw rejection(error) as? PairingFailure ?? .closed }
    return device.peer
  }

  // MARK: Events

  private func received(_ event: ManagementEvent) {
    guard var pairing else { return }
    let (methods, count) = (pairing.method, pairing.keyCount)
    let actions = pairing.receive(event)
    self.pairing = pairing
    if !actions.isEmpty || pairing.method != methods || pairing.keyCount != count { progress() }
    perform(actions)
    if pairing.hasFailed { outcome?.resume(returning: false) } else if pairing.keyCount > 0 { outcome?.resume(returning: true) }
  }

  private func perform(_ actions: [KernelPairing.Action]) {
    for action in actions {
      switch action {
      // The kernel reports the result as an event, or with the answer of Pair Device.
      case .send(let command): _ = try? partners?.channel.start(command)
      case .show(let passkey): partners?.user.show(passkey)
      case .askPasskey:
        ask { user in
          let passkey = await user.passkey()
          return { $0.enter(passkey) }
        }
      case .compare(let number):
        ask { user in
          let isSame = await user.isSame(number)
          return { $0.answerComparison(isSame) }
        }
      }
    }
  }

  private func ask(_ body: @escaping @LoopActor (any PairingUser) async -> (inout KernelPairing) -> [KernelPairing.Action]) {
    guard let user = partners?.user else { return }
    question = EventLoop.shared.spawn { [weak self] in
      let answer = await body(user)
      guard !Task.isCancelled, let self, var pairing else { return }
      question = nil
      let actions = answer(&pairing)
      self.pairing = pairing
      progress()
      perform(actions)
    }
  }

  // MARK: Time

  /// Whether nothing has happened for as long as the devices wait for each other.
  private var isOverdue: Bool { lastEvent.duration(to: EventLoop.shared.now) >= PairingFailure.longestSilence - .seconds(1) }

  private func progress() { lastEvent = EventLoop.shared.now }

  /// The time after which silence ends a pairing. While a person may have to answer, the kernel's own limit comes first.
  private var allowedSilence: Duration {
    let method = pairing?.method
    let waitsForPerson = question != nil || method == .numericComparison || method == .passkeyEntry(displayedBy: .central)
    return limit < PairingFailure.longestSilence && !waitsForPerson ? limit : Self.silenceLimit
  }

  /// Calls `end` when nothing has happened for `allowedSilence`.
  private func watchSilence(_ end: @escaping @LoopActor (PairingFailure) -> Void) {
    silence?.cancel()
    progress()
    func wait(_ time: Duration) {
      silence = EventLoop.shared.schedule(after: time) { [weak self] in
        guard let self else { return }
        let left = allowedSilence - lastEvent.duration(to: EventLoop.shared.now)
        left <= .zero ? end(.silent(min(allowedSilence, PairingFailure.longestSilence))) : wait(min(left, limit))
      }
    }
    wait(min(allowedSilence, limit))
  }
}
