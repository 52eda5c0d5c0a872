import SystemPackage

/// The peripheral role on the kernel's Bluetooth stack: an advertising instance of the management channel, and a listener on the ATT channel.
/// The kernel advertises on while centrals are connected, and pairs with them as `device` says.
@LoopActor
final class KernelPeripheral: PeripheralRole {
  var onCentral: (@LoopActor (any CentralLink) -> Void)?
  var onFailure: (@LoopActor (any Error) -> Void)?
  var instanceFile: String?
  /// The device that pairs. Without one, the kernel pairs by the adapter's settings, without a question.
  weak var device: (any PairedDevice)?
  let hasSecurityManager = false
  var advertisedAddress: PeerAddress? { listener == nil ? nil : central?.identity }

  private weak var central: KernelCentral?
  private var management: ManagementSocket?
  private var instance: AdvertisingInstance?
  private var listener: AttributeListener?
  private var pairings: CentralPairings?
  /// The centrals whose links the listener accepted.
  private var served: [KernelLink] = []

  /// The time after which a central that the kernel reported, but not the listener, belongs to another program.
  private static let acceptLimit = Duration.seconds(1)

  init(_ central: KernelCentral) { self.central = central }

  func advertise(_ advertising: Advertising?) async throws {
    guard let advertising else {
      await instance?.remove()
      return
    }
    guard let central else { return }
    do {
      if instance == nil {
        guard !central.keyring.hasDaemon() else { throw KernelAdvertisingProblem.bluetoothdRuns(adapter: central.adapter.name) }
        let management = try central.keyring.open(central.adapter)
        self.management = management
        management.observer = { [weak self] in self?.received($0) }
        instance = try await AdvertisingInstance(central.adapter, management, file: instanceFile)
        if let device {
          let pairings = CentralPairings(management, central.keyring, device) { [weak self] in self?.socket(of: $0) }
          self.pairings = pairings
          try await pairings.start(as: central.identity ?? PeerAddress(Address(rawValue: 0), .random))
        }
      }
      // A central that finds no listener gets no answer to any request.
      if advertising.isConnectable, listener == nil { listener = try listen(central) }
      try await instance?.set(advertising)
    } catch {
      if instance?.number == nil { await end() }
      throw error
    }
  }

  private func listen(_ central: KernelCentral) throws -> AttributeListener {
    do throws(Errno) {
      return try AttributeListener(central.adapter) { [weak self] in self?.accepted($0, $1) }
    } catch { throw KernelAdvertisingProblem.cannotListen(adapter: central.adapter.name, error) }
  }

  private func accepted(_ descriptor: consuming OwnedDescriptor, _ peer: PeerAddress) {
    guard let central else { return }
    let link = central.accept(descriptor, peer)
    served.removeAll { $0.socket.isOver }
    served.append(link)
    guard let onCentral else {
      EventLoop.shared.spawn { await link.disconnect() }
      return
    }
    onCentral(link)
  }

  private func socket(of peer: PeerAddress) -> L2CAPSocket? {
    // The link may be newer than the event.
    listener?.accept()
    return served.last { $0.peer == peer && !$0.socket.isOver }?.socket
  }

  private func received(_ event: ManagementEvent) {
    pairings?.receive(event)
    guard case .connected(let peer) = event, listener != nil else { return }
    EventLoop.shared.schedule(after: Self.acceptLimit) { [weak self] in
      guard let self, let central, listener != nil, central.connectedPeer(peer.address) != nil,
        !central.links.contains(where: { $0.peer == peer })
      else { return }
      central.onNote?(.centralTaken(adapter: central.adapter.name, peer))
    }
  }

  func end() async {
    await instance?.remove()
    await pairings?.end()
    // Without this, the centrals would be told after 4 s.
    let links = served
    served = []
    await shielded { for task in links.map({ link in EventLoop.shared.spawn { await link.disconnect() } }) { await task.value } }
    (instance, listener, pairings) = (nil, nil, nil)
    management?.close()
    management = nil
  }
}

extension KernelLink: CentralLink {
  package var securityLevel: SecurityLevel { socket.security?.level ?? .unencrypted }
  package var manager: SecurityManager? { nil }

  package func disconnect(reason: ControllerErrorCode) async {
    ownReason = reason
    await disconnect()
  }
}
