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
