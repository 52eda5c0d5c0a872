import EventLoop
package import GAP
package import GATT

/// Handles parameter changes during a transfer, and estimates the device's pace.
extension FileTransfer {
  func linkChanged(_ parameters: LinkParameters) {
    account()
    let found = found
    let phy = link.phy
    link = parameters
    // Events contain the PHY only if it changed.
    if link.phy == nil { link.phy = phy }
    (model, start) = (LinkCapacity(link), progress.sent)
    if let transfer, mode == .command {
      if let found { pace = found }
      if transfer.pace?.found == nil || !(found?.holds(on: link.interval, airTime: airTime) ?? false) {
        transfer.begin(newPace(isCounted: isCounted))
        isSlower = transfer.pace?.isSlower ?? false
      }
    }
    planAnew()
  }

  /// Learns whether the coded PHY uses S=2.
  func learn(_ place: Int) {
    let before = model
    model.learn(octets: place - start, in: since.duration(to: EventLoop.shared.now))
    if model != before { planAnew() }
  }

  /// Starts a pace. Uses the remembered gap only if it holds on this link.
  func newPace(isCounted: Bool) -> TransferPace {
    self.isCounted = isCounted
    let known = pace.flatMap { $0.holds(on: link.interval, airTime: airTime) ? $0 : nil }
    return TransferPace(gap: known.map { .microseconds($0.gap) }).begin(on: link.interval, isCounted: isCounted)
  }

  /// The air time of a segment at full speed.
  private var airTime: Duration { mtu > 0 ? model.airTime(options.chunk ?? model.fastestSegment(mtu: mtu)) : .zero }

  /// The pace that the transfer found on its current link.
  var found: TransferMemory.Pace? { transfer?.pace?.found.flatMap { pace(of: Int($0 / .microseconds(1))) } }

  /// Returns a pace measured on the current link. Nil if its interval is unknown. `gap` is in microseconds.
  package func pace(of gap: Int) -> TransferMemory.Pace? {
    link.interval.map { TransferMemory.Pace(gap: gap, interval: Int($0 / .microseconds(1)), airTime: Int(airTime / .microseconds(1))) }
  }

  func paceChanged() {
    isSlower.toggle()
    planAnew { .deviceIsSlower(isSlower, from: $0, to: $1) }
  }

  private func planAnew() { planAnew { .plannedAnew(from: $0, to: $1, link) } }

  private func planAnew(_ event: (_ before: Int, _ now: Int) -> Event) {
    guard let transfer, let mode else { return }
    adapt(transfer)
    guard options.chunk == nil, let segment = try? options.segment(mode, mtu: mtu, link: model, isSlower: isSlower),
      segment != transfer.segment
    else { return }
    onEvent?(event(transfer.segment, segment))
    transfer.segment = segment
  }

  func adapt(_ transfer: Transfer) {
    transfer.link = model
    transfer.latency = link.latency ?? 0
  }
}

extension LinkCapacity {
  package init(_ link: LinkParameters) { self.init(dataLength: link.maxTxOctets, phy: link.phy, interval: link.interval) }
}
