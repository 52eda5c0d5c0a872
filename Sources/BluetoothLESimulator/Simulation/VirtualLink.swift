// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

/// The abilities and wishes of the controller at one end of a link.
struct LinkEnd {
  /// The largest LL payload, 27–251 bytes, and the largest that this end wants to send.
  var dataLength: Int
  var txOctets: Int
  var phys: PHYMask
  /// The PHYs that this end prefers for sending and for receiving.
  var tx: PHYMask
  var rx: PHYMask

  init(_ limits: LinkLimits) { self.init(dataLength: limits.dataLength, phys: PHYMask(limits.phys)) }

  init(dataLength: Int, phys: PHYMask) { (self.dataLength, txOctets, self.phys, tx, rx) = (dataLength, dataLength, phys, phys, phys) }
}

struct LinkEnds {
  var central: LinkEnd
  var peripheral: LinkEnd

  subscript(side: LinkLayer.Side) -> LinkEnd {
    get { side == .central ? central : peripheral }
    set { if side == .central { central = newValue } else { peripheral = newValue } }
  }
}

/// A link that runs one link layer on the event loop's clock and delivers its actions to both ends.
@LoopActor
final class VirtualLink {
  let peer: PeerAddress
  /// The central's address in CONNECT_IND.
  let initiator: PeerAddress
  /// The device's RSSI in dBm, without random variation.
  let rssi: Int8
  private let limits: LinkLimits
  /// The abilities of both ends, including the changes that the device has requested.
  private(set) var ends: LinkEnds
  private var changes: [LinkChange] = []
  private var changeTimers: [LoopTimer] = []
  private var layer: LinkLayer
  private var timer: LoopTimer?
  /// The function through which the central receives all actions of the link in order.
  var central: (@LoopActor ([LinkLayer.Action]) -> Void)?
  var peripheral: (@LoopActor ([LinkLayer.Action]) -> Void)?
  /// The function to call when the link has ended.
  var closed: (@LoopActor () -> Void)?
  /// The function that makes the central's controller fail with a hardware error code, on behalf of the device.
  var failController: (@LoopActor (UInt8) -> Void)?

  init(peer: PeerAddress, initiator: PeerAddress, rssi: Int8, limits: LinkLimits, ends: LinkEnds, layer: LinkLayer) {
    (self.peer, self.initiator, self.rssi, self.limits, self.ends, self.layer) = (peer, initiator, rssi, limits, ends, layer)
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

  func start(_ procedure: LinkLayer.Procedure, by side: LinkLayer.Side) {
    layer.start(procedure, by: side, at: now)
    arm()
  }

  /// Starts a Data Length Update to PDUs of at most `bytes` bytes from `side`. Returns false if an end supports only 27 bytes.
  func startDataLength(_ bytes: Int, by side: LinkLayer.Side) -> Bool {
    ends[side].txOctets = bytes
    let most = min(ends.central.dataLength, ends.peripheral.dataLength)
    guard most > 27 else { return false }
    start(.dataLength(central: min(ends.central.txOctets, most), peripheral: min(ends.peripheral.txOctets, most)), by: side)
    return true
  }

  /// Starts a PHY Update to the PHYs that `side` prefers for sending and receiving, as far as the other end prefers them too.
  /// - Parameter isNeeded: Whether the procedure runs also if it changes no PHY.
  /// - Returns: Whether the procedure runs.
  func startPHY(tx: PHYMask, rx: PHYMask, options: UInt16, by side: LinkLayer.Side, isNeeded: Bool) -> Bool {
    (ends[side].tx, ends[side].rx) = (tx, rx)
    func choose(_ sender: LinkLayer.Side) -> AirTime.Coding {
      let both = ends[sender].phys.intersection(ends[sender.other].phys)
      let wanted = both.intersection(ends[sender].tx).intersection(ends[sender.other].rx)
      guard let phy = [PHY.le2M, .le1M, .coded].first(where: { wanted.contains(PHYMask($0)) }) else { return coding(of: sender) }
      // PHY options: 1 prefers S=2, 2 prefers S=8.
      return phy == .coded && (options == 1 || options == 0 && limits.prefersS2) ? .codedS2 : AirTime.Coding(phy)
    }
    let chosen = (central: choose(.central), peripheral: choose(.peripheral))
    guard isNeeded || chosen != (coding(of: .central), coding(of: .peripheral)) else { return false }
    start(.phy(central: chosen.central, peripheral: chosen.peripheral), by: side)
    return true
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

  /// Ends the link for both sides, which report `reason`.
  func fail(_ reason: ControllerErrorCode) {
    layer.fail(reason, at: now)
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

  /// Starts the timers of the device's link changes.
  func begin() {
    for change in limits.changes {
      switch change.moment {
      case .bytes: changes.append(change)
      case .time(let delay):
        changeTimers.append(EventLoop.shared.schedule(after: delay) { [weak self] in self?.perform(change) })
      }
    }
  }

  private func performDueChanges() {
    while let index = changes.firstIndex(where: { if case .bytes(let bytes) = $0.moment { bytes <= layer.carriedBytes } else { false } }
    ) {
      perform(changes.remove(at: index))
    }
  }

  private func perform(_ change: LinkChange) {
    guard !isClosed else { return }
    if let bytes = change.dataLength {
      (ends.peripheral.dataLength, ends.peripheral.txOctets) = (bytes, bytes)
      let both = min(bytes, ends.central.dataLength)
      start(.dataLength(central: both, peripheral: both), by: .peripheral)
    }
    if let phy = change.phy, ends.central.phys.contains(PHYMask(phy)) {
      let coding = phy == .coded && limits.prefersS2 ? .codedS2 : AirTime.Coding(phy)
      start(.phy(central: coding, peripheral: coding), by: .peripheral)
    }
    if let wanted = change.parameters {
      start(
        .connectionUpdate(
          LinkLayer.Parameters(interval: wanted.intervalMin, latency: wanted.latency, supervisionTimeout: wanted.supervisionTimeout)),
        by: .peripheral)
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
