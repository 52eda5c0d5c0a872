/// The procedure for writing a value.
package enum WriteMode: String, Sendable, CaseIterable {
  case auto, request, command, long, reliable
}

/// The procedure and the segments for a value of some length. Never cuts a value silently. Refuses an oversized value with a hint,
/// or sends it in the segments of the plan.
package struct WritePlan: Hashable, Sendable {
  /// The procedure, never `.auto`.
  package let mode: WriteMode
  /// The byte ranges of the PDUs: requests, commands or Prepare Writes. One empty range for an empty value.
  package let segments: [Range<Int>]

  /// The maximum length of an attribute value, 512 bytes (Vol 3 Part F §3.2.9).
  package static let largestValue = 512

  /// Plans a write.
  /// - Parameters:
  ///   - count: the length of the value in bytes.
  ///   - properties: the characteristic's properties. Nil for descriptors and bare handles.
  ///   - mtu: the ATT_MTU in effect, 23…517.
  ///   - chunk: bytes per segment. Nil for as many as fit. With `.auto` and `.request`, a value other than nil selects a segmented write.
  /// - Throws: GATTError if this procedure cannot write the complete value.
  package init(value count: Int, properties: Properties?, mtu: Int, mode asked: WriteMode, chunk: Int? = nil) throws(GATTError) {
    let count = max(0, count)
    let single = Self.largestSegment(mtu: mtu)
    if let chunk, chunk < 1 { throw .segmentTooShort(chunk) }
    var mode = asked
    if asked == .auto {
      let onlyCommands = properties.map { $0.contains(.writeWithoutResponse) && !$0.contains(.write) } ?? false
      if onlyCommands { mode = .command } else { mode = count <= single || chunk != nil ? .request : .long }
    }
    var size = single
    switch mode {
    case .auto, .request:
      if count > single, chunk == nil { throw .tooLongForWriteRequest(count, limit: single, mtu: mtu) }
    case .command: break
    case .long, .reliable:
      size = max(1, min(mtu - 5, Self.largestValue))
      if count > Self.largestValue { throw .tooLongForAttribute(count, segment: single, mode: asked) }
    }
    if let chunk {
      guard chunk <= size else { throw .segmentTooLong(chunk, limit: size, mtu: mtu) }
      size = chunk
    }
    self.mode = mode == .auto ? .request : mode
    segments = count == 0 ? [0..<0] : stride(from: 0, to: count, by: size).map { $0..<min($0 + size, count) }
  }

  /// Computes the size of one Write Request or Write Command in bytes: ATT_MTU − 3, at most the attribute size limit (512).
  package static func largestSegment(mtu: Int) -> Int { max(1, min(mtu - 3, largestValue)) }
}

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
