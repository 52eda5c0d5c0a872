import BluetoothLE

/// The channel of a link to a sink, as a controller with eight buffers provides it. Each packet takes a millisecond, and the given one goes
/// wrong.
@LoopActor
final class FaultyLink: Channel {
  enum Fault: String, CaseIterable, Sendable {
    case loss, refusal, reset, stalledCredits, droppingServer, interrupt
  }

  /// The bytes that arrived, over any number of links.
  @LoopActor
  final class Sink {
    var bytes: [UInt8] = []
  }

  /// The attribute that reports the number of received bytes.
  static let count: AttributeHandle = 0x12

  /// The number of packets that may wait or be in transmission.
  nonisolated static let buffers = 8

  var handler: (@LoopActor (ChannelEvent) -> Void)?
  var onAcknowledgement: (@LoopActor () -> Void)?
  var interrupt: @LoopActor () -> Void = {}
  private let sink: Sink
  private let fault: Fault?
  private let number: Int
  private var packets = 0
  private var hasHappened = false
  private var queue: [[UInt8]] = []
  private var closed: (any Error)?
  private var waiting: [Wait<Void>] = []
  private static let peer = PeerAddress(Address(rawValue: 0xC100_0000_0001), .random)

  /// - Parameter number: The number of the faulty packet in the transfer, from 1.
  init(_ sink: Sink, _ fault: Fault? = nil, at number: Int = 0) {
    self.sink = sink
    self.fault = fault
    self.number = number
  }

  func send(_ pdu: [UInt8]) {
    guard closed == nil else { return }
    queue.append(pdu)
    if queue.count == 1 { carry() }
  }

  var isWritable: Bool { closed == nil && queue.count < Self.buffers }

  func waitUntilWritable(until deadline: LoopClock.Instant?) async throws -> Bool { try await wait(until: deadline) { isWritable } }

  var unacknowledged: Int? { closed == nil ? queue.count : nil }

  func close() { end(Disconnection(Self.peer, .channelClosed)) }

  private func wait(until deadline: LoopClock.Instant?, _ condition: () -> Bool) async throws -> Bool {
    while !condition() {
      if let closed { throw closed }
      let next = Wait<Void>()
      waiting.append(next)
      guard try await next.value(until: deadline) != nil else { return false }
    }
    if let closed { throw closed }
    return true
  }

  private func end(_ error: any Error) {
    guard closed == nil else { return }
    closed = error
    queue = []
    handler?(.closed(error))
    goOn()
  }

  private func goOn() {
    let all = waiting
    waiting = []
    for wait in all { wait.resume(returning: ()) }
  }

  private func carry() {
    EventLoop.shared.schedule(after: .milliseconds(1)) {
      guard self.closed == nil, let pdu = self.queue.first else { return }
      if [0x12, 0x52].contains(pdu[0]) {
        self.packets += 1
        if self.packets == self.number { self.happen() }
        if self.closed != nil || self.hasHappened && self.fault == .stalledCredits { return }
      }
      self.queue.removeFirst()
      self.arrive(pdu)
      self.onAcknowledgement?()
      self.goOn()
      if !self.queue.isEmpty { self.carry() }
    }
  }

  private func happen() {
    hasHappened = true
    switch fault {
    case .loss: end(Disconnection(Self.peer, .lost(.connectionTimeout)))
    case .reset: end(ControllerError("sim", .hardware(0x42)))
    case .interrupt: interrupt()
    case .refusal, .stalledCredits, .droppingServer, nil: break
    }
  }

  /// Handles a PDU at the server.
  private func arrive(_ pdu: [UInt8]) {
    let isRefused = hasHappened && fault == .refusal
    let isDropped = hasHappened && fault == .droppingServer
    switch pdu[0] {
    case 0x52 where !isDropped: sink.bytes += pdu[3...]
    case 0x12 where isRefused: answer([0x01, 0x12, pdu[1], pdu[2], 0x11])
    case 0x12 where !isDropped:
      sink.bytes += pdu[3...]
      answer([0x13])
    case 0x0A where !isRefused: answer([0x0B] + (0..<4).map { UInt8(truncatingIfNeeded: sink.bytes.count >> ($0 * 8)) } + [0, 0, 0, 0])
    case 0x0A: answer([0x01, 0x0A, pdu[1], pdu[2], 0x11])
    case 0x04: answer(isRefused ? [0x01, 0x04, pdu[1], pdu[2], 0x11] : [0x05, 0x01, pdu[1], pdu[2], 0xE1, 0xFF])
    default: break
    }
  }

  private func answer(_ pdu: [UInt8]) {
    EventLoop.shared.schedule(after: .milliseconds(1)) { if self.closed == nil { self.handler?(.received(pdu)) } }
  }
}
