/// How the segments of a write follow each other.
package struct WritePacing: Sendable, Equatable {
  /// Pause between segments.
  package var gap = Duration.zero
  /// How many commands may be under way, sent but not acknowledged by the peer's link layer. Nil: as many as the channel takes. Without effect on a channel that does
  /// not know what was acknowledged (`Channel.unacknowledged`).
  package var window: Int?
  /// A request after every so many commands, whose answer proves that they arrived, and which they do not wait for: the next one follows when it
  /// is answered. At least 1.
  package var provesEvery: Int?
  /// The same after the last command.
  package var provesArrival = false
  /// The peer gets more commands at a time as it shows that it keeps up, and fewer when it falls behind; see `TransferPace`.
  package var adapts = false

  package init(gap: Duration = .zero) { self.gap = gap }
}

/// How far a write has come, in octets of the value.
package struct WriteProgress: Sendable, Equatable {
  /// Answered by the peer for requests, handed to the channel for commands, queued on the peer for long and reliable writes.
  package var sent = 0
  /// Known to have arrived: the peer's ATT layer answered for them, or for a request behind
  /// them. Nothing of a long or reliable write has, before its end.
  package var confirmed = 0

  package init(sent: Int = 0, confirmed: Int = 0) {
    self.sent = sent
    self.confirmed = confirmed
  }
}
