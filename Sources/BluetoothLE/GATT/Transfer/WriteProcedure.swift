// SPDX-License-Identifier: Apache-2.0
/// The procedure for writing a value.
package enum WriteMode: String, Sendable, CaseIterable {
  case auto, request, command, long, reliable
}

/// The procedure and the segments for writing a value of a given length. A plan always covers the complete value.
package struct WriteProcedure: Hashable, Sendable {
  /// The procedure for the write, which is never `.auto`.
  package let mode: WriteMode
  /// The byte ranges of the value, one per request, command or Prepare Write. An empty value has one empty range.
  package let segments: [Range<Int>]

  /// The maximum length of an attribute value, 512 bytes (Vol 3 Part F §3.2.9).
  package static let largestValue = 512

  /// Chooses the procedure and the segments for a value.
  /// - Parameters:
  ///   - count: the length of the value in bytes.
  ///   - properties: the characteristic's properties. Nil for descriptors and bare handles.
  ///   - mtu: the ATT_MTU in effect, 23…517.
  ///   - chunk: the bytes per segment. Nil selects as many as fit. With `.auto` and `.request`, other values select a segmented write.
  /// - Throws: GATTError if the procedure cannot write the complete value.
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
}

/// The pace of the segments of a write, and the confirmation of their arrival.
package struct WritePacing: Sendable, Equatable {
  /// The pause between two segments.
  package var gap = Duration.zero
  /// The maximum number of commands that the peer's link layer has not acknowledged. Nil selects as many as the channel accepts.
  /// The transfer ignores the maximum if the channel does not report acknowledgments.
  package var window: Int?
  /// The number of commands, at least 1, after which a request confirms their arrival. Nil sends no request before the last command.
  /// Commands continue while the request is open. The next request follows after its response.
  package var provesEvery: Int?
  /// Whether a request confirms arrival after the last command.
  package var provesArrival = false
  /// Whether the transfer increases its pace while the peer keeps up, and decreases it when the peer falls behind.
  package var adapts = false

  package init(gap: Duration = .zero) { self.gap = gap }
}

/// The progress of a write, in bytes of the value.
package struct WriteProgress: Sendable, Equatable {
  /// The number of bytes in answered requests, in commands that the channel accepted, or in Prepare Writes that the peer queued.
  package var sent = 0
  /// The number of bytes that have certainly arrived, because the peer answered a request with them or a later request.
  /// Zero for a long or reliable write before its end.
  package var confirmed = 0
}
