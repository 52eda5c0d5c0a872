package import ATT
package import Bluetooth
package import EventLoop

/// The peripheral's end of a link: L2CAP for a virtual device (Vol 3 Part A §3). ATT is what the device serves; the other fixed channels get
/// the answers of a device that supports nothing there, unless `otherChannels` is set.
@LoopActor
package final class VirtualLinkChannel: ATT.Channel {
  package var handler: (@LoopActor (ATT.ChannelEvent) -> Void)? {
    didSet { deliver() }
  }
  /// Sees the frames of every channel but 4 instead of the built-in answers: CID and payload.
  package var otherChannels: (@LoopActor (UInt16, [UInt8]) -> Void)?
  /// ATT, LE signalling, Security Manager (Vol 3 Part A §2.1).
  package static let att: UInt16 = 4
  package static let signalling: UInt16 = 5
  package static let security: UInt16 = 6

  private let link: VirtualLink
  private var pending: [ATT.ChannelEvent] = []
  private var isDelivering = false
  private var frame: [UInt8] = []
  private var waiters: [Wait<Void>] = []
  private var ended: BluetoothError?
  private var isClosed = false

  /// Packets that the device's controller buffers.
  private static let buffers = 8
  private static let bufferLength = 251

  init(_ link: VirtualLink) {
    self.link = link
    link.peripheral = { actions in self.take(actions) }
  }

  // MARK: ATT.Channel

  package func send(_ pdu: [UInt8]) { send(pdu, onChannel: Self.att) }

  package func waitUntilWritable() async throws {
    while true {
      if let ended { throw ended }
      if link.queued(by: .peripheral) < Self.buffers { return }
      let wait = Wait<Void>()
      waiters.append(wait)
      try await wait.value()
    }
  }

  /// The device hangs up, after what it has sent has arrived: the link ends with Remote User Terminated Connection for the central.
  package func close() {
    guard !isClosed else { return }
    isClosed = true
    hangUpWhenSent()
  }

  /// LL_TERMINATE_IND would overtake what waits in the queue.
  private func hangUpWhenSent() {
    if link.queued(by: .peripheral) == 0 { link.terminate(by: .peripheral, reason: .remoteUserTerminated) }
  }

  // MARK: For tests and unusual devices

  /// Sends one L2CAP frame.
  /// - Parameter payload: at most 65 535 octets; longer ones are cut.
  package func send(_ payload: [UInt8], onChannel cid: UInt16) {
    guard ended == nil, !isClosed else { return }
    let payload = payload.prefix(0xFFFF)
    var writer = ByteWriter(capacity: payload.count + 4)
    writer.uint16(UInt16(payload.count))
    writer.uint16(cid)
    writer.append(payload)
    let bytes = writer.bytes
    for start in stride(from: 0, to: bytes.count, by: Self.bufferLength) {
      link.send(by: .peripheral, Array(bytes[start..<min(bytes.count, start + Self.bufferLength)]), isStart: start == 0)
    }
  }

  /// Asks the central for other parameters: L2CAP Connection Parameter Update Request (Vol 3 Part A §4.20). The response comes to
  /// `otherChannels`.
  /// - Parameters: interval in 1.25 ms, latency in events, timeout in 10 ms.
  package func requestParameters(identifier: UInt8, intervalMin: UInt16, intervalMax: UInt16, latency: UInt16, timeout: UInt16) {
    var writer = ByteWriter()
    writer.uint8(0x12)
    writer.uint8(identifier)
    writer.uint16(8)
    for value in [intervalMin, intervalMax, latency, timeout] { writer.uint16(value) }
    send(writer.bytes, onChannel: Self.signalling)
  }

  /// Asks the central to pair: SMP Security Request (Vol 3 Part H §3.6.7).
  package func requestSecurity(authentication: UInt8 = 0x01) { send([0x0B, authentication], onChannel: Self.security) }

  /// Walks out of range: both sides notice after the supervision timeout.
  package func cut() { link.cut() }

  /// The device hangs up with a reason of its own.
  package func terminate(reason: ControllerErrorCode) {
    isClosed = true
    link.terminate(by: .peripheral, reason: reason)
  }

  // MARK: What the link brings

  private func take(_ actions: [LinkLayer.Action]) {
    for action in actions {
      switch action {
      case .received(by: .peripheral, let octets, let isStart): receive(octets, isStart: isStart)
      case .completed(by: .peripheral, _):
        resumeWaiters()
        if isClosed { hangUpWhenSent() }
      case .closed(_, let reason): end(reason)
      default: break
      }
    }
    deliver()
  }

  private func receive(_ octets: [UInt8], isStart: Bool) {
    if isStart { frame = octets } else { frame += octets }
    guard frame.count >= 4 else { return }
    let length = Int(frame[0]) | Int(frame[1]) << 8
    // What is longer than it says is no frame; what is shorter is not complete yet.
    guard frame.count >= length + 4 else { return }
    defer { frame = [] }
    guard frame.count == length + 4 else { return }
    let cid = UInt16(frame[2]) | UInt16(frame[3]) << 8
    let payload = Array(frame[4...])
    if cid == Self.att {
      pending.append(.received(payload))
    } else if let otherChannels {
      otherChannels(cid, payload)
    } else {
      answer(payload, onChannel: cid)
    }
  }

  private func answer(_ payload: [UInt8], onChannel cid: UInt16) {
    guard let code = payload.first else { return }
    switch cid {
    case Self.signalling:
      guard payload.count >= 4, !Self.signallingWithoutAnswer.contains(code) else { return }
      // Command Reject: command not understood.
      send([0x01, payload[1], 2, 0, 0, 0], onChannel: Self.signalling)
    case Self.security where code == 0x01:
      // Pairing Failed: pairing not supported.
      send([0x05, 0x05], onChannel: Self.security)
    default: break
    }
  }

  /// Responses, and the flow control credit indication (Vol 3 Part A §4).
  private static let signallingWithoutAnswer: Set<UInt8> = [0x01, 0x03, 0x05, 0x07, 0x13, 0x15, 0x16, 0x18, 0x1A]

  private func end(_ reason: ControllerErrorCode) {
    guard ended == nil else { return }
    let error = BluetoothError(.linkLost, "The link ended: \(reason).", code: Int(reason.rawValue), name: reason.snakeName)
    ended = error
    pending.append(.closed(error))
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
