// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

/// A link that runs one link layer on the event loop's clock and delivers its actions to both ends.
@LoopActor
final class VirtualLink {
  let peer: PeerAddress
  /// The central's address in CONNECT_IND.
  let initiator: PeerAddress
  /// The device's RSSI in dBm, without random variation.
  let rssi: Int8
  /// The limits of the device's controller, including the changes that the device has requested.
  private(set) var limits: LinkLimits
  private var changes: [LinkChange] = []
  private var changeTimers: [LoopTimer] = []
  /// The limits of the central's controller.
  private var centralLimits = LinkLimits()
  private var layer: LinkLayer
  private var timer: LoopTimer?
  /// The function through which the central receives all actions of the link in order.
  var central: (@LoopActor ([LinkLayer.Action]) -> Void)?
  var peripheral: (@LoopActor ([LinkLayer.Action]) -> Void)?
  /// The function to call when the link has ended.
  var closed: (@LoopActor () -> Void)?
  /// The function that makes the central's controller fail with a hardware error code, on behalf of the device.
  var failController: (@LoopActor (UInt8) -> Void)?

  init(peer: PeerAddress, initiator: PeerAddress, rssi: Int8, limits: LinkLimits, layer: LinkLayer) {
    (self.peer, self.initiator, self.rssi, self.limits, self.layer) = (peer, initiator, rssi, limits, layer)
    arm()
  }

  private var now: Int64 { EventLoop.shared.now.nanoseconds }

  var parameters: LinkLayer.Parameters { layer.parameters }
  var isClosed: Bool { layer.isClosed }
  func coding(of side: LinkLayer.Side) -> AirTime.Coding { layer[side].coding }
  /// Returns the number of packets of `side` that the peer has not acknowledged yet.
  func queued(by side: LinkLayer.Side) -> Int { layer[side].queue.count }

  func send(by side: LinkLayer.Side, _ packet: [UInt8], isStart: Bool) {
    let before = layer.due
    layer.send(by: side, packet, isStart: isStart, at: now)
    if layer.due != before { arm() }
  }

  func start(_ procedure: LinkLayer.Procedure) {
    layer.start(procedure, at: now)
    arm()
  }

  /// Answers the central's request for encryption with the peripheral's key, or with nil if the peripheral has none.
  func answer(_ key: UInt128?) {
    layer.answer(key, at: now)
    arm()
  }

  /// Lets the peripheral's host accept one more L2CAP frame. Does nothing if the number of frames has no limit.
  func makeRoom() { layer.room? += 1 }

  func terminate(by side: LinkLayer.Side, reason: ControllerErrorCode) {
    layer.terminate(by: side, reason: reason, at: now)
    arm()
  }

  func cut() {
    layer.cut(at: now)
    arm()
  }

  /// Ends the link for the peripheral only. The central waits for the supervision timeout.
  func abandon() {
    cut()
    for timer in changeTimers { timer.cancel() }
    let closed = closed
    (self.closed, peripheral) = (nil, nil)
    closed?()
  }

  // MARK: Requests of the peripheral

  /// Starts the timers of the device's link changes. `dataLength`, in bytes, and `phys` are the limits of the central's controller.
  func begin(dataLength: Int, phys: Set<PHY>) {
    (centralLimits.dataLength, centralLimits.phys) = (dataLength, phys)
    for change in limits.changes {
      switch change.moment {
      case .octets: changes.append(change)
      case .time(let delay):
        changeTimers.append(EventLoop.shared.schedule(after: delay) { [weak self] in self?.perform(change) })
      }
    }
  }

  private func performDueChanges() {
    while let index = changes.firstIndex(where: { if case .octets(let octets) = $0.moment { octets <= layer.carriedOctets } else { false } }
    ) {
      perform(changes.remove(at: index))
    }
  }

  private func perform(_ change: LinkChange) {
    guard !isClosed else { return }
    if let octets = change.dataLength {
      limits.dataLength = octets
      let both = min(octets, centralLimits.dataLength)
      start(.dataLength(central: both, peripheral: both))
    }
    if let phy = change.phy, centralLimits.phys.contains(phy) {
      let coding = phy == .coded && limits.prefersS2 ? .codedS2 : AirTime.Coding(phy)
      start(.phy(central: coding, peripheral: coding))
    }
    if let wanted = change.parameters {
      start(
        .connectionUpdate(
          LinkLayer.Parameters(interval: wanted.intervalMin, latency: wanted.latency, supervisionTimeout: wanted.supervisionTimeout)))
    }
  }

  private func arm() {
    timer?.cancel()
    timer = layer.due.map { due in
      EventLoop.shared.schedule(at: LoopClock.Instant(nanoseconds: due)) { [weak self] in self?.wake() }
    }
  }

  private func wake() {
    timer = nil
    let actions = layer.wake(at: now)
    let ends = [peripheral, central]
    if case .closed = actions.last {
      closed?()
      for timer in changeTimers { timer.cancel() }
      // Until here, the ends retain the link and the link retains the ends.
      (closed, peripheral, central) = (nil, nil, nil)
    }
    if !actions.isEmpty { for end in ends { end?(actions) } }
    if !changes.isEmpty { performDueChanges() }
    // The next step may be due now. Its timer still waits for a turn of the loop, so that the hosts can act first.
    arm()
  }
}
