// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// The peripheral's end of a link, which exchanges ATT PDUs with a virtual device over L2CAP (Vol 3 Part A §3).
/// It refuses requests on other fixed channels if `otherChannels` is nil.
@LoopActor
package final class VirtualLinkChannel: DeviceChannel {
  package var handler: (@LoopActor (ChannelEvent) -> Void)? { didSet { deliver() } }
  /// The function that receives the frames of all channels except ATT. If it is nil, the channel refuses requests itself.
  package var otherChannels: (@LoopActor (ChannelIdentifier, [UInt8]) -> Void)?

  package let security: SecurityManager
  package var manager: SecurityManager? { security }
  package var peer: PeerAddress { link.initiator }

  private let link: VirtualLink
  private var pending: [ChannelEvent] = []
  private var isDelivering = false
  private var recombination = Recombination()
  private var waiters: [Wait<Void>] = []
  private var ended: ControllerErrorCode?
  private var isClosed = false
  /// The firmware that delays or drops ATT PDUs. Nil means that ATT receives each PDU immediately.
  private var firmware: FirmwareQueue?
  private var firmwareTimer: LoopTimer?
  /// The sizes, in bytes, of the first and the last link layer payload of the incomplete frame, and the number of payloads.
  private var fragments: (first: Int, last: Int, count: Int) = (0, 0, 0)

  /// The number of packets that the device's controller buffers.
  private static let buffers = 8
  private static let bufferLength = 251

  init(_ link: VirtualLink, _ firmware: FirmwareQueue? = nil) {
    self.link = link
    self.firmware = firmware
    security = SecurityManager(Pairing(role: .peripheral, own: link.peer, peer: link.initiator))
    security.link = self
    link.peripheral = { actions in self.take(actions) }
  }

  // MARK: ATT.Channel

  package func send(_ pdu: [UInt8]) { send(pdu, onChannel: .att) }

  package func waitUntilWritable(until deadline: LoopClock.Instant?) async throws -> Bool {
    while true {
      if let ended { throw ended }
      if link.queued(by: .peripheral) < Self.buffers { return true }
      let wait = Wait<Void>()
      waiters.append(wait)
      guard try await wait.value(until: deadline) != nil else { return false }
    }
  }

  /// Disconnects after all sent packets have arrived. The central gets Remote User Terminated Connection.
  package func close() {
    guard !isClosed else { return }
    isClosed = true
    terminateWhenSent()
  }

  /// Terminates the link if the queue is empty, because LL_TERMINATE_IND would overtake queued packets.
  private func terminateWhenSent() {
    if link.queued(by: .peripheral) == 0 { link.terminate(by: .peripheral, reason: .remoteUserTerminated) }
  }

  // MARK: For tests and unusual devices

  /// Sends one L2CAP frame to the central.
  /// - Parameter payload: The payload of the frame. The channel truncates it to 65,535 bytes.
  package func send(_ payload: [UInt8], onChannel channel: ChannelIdentifier) {
    guard ended == nil, !isClosed else { return }
    for (index, fragment) in L2CAPFrame(channel: channel, payload: payload).fragments(length: Self.bufferLength).enumerated() {
      link.send(by: .peripheral, fragment, isStart: index == 0)
    }
  }

  package func cut() { link.cut() }

  package func abandon() {
    end(.connectionTimeout)
    link.abandon()
    deliver()
  }

  package func terminate(reason: ControllerErrorCode) {
    isClosed = true
    link.terminate(by: .peripheral, reason: reason)
  }

  package func keepBusy(for time: Duration) {
    firmware?.pause(until: EventLoop.shared.now.advanced(by: time).nanoseconds)
    armFirmware()
  }

  package func failController(_ code: UInt8) { link.failController?(code) }

  // MARK: From the link

  private func take(_ actions: [LinkLayer.Action]) {
    for action in actions {
      switch action {
      case .received(by: .peripheral, let bytes, let isStart): receive(bytes, isStart: isStart)
      case .completed(by: .peripheral, _):
        resumeWaiters()
        if isClosed { terminateWhenSent() }
      case .done(.encryptionRequest(let request), _): security.longTermKeyRequested(ediv: request.ediv, rand: request.rand)
      case .done(.encryptionStart, _): security.encryptionChanged(.on)
      case .closed(_, let reason): end(reason)
      default: break
      }
    }
    deliver()
  }

  private func receive(_ bytes: [UInt8], isStart: Bool) {
    // A new start discards the incomplete frame before it.
    if isStart, fragments.count > 0 { link.makeRoom() }
    if isStart {
      fragments = (bytes.count, bytes.count, 1)
    } else if fragments.count > 0 {
      fragments = (fragments.first, bytes.count, fragments.count + 1)
    }
    guard let frame = recombination.add(bytes, isStart: isStart) else { return }
    let isUneven = fragments.count > 1 && fragments.last < fragments.first
    fragments.count = 0
    if frame.channel == .att, firmware != nil { return work(on: FirmwareQueue.PDU(bytes: frame.payload, isUneven: isUneven)) }
    link.makeRoom()
    if frame.channel == .att {
      pending.append(.received(frame.payload))
    } else if let otherChannels {
      otherChannels(frame.channel, frame.payload)
    } else {
      answer(frame)
    }
  }

  // MARK: Firmware

  private func work(on pdu: FirmwareQueue.PDU) {
    switch firmware?.arrive(pdu, at: EventLoop.shared.now.nanoseconds) {
    case .passed:
      link.makeRoom()
      pending.append(.received(pdu.bytes))
    case .dropped: link.makeRoom()
    case .waits, nil: break
    }
    armFirmware()
  }

  private func armFirmware() {
    firmwareTimer?.cancel()
    firmwareTimer = firmware?.due.map { due in
      EventLoop.shared.schedule(at: LoopClock.Instant(nanoseconds: due)) { [weak self] in self?.workIsDone() }
    }
  }

  private func workIsDone() {
    while let bytes = firmware?.next(at: EventLoop.shared.now.nanoseconds) {
      link.makeRoom()
      pending.append(.received(bytes))
      // Deliver before taking the next PDU: the device may be busy then.
      deliver()
    }
    armFirmware()
  }

  private func answer(_ frame: L2CAPFrame) {
    switch frame.channel {
    case .signalling: if let answer = Signalling.answer(frame.payload) { send(answer.reply.encoded, onChannel: .signalling) }
    case .securityManager: security.receive(frame.payload)
    default: break
    }
  }

  private func end(_ reason: ControllerErrorCode) {
    guard ended == nil else { return }
    ended = reason
    // PDUs that still wait are lost with the link.
    firmwareTimer?.cancel()
    firmware = nil
    security.disconnected(reason)
    pending.append(.closed(reason))
    resumeWaiters()
  }

  private func resumeWaiters() {
    let waiters = waiters
    self.waiters = []
    for wait in waiters { wait.resume(returning: ()) }
  }

  private func deliver() {
    guard !isDelivering else { return }
    isDelivering = true
    defer { isDelivering = false }
    while let handler, !pending.isEmpty { handler(pending.removeFirst()) }
  }
}

extension VirtualLinkChannel: SecurityLink {
  package func sendSecurity(_ pdu: [UInt8]) { send(pdu, onChannel: .securityManager) }

  /// Does nothing: only a central starts encryption.
  package func encrypt(key: UInt128, ediv: UInt16, rand: UInt64) {}

  package func answerKeyRequest(_ key: UInt128?) { link.answer(key) }
}
