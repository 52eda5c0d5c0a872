/// The pace of the segments of a write, and the proofs of their arrival.
package struct WritePacing: Sendable, Equatable {
  /// The pause between segments.
  package var gap = Duration.zero
  /// The maximum number of commands that the peer's link layer has not acknowledged. Nil: as many as the channel accepts.
  /// Ignored if the channel does not know about acknowledgments (`Channel.unacknowledged`).
  package var window: Int?
  /// The number of commands after which a request confirms their arrival, at least 1. The next commands do not wait for the answer.
  /// The next request follows after the answer.
  package var provesEvery: Int?
  /// Whether to confirm arrival after the last command.
  package var provesArrival = false
  /// Whether the pace adapts: more commands at once if the peer keeps up, fewer if it falls behind (see `TransferPace`).
  package var adapts = false

  package init(gap: Duration = .zero) { self.gap = gap }
}

/// The progress of a write, in bytes of the value.
package struct WriteProgress: Sendable, Equatable {
  /// The number of bytes sent: answered requests, commands given to the channel, or parts queued on the peer (long and reliable writes).
  package var sent = 0
  /// The number of bytes that have certainly arrived. The peer's ATT layer answered them, or a request after them.
  /// Zero for a long or reliable write before its end.
  package var confirmed = 0

  package init(sent: Int = 0, confirmed: Int = 0) {
    self.sent = sent
    self.confirmed = confirmed
  }
}
