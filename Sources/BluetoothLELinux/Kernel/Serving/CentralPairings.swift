/// The device of a `KernelPeripheral`, as far as the kernel asks about its pairings.
@LoopActor
package protocol PairedDevice: AnyObject {
  /// Whether and how the device pairs now.
  var acceptance: Pairing.Acceptance { get }
  /// Whether the device keeps its keys when a link ends.
  var keepsBonds: Bool { get }
  /// The user of the device.
  var pairingUser: any PairingUser { get }
  /// Returns the bond with a central. Nil without one.
  func bond(with central: PeerAddress) -> Bond?
  /// Reports a pairing that succeeded, by the address of the central on its link.
  func paired(_ peer: PeerAddress, _ result: PairingResult)
  /// Reports a pairing that `acceptance` refused.
  func refused(_ peer: PeerAddress, _ reason: PairingFailedReason)
}

/// The pairings of the centrals of a `KernelPeripheral`. The kernel pairs, and asks user space: without an answer, it gives up after 30 s.
@LoopActor
final class CentralPairings {
  private let management: ManagementSocket
  private let keyring: KernelKeyring
  private weak var device: (any PairedDevice)?
  /// The function that returns the socket of a central's link.
  private let socket: @LoopActor (PeerAddress) -> (any SecuredSocket)?
  /// The settings of the adapter while the device pairs. Nil if it refuses.
  private var settings: KernelSettings?
  /// The pairing in progress with each central, by its address on the link.
  private var pairings: [PeerAddress: KernelPairing] = [:]
  /// The addresses on the link of the centrals that have told their identity, by identity. The kernel then uses the identity.
  private var identities: [PeerAddress: PeerAddress] = [:]
  /// A pairing has one or two keys, and the kernel reports them in one go.
  private lazy var completion = DeferredAction { [weak self] in self?.complete() }

  init(
    _ management: ManagementSocket, _ keyring: KernelKeyring, _ device: any PairedDevice,
    socket: @escaping @LoopActor (PeerAddress) -> (any SecuredSocket)?
  ) {
    (self.management, self.keyring, self.device, self.socket) = (management, keyring, device, socket)
  }

  /// Prepares the adapter for a device that pairs, and gives the kernel the keys of its centrals.
  /// - Throws: AdapterProblem, KernelPairingProblem, MalformedPacket, CancellationError; the errors of the bonds.
  func start(as identity: PeerAddress) async throws {
    guard case .accept(let parameters)? = device?.acceptance else { return }
    let settings = try await KernelSettings(management, of: keyring)
    self.settings = settings
    try await settings.set(bondable: true, secureConnections: parameters.secureConnections != .never)
    try await settings.set(parameters.ioCapability)
    try await keyring.load(for: identity)
  }

  /// Restores the settings of the adapter. Also works in a canceled task.
  func end() async {
    await shielded { [settings] in await settings?.restore() }
    (settings, pairings) = (nil, [:])
  }

  func receive(_ event: ManagementEvent) {
    switch event {
    case .confirmation(let peer, _), .passkeyRequest(let peer), .passkeyDisplay(let peer, _): answer(event, of: peer)
    case .identityKey, .longTermKey:
      for (peer, var pairing) in pairings {
        // A served device only answers: it has nothing to do after a key.
        _ = pairing.receive(event)
        pairings[peer] = pairing
      }
      completion.request()
    case .authenticationFailed(let peer, _): pairings[address(of: peer)] = nil
    case .disconnected(let peer, _):
      pairings[address(of: peer)] = nil
      identities[peer] = nil
      if device?.keepsBonds == false { _ = try? management.start(.unpair(peer, disconnects: false)) }
    default: break
    }
  }

  private func address(of peer: PeerAddress) -> PeerAddress { identities[peer] ?? peer }

  private func answer(_ event: ManagementEvent, of peer: PeerAddress) {
    // The kernel asks all programs about all devices.
    let key = address(of: peer)
    guard let device, socket(key) != nil else { return }
    switch device.acceptance {
    case .refuse(let reason):
      let command: ManagementCommand =
        switch event {
        case .confirmation: .confirm(peer, false)
        case .passkeyRequest: .enter(peer, nil)
        // The kernel does not wait for the one who reads the passkey.
        default: .disconnect(peer)
        }
      _ = try? management.start(command)
      device.refused(key, reason)
    case .accept(var parameters):
      // The kernel chooses the passkey that the device displays.
      parameters.passkey = nil
      var pairing = pairings[key] ?? KernelPairing(with: peer, parameters, adapter: keyring.adapter.name)
      let actions = pairing.receive(event)
      pairings[key] = pairing
      perform(actions, key, device.pairingUser)
    }
  }

  private func perform(_ actions: [KernelPairing.Action], _ key: PeerAddress, _ user: any PairingUser) {
    for action in actions {
      switch action {
      case .send(let command): _ = try? management.start(command)
      case .show(let passkey): user.show(passkey)
      case .askPasskey:
        ask(key, user) { user in
          let passkey = await user.passkey()
          return { $0.enter(passkey) }
        }
      case .compare(let number):
        ask(key, user) { user in
          let isSame = await user.isSame(number)
          return { $0.answerComparison(isSame) }
        }
      }
    }
  }

  private func ask(
    _ key: PeerAddress, _ user: any PairingUser,
    _ body: @escaping @LoopActor (any PairingUser) async -> (inout KernelPairing) -> [KernelPairing.Action]
  ) {
    EventLoop.shared.spawn { [weak self] in
      let answer = await body(user)
      guard let self, var pairing = pairings[key] else { return }
      let actions = answer(&pairing)
      pairings[key] = pairing
      perform(actions, key, user)
    }
  }

  /// Ends the pairings that have their keys.
  private func complete() {
    for (key, pairing) in pairings where pairing.keyCount > 0 {
      pairings[key] = nil
      identities[pairing.peer] = key
      guard let device, let socket = socket(key), let security = socket.security else { continue }
      do {
        device.paired(key, try pairing.result(security, replacing: device.bond(with: pairing.peer)))
      } catch {
        // The kernel has accepted what the device does not. Linux 6.1 may crash in close() after the link has ended.
        socket.abandon()
        _ = try? management.start(.unpair(pairing.peer, disconnects: true))
      }
    }
  }
}
