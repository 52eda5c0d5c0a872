package import EventLoop

/// What the peer has, as its link layer acknowledges it and its answers show.
extension Bearer {
  /// Notes when the peer's link layer acknowledges a request that was just begun, and all that was sent before it. The last call counts.
  /// Nothing waits for this: the controller may lose the event that tells of it.
  package func timeAcknowledgement(of open: OpenRequest) {
    timed = (open.mark, nil)
    noteAcknowledgement()
  }

  /// When the request of `timeAcknowledgement` was acknowledged; nil: not yet, or unknown.
  package func acknowledgement(of open: OpenRequest) -> LoopClock.Instant? { timed?.mark == open.mark ? timed?.acknowledged : nil }

  func noteAcknowledgement() {
    if let timed, timed.acknowledged == nil, let unacknowledged = channel.unacknowledged, transmitted &- unacknowledged >= timed.mark {
      self.timed?.acknowledged = EventLoop.shared.now
    }
    acknowledgements.open()
  }

  /// PDUs that are sent, and neither acknowledged by the peer's link layer nor followed by a request that was answered; nil when the transport
  /// cannot know.
  package var unacknowledged: Int? { channel.unacknowledged.map { min($0, transmitted &- answered) } }

  /// Returns when fewer than `count` PDUs are unacknowledged; at once where that is not known.
  /// - Throws: ATTError when they do not become fewer in the time of a transaction; what the channel ended with; CancellationError.
  package func waitUntilUnacknowledged(below count: Int) async throws {
    start()
    var (least, deadline) = (Int.max, EventLoop.shared.now)
    while true {
      if let closed { throw closed }
      guard let open = unacknowledged, open >= max(1, count) else { return }
      if open < least { (least, deadline) = (open, EventLoop.shared.now.advanced(by: timeout)) }
      guard try await acknowledgements.pass(until: deadline) else { throw ATTError.nothingGotThrough(for: timeout) }
    }
  }
}
