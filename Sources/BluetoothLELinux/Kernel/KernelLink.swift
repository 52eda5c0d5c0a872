/// A link over the kernel's stack. Without CAP_NET_RAW, the process receives no LE events. Unknown parameters are then nil, and requests
/// to change the link fail.
@LoopActor
package final class KernelLink: Link {
  package let peer: PeerAddress
  package var channel: any Channel { socket }
  package var security: (any SecurityProcedures)? { kernelSecurity }
  private let kernelSecurity: KernelSecurity

  private let central: KernelCentral
  let socket: L2CAPSocket
  let handle: ConnectionHandle?
  private let madeByUs: Bool
  /// The reason that the peer gets when this process disconnects the link.
  var ownReason = ControllerErrorCode.remoteUserTerminated
  package var onSecurityLevel: (@LoopActor (SecurityLevel) -> Void)?
  private var ending: Task<Void, Never>?
  /// The number of the HCI observer that watches for changes of the requested interval. Nil without a requested interval.
  private var intervalWatch: Int?

  /// The procedures that change the link. Nil if the link's handle is unknown.
  private let procedures: LinkProcedures?
  private var observer: Int?

  /// - Parameter destination: The address of the peer that the kernel uses, if it differs from `peer`.
  init(
    _ central: KernelCentral, _ peer: PeerAddress, at destination: PeerAddress? = nil, _ socket: L2CAPSocket, handle: ConnectionHandle?,
    madeByUs: Bool, tap: (any Tap)?
  ) {
    kernelSecurity = KernelSecurity(central.keyring, socket, destination ?? peer) { [weak central] in
      central?.hci.pump()
      return handle.flatMap { central?.table.entries[$0]?.state.reason }
    }
    self.central = central
    self.peer = peer
    self.socket = socket
    self.handle = handle
    self.madeByUs = madeByUs
    procedures = handle.map { LinkProcedures(peer, handle: $0, central.table.entries[$0]?.state ?? LinkState(), central) }
    observer = central.hci.addObserver(ended: { [weak self] in self?.procedures?.end($0) }, { [weak self] in self?.receive($0) })
    socket.explain = { [weak central] error in
      // The raw socket knows the reason, but may not have been read yet.
      central?.hci.pump()
      if let central, !central.isUp(central.adapter.index) { return SocketEnd(peer, .adapterGone(central.adapter.name)) }
      let reason = handle.flatMap { central?.table.entries[$0]?.state.reason }
      return SocketEnd(peer, reason.map { .reason($0) } ?? .errno(error))
    }
    if let tap {
      // The kernel does not show us its ACL packets. These are their equivalents, unfragmented.
      socket.tap = { pdu, direction in
        let boundary: ACLData.Boundary = direction == .hostToController ? .firstNonFlushable : .firstFlushable
        for packet in L2CAPFrame(channel: .att, payload: pdu).fragments(handle: handle ?? 0, length: 0xFFFF, first: boundary) {
          tap.record(packet.encoded, direction, isOurs: true)
        }
      }
    }
  }

  private func receive(_ event: Event) {
    procedures?.receive(event)
    if case .encryptionChange(let status, handle, _, _) = event, status != .success { kernelSecurity.encryptionFailed(status) }
    switch event {
    case .encryptionChange(.success, handle, _, _), .encryptionKeyRefreshComplete(.success, handle): onSecurityLevel?(securityLevel)
    default: break
    }
    if case .disconnectionComplete(.success, handle, let reason) = event { procedures?.end(SocketEnd(peer, .reason(reason))) }
  }

  // MARK: Parameters

  package var onParameters: (@LoopActor (LinkParameters) -> Void)? {
    get { procedures?.onParameters }
    set { procedures?.onParameters = newValue }
  }

  package func parameters() async throws -> LinkParameters {
    central.hci.pump()
    guard !socket.isOver else { throw SocketEnd(peer, .errno(nil)) }
    guard let procedures else { return LinkParameters() }
    var parameters = try await procedures.parameters()
    if parameters.phy == nil { parameters.phy = socket.phy }
    return parameters
  }

  package func requestInterval(_ interval: Duration) async throws -> LinkParameters {
    watch(try await usable().requestInterval(interval))
    return try await parameters()
  }

  package func requestPHY(_ phy: PHY) async throws -> LinkParameters {
    try await usable().requestPHY(phy)
    return try await parameters()
  }

  package func requestDataLength(_ bytes: Int) async throws -> LinkParameters {
    try await usable().requestDataLength(bytes)
    return try await parameters()
  }

  private func usable() throws -> LinkProcedures {
    central.hci.pump()
    guard let procedures, !socket.isOver else { throw SocketEnd(peer, .errno(nil)) }
    return procedures
  }

  /// Watches for a peer that changes the requested interval. Requests the interval once more, and then accepts the peer's choice.
  /// The kernel accepts any interval that a peer requests, and many peers request an interval a few seconds after connecting.
  private func watch(_ wanted: ConnectionParameters, again: Bool = true) {
    stopWatching()
    guard let handle else { return }
    intervalWatch = central.hci.addObserver { [weak self] event in
      guard let self, case .leConnectionUpdateComplete(.success, handle, let interval, _, _) = event,
        !(wanted.intervalMin...wanted.intervalMax).contains(interval), let now = LinkParameters.interval(interval)
      else { return }
      stopWatching()
      guard again else {
        central.onNote?(.intervalChanged(peer, to: now, askingFor: nil))
        return
      }
      central.onNote?(.intervalChanged(peer, to: now, askingFor: LinkParameters.interval(wanted.intervalMax)))
      // The table receives its events. If it is refused, the note has already reported the interval.
      EventLoop.shared.spawn { [self] in
        watch(wanted, again: false)
        _ = try? await central.hci.send(LEConnectionUpdate(handle: handle, wanted), for: .changingConnection)
      }
    }
  }

  private func stopWatching() {
    if let intervalWatch { central.hci.removeObserver(intervalWatch) }
    intervalWatch = nil
  }

  // MARK: The end

  /// Disconnects the link. If the kernel permits, immediately ends a link that this process opened, so that the peer advertises again.
  /// The kernel keeps any other link for 2 s after the last socket closes.
  package func disconnect() async {
    if let ending { return await ending.value }
    let task = EventLoop.shared.spawn { await self.end() }
    ending = task
    await task.value
  }

  private func end() async {
    stopWatching()
    let hci = central.hci
    if !socket.isOver, let handle, madeByUs {
      // Data that the kernel has not given to the controller yet would be lost.
      let deadline = EventLoop.shared.now.advanced(by: .seconds(1))
      while !socket.isDrained, EventLoop.shared.now < deadline { try? await EventLoop.shared.sleep(for: .milliseconds(10)) }
      socket.close()
      let command = Disconnect(handle: handle, reason: ownReason)
      do {
        try await hci.send(command, for: .disconnecting, limit: .seconds(2), late: { CancellationError() }) { event -> Void? in
          if case .disconnectionComplete(_, handle, _) = event { () } else { nil }
        }
      } catch {
        // No permission, or already disconnected: the kernel ends the link.
      }
    }
    socket.close()
    if let observer { hci.removeObserver(observer) }
    central.forget(self)
  }
}
