// SPDX-License-Identifier: Apache-2.0
/// The ATT channel of a link of blectl's host, which is L2CAP channel 4.
@LoopActor
package final class LinkChannel: Channel {
  /// The maximum number of events that wait for a handler. The channel drops and counts further events.
  static let earlyLimit = 256

  package var handler: (@LoopActor (ChannelEvent) -> Void)? { didSet { deliverEarly() } }

  package var onAcknowledgement: (@LoopActor () -> Void)?

  private let peer: PeerAddress
  private weak var link: HostLink?
  private var early: [ChannelEvent] = []
  private var lost = 0
  private var closed: (any Error)?
  private let room = Gate()

  init(_ peer: PeerAddress) { self.peer = peer }

  func attach(_ link: HostLink) { self.link = link }

  package func send(_ pdu: [UInt8]) {
    guard closed == nil else { return }
    link?.transmit(pdu)
  }

  package var isWritable: Bool { closed == nil && link?.isWritable ?? false }

  package func waitUntilWritable(until deadline: LoopClock.Instant?) async throws -> Bool {
    if let closed { throw closed }
    guard let link, !link.isWritable else { return true }
    let isOpen = try await room.pass(until: deadline)
    if let closed { throw closed }
    return isOpen
  }

  package var unacknowledged: Int? { closed == nil ? link?.unacknowledged : nil }

  package func close() { end(Disconnection(peer, .channelClosed)) }

  // MARK: From the link

  func receive(_ pdu: [UInt8]) { deliver(.received(pdu)) }

  func exhaust(_ error: any Error) { deliver(.exhausted(error)) }

  func becameWritable() { room.open() }

  func acknowledged() { onAcknowledgement?() }

  func end(_ error: any Error) {
    guard closed == nil else { return }
    // Set this first: a handler that closes the channel must not replace the reason.
    closed = error
    pass(on: .closed(error))
    room.open()
  }

  private func deliver(_ event: ChannelEvent) { if closed == nil { pass(on: event) } }

  private func pass(on event: ChannelEvent) {
    if let handler { return handler(event) }
    if case .received = event, early.count >= Self.earlyLimit {
      lost += 1
    } else {
      if lost > 0 { early.append(.dropped(lost)) }
      lost = 0
      early.append(event)
    }
  }

  private func deliverEarly() {
    guard let handler else { return }
    if lost > 0 { early.append(.dropped(lost)) }
    lost = 0
    let kept = early
    early = []
    for event in kept { handler(event) }
  }
}
