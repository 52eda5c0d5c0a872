package import ATT
package import Bluetooth
package import EventLoop
package import GAP
import HCI
import L2CAP

/// A link over the kernel's stack. What the controller knows about it comes from raw HCI events, which need CAP_NET_RAW: without it
/// the unknown parts are nil, and nothing can be changed.
@LoopActor
package final class KernelLink: GAP.Link {
  package let peer: PeerAddress
  package var channel: any ATT.Channel { socket }

  private let central: KernelCentral
  private let socket: L2CAPSocket
  private let handle: ConnectionHandle?
  private let madeByUs: Bool
  private var ending: Task<Void, Never>?
  /// Watches over the interval that was asked for.
  private var intervalWatch: Int?

  /// For a procedure that the peer takes part in: some connection events, at up to 4 s each.
  private static let procedureLimit: Duration = .seconds(10)

  init(
    _ central: KernelCentral, _ peer: PeerAddress, _ socket: L2CAPSocket, handle: ConnectionHandle?, madeByUs: Bool, tap: (any HCI.Tap)?
  ) {
    self.central = central
    self.peer = peer
    self.socket = socket
    self.handle = handle
    self.madeByUs = madeByUs
    socket.explain = { [weak central] error in
      // The raw socket knows the reason, but may not have been read yet.
      central?.hci.pump()
      if let central, !central.isUp(central.adapter.index) {
        return BluetoothError(.linkLost, "the connection to \(peer) was lost: \(central.adapter.name) was switched off or unplugged")
      }
      return LinkEnd.error(peer, error, reason: handle.flatMap { central?.table.entries[$0]?.reason })
    }
    if let tap {
      // The kernel does not show us its ACL packets; these are what they must have been, unfragmented.
      socket.tap = { pdu, direction in
        let boundary: HCI.ACLData.Boundary = direction == .hostToController ? .firstNonFlushable : .firstFlushable
        for packet in L2CAPFrame(channel: .att, payload: pdu).fragments(handle: handle ?? 0, length: 0xFFFF, first: boundary) {
          tap.record(packet.encoded, direction)
        }
      }
    }
  }

  // MARK: Parameters

  package func parameters() async throws -> LinkParameters {
    guard !socket.isOver else { throw LinkEnd.error(peer, nil, reason: nil) }
    var parameters = known
    guard let handle else { return parameters }
    if case .success(let returned) = try await answer(ReadRSSI(handle: handle)), returned.rssi != 127 { parameters.rssi = returned.rssi }
    if parameters.phy == nil {
      switch try await answer(LEReadPHY(handle: handle)) {
      case .success(let phys): parameters.phy = PHY(rawValue: phys.tx)
      // A controller that does not know the command knows only one PHY.
      case .failure(let error) where error.code == Int(ControllerErrorCode.unknownCommand.rawValue): parameters.phy = .le1M
      case .failure: break
      }
    }
    if parameters.phy == nil { parameters.phy = socket.phy }
    return parameters
  }

  private var known: LinkParameters {
    central.hci.pump()
    return handle.flatMap { central.table.entries[$0]?.parameters } ?? LinkParameters()
  }

  /// Failure when it is not permitted or not known: what is missing then is shown as unknown.
  private func answer<C: HCI.Command>(_ command: C) async throws -> Result<C.Return, BluetoothError> {
    do {
      return .success(try await central.hci.send(command, purpose: "looking at the connection"))
    } catch let error as BluetoothError {
      return .failure(error)
    }
  }

  package func requestInterval(_ interval: Duration) async throws -> LinkParameters {
    let handle = try usableHandle()
    let parameters = Self.connectionParameters(interval: interval)
    let command = LEConnectionUpdate(handle: handle, parameters)
    let status = try await result(command, "the connection interval") { event -> ControllerErrorCode? in
      if case .leConnectionUpdateComplete(let status, handle, _, _, _) = event { status } else { nil }
    }
    try check(status, "a connection interval of \(interval.inMilliseconds) ms")
    watch(parameters)
    return try await self.parameters()
  }

  /// The kernel follows whatever a peer asks for, as many peers do some seconds after they were connected. The user's own wish is told the
  /// controller once more then; a peer that insists gets its way.
  private func watch(_ wanted: ConnectionParameters, again: Bool = true) {
    stopWatching()
    guard let handle else { return }
    intervalWatch = central.hci.addObserver { [weak self] event in
      guard let self, case .leConnectionUpdateComplete(.success, handle, let interval, _, _) = event,
        !(wanted.intervalMin...wanted.intervalMax).contains(interval)
      else { return }
      stopWatching()
      let now = LinkParameters.interval(interval)
      guard again else {
        central.onNote?(.intervalChanged(peer, to: now, askingFor: nil))
        return
      }
      central.onNote?(.intervalChanged(peer, to: now, askingFor: LinkParameters.interval(wanted.intervalMax)))
      // Its events come to the table; should it be refused, the note has told what is.
      EventLoop.shared.spawn { [self] in
        watch(wanted, again: false)
        _ = try? await central.hci.send(LEConnectionUpdate(handle: handle, wanted), purpose: "changing the connection")
      }
    }
  }

  private func stopWatching() {
    if let intervalWatch { central.hci.removeObserver(intervalWatch) }
    intervalWatch = nil
  }

  /// Latency 0, and a supervision timeout of at least 4 s: the kernel's 420 ms loses links that could live.
  nonisolated static func connectionParameters(interval: Duration) -> ConnectionParameters {
    let units = UInt16(clamping: min(3200, max(6, (interval.wholeNanoseconds &+ 625_000) / 1_250_000)))
    return ConnectionParameters(
      intervalMin: units, intervalMax: units, latency: 0, supervisionTimeout: min(3200, max(400, units / 8 * 6)))
  }

  package func requestPHY(_ phy: PHY) async throws -> LinkParameters {
    let handle = try usableHandle()
    // Of this link only: the controller's default PHYs are shared with the kernel, which makes its connections from them.
    let command = LESetPHY(handle: handle, tx: PHYMask(phy), rx: PHYMask(phy))
    let status = try await result(command, "the PHY") { event -> ControllerErrorCode? in
      if case .lePHYUpdateComplete(let status, handle, _, _) = event { status } else { nil }
    }
    try check(status, "the \(phy.name) PHY")
    return try await parameters()
  }

  package func requestDataLength(_ octets: Int) async throws -> LinkParameters {
    let handle = try usableHandle()
    let octets = UInt16(clamping: min(251, max(27, octets)))
    // The time of that many octets with header and MIC on the 1M PHY (Vol 6 Part B §4.5.10); coded needs the largest.
    let time = known.phy == .coded ? 17_040 : (octets + 14) * 8
    let command = LESetDataLength(handle: handle, txOctets: octets, txTime: time)
    let before = known.maxTxOctets
    let changed = Wait<Void>()
    let observer = central.hci.addObserver { event in
      if case .leDataLengthChange(handle, _, _, _, _) = event { changed.resume(returning: ()) }
    }
    defer { central.hci.removeObserver(observer) }
    try await central.hci.send(command, purpose: "changing the connection")
    // No event comes when nothing changes.
    if before.map({ $0 < Int(octets) }) ?? true {
      _ = try await changed.value(until: EventLoop.shared.now.advanced(by: .seconds(1)))
    }
    return try await parameters()
  }

  private func usableHandle() throws(BluetoothError) -> ConnectionHandle {
    guard let handle, !socket.isOver else { throw LinkEnd.error(peer, nil, reason: nil) }
    return handle
  }

  private func result(
    _ command: some HCI.Command, _ what: String, event: @escaping @LoopActor (HCI.Event) -> ControllerErrorCode?
  ) async throws -> ControllerErrorCode {
    let peer = peer
    return try await central.hci.send(
      command, purpose: "changing the connection", limit: Self.procedureLimit,
      late: {
        BluetoothError(
          .timeout, "\(peer) did not follow the change of \(what) within \(Self.procedureLimit.components.seconds) s", name: "no_answer")
      }, event: event)
  }

  private func check(_ status: ControllerErrorCode, _ what: String) throws(BluetoothError) {
    guard status != .success else { return }
    throw BluetoothError(.hci, "\(peer) does not take \(what): \(status)", code: Int(status.rawValue), name: status.snakeName)
  }

  // MARK: The end

  /// The kernel keeps a link for 2 s after the last socket is closed, for whoever comes next. A link that we made and are permitted to end
  /// is ended now, so that nothing is left and the peer advertises again; one that was there before us belongs to someone else too.
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
      // What the kernel has not given to the controller yet would be thrown away.
      let deadline = EventLoop.shared.now.advanced(by: .seconds(1))
      while !socket.isDrained, EventLoop.shared.now < deadline { try? await EventLoop.shared.sleep(for: .milliseconds(10)) }
      socket.close()
      let command = Disconnect(handle: handle, reason: .remoteUserTerminated)
      do {
        try await hci.send(command, purpose: "disconnecting", limit: .seconds(2), late: { CancellationError() }) { event -> Void? in
          if case .disconnectionComplete(_, handle, _) = event { () } else { nil }
        }
      } catch {
        // Without permission, or already down: the kernel ends it.
      }
    }
    socket.close()
    central.forget(self)
  }
}
