/// How a value is asked to be written.
package enum WriteMode: String, Sendable, CaseIterable {
  case auto, request, command, long, reliable
}

/// How a value of some length goes to an attribute: by which procedure, and cut where. Nothing is ever cut silently: what does not fit is refused
/// with what would help, or sent in segments that the plan shows.
package struct WritePlan: Hashable, Sendable {
  /// Never `.auto`.
  package let mode: WriteMode
  /// The octets of each PDU: of each request or command, or of each Prepare Write. One empty range for an empty value.
  package let segments: [Range<Int>]

  /// "The maximum length of an attribute value shall be 512 octets" (Vol 3 Part F §3.2.9).
  package static let largestValue = 512

  /// - Parameters:
  ///   - count: octets of the value.
  ///   - properties: of the characteristic; nil for descriptors and bare handles.
  ///   - mtu: ATT_MTU in effect, 23…517.
  ///   - chunk: octets per segment; nil for what fits. With `.auto` and `.request` it asks for a segmented write.
  /// - Throws: GATTError when the value cannot be written whole in this way.
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

  /// Octets of one Write Request or Write Command: ATT_MTU − 3, and never more than an attribute holds.
  package static func largestSegment(mtu: Int) -> Int { max(1, min(mtu - 3, largestValue)) }
}
