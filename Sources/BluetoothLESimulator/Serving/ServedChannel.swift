// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

/// The channel of a central on a radio, as a device uses it.
/// A radio cannot lose contact, make the central's controller fail or slow the firmware. `cut` and `abandon` disconnect with the reason
/// Remote Device Terminated due to Power Off (0x15), and the others do nothing. `onInability` reports each.
@LoopActor
final class ServedChannel: DeviceChannel {
  /// The handler of effects that a radio cannot have, with a sentence about what happened instead.
  var onInability: (@LoopActor (String) -> Void)?
  var onAcknowledgement: (@LoopActor () -> Void)?
  var handler: (@LoopActor (ChannelEvent) -> Void)? {
    didSet { if handler != nil { inner.handler = { self.take($0) } } }
  }

  let link: any CentralLink
  private let inner: any Channel
  /// Whether the link is down, or the device has ended it.
  private var isOver = false
  private var closing: LoopTimer?
  /// The level that the device knows.
  private var level = SecurityLevel.unencrypted
  /// The longest wait until the central has the last PDUs, before the device disconnects.
  private static let longestClose = Duration.seconds(1)

  init(_ link: any CentralLink) {
    (self.link, inner) = (link, link.channel)
    inner.onAcknowledgement = { [weak self] in self?.acknowledged() }
  }

  var peer: PeerAddress { link.peer }
  var manager: SecurityManager? { link.manager }
  var securityLevel: SecurityLevel { link.securityLevel }
  var onSecurityLevel: (@LoopActor (SecurityLevel) -> Void)? {
    get { link.onSecurityLevel }
    set {
      link.onSecurityLevel = { [weak self] level in
        self?.level = level
        newValue?(level)
      }
    }
  }

  // MARK: Channel

  func send(_ pdu: [UInt8]) { if !isOver { inner.send(pdu) } }
  func waitUntilWritable(until deadline: LoopClock.Instant?) async throws -> Bool { try await inner.waitUntilWritable(until: deadline) }
  var isWritable: Bool { inner.isWritable }
  var unacknowledged: Int? { inner.unacknowledged }
  var largestPDU: Int { inner.largestPDU }

  /// Disconnects after the central has the PDUs that the device sent, or after a second.
  func close() {
    guard !isOver else { return }
    isOver = true
    guard let open = inner.unacknowledged, open > 0 else { return disconnect(.remoteUserTerminated) }
    closing = EventLoop.shared.schedule(after: Self.longestClose) { self.disconnect(.remoteUserTerminated) }
  }

  private func acknowledged() {
    onAcknowledgement?()
    if closing != nil, inner.unacknowledged ?? 0 == 0 { disconnect(.remoteUserTerminated) }
  }

  private func disconnect(_ reason: ControllerErrorCode) {
    closing?.cancel()
    closing = nil
    let link = link
    _ = EventLoop.shared.spawn { await link.disconnect(reason: reason) }
  }

  private func take(_ event: ChannelEvent) {
    guard case .closed = event else {
      guard !isOver else { return }
      // The kernel reports an encryption on another socket, perhaps later than the first request after it.
      if manager == nil, link.securityLevel != level { link.onSecurityLevel?(link.securityLevel) }
      handler?(event)
      return
    }
    isOver = true
    closing?.cancel()
    closing = nil
    handler?(event)
    (inner.handler, inner.onAcknowledgement) = (nil, nil)
  }

  // MARK: DeviceChannel

  func keepBusy(for time: Duration) { onInability?("busy_ms: no effect, because firmware is part of the simulator") }

  func failController(_ code: UInt8) { onInability?("controller_error \(code): no effect, because a radio cannot do it") }

  func cut() {
    onInability?("out_of_range: disconnected with reason 0x15, because a radio cannot lose contact")
    terminate(reason: .remotePowerOff)
  }

  func abandon() {
    onInability?("restart: disconnected with reason 0x15, because a radio cannot lose contact")
    terminate(reason: .remotePowerOff)
    take(.closed(ControllerErrorCode.remotePowerOff))
  }

  func terminate(reason: ControllerErrorCode) { if !isOver { disconnect(reason) } }
}
