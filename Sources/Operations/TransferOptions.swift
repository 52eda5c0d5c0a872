package import GATT

/// How a file or another lot of octets goes to a characteristic: by many requests or commands, each a segment of its own.
package struct TransferOptions: Sendable, Equatable {
  package enum Mode: String, Sendable, CaseIterable {
    case command, request

    package var writeMode: WriteMode { self == .command ? .command : .request }
  }

  /// Nil: what the characteristic takes, commands where it takes both.
  package var mode: Mode?
  /// Octets per segment; nil for what fills the link best.
  package var chunk: Int?
  package var pacing = WritePacing()

  /// A proof costs a packet of each event that it is in: after so many octets, and so many seconds of a fast link, that is less than 1 in 100, and who
  /// loses the link knows where to go on.
  private static let provenOctets = 24_576
  private static let provenSeconds = 0.4

  package init() {
    pacing.provesArrival = true
    pacing.adapts = true
  }

  /// With a proof every so often, unless another number was asked for; what the user has fixed is not looked for.
  /// - Parameters:
  ///   - segment: octets per segment.
  ///   - link: nil: nothing is known of it.
  package func pacing(segment: Int, link: LinkCapacity? = nil) -> WritePacing {
    var pacing = pacing
    if pacing.provesEvery == nil {
      let octets = max(Self.provenOctets, pacing.gap > .zero ? 0 : link.map { Int(Self.provenSeconds * $0.rate(segment)) } ?? 0)
      pacing.provesEvery = max(1, octets / max(1, segment))
    }
    if pacing.gap > .zero || pacing.window != nil { pacing.adapts = false }
    return pacing
  }

  /// - Throws: TransferError.
  package func mode(for attribute: Attribute) throws(TransferError) -> Mode {
    if let mode { return mode }
    guard let properties = attribute.properties else { throw .unknownProperties(attribute) }
    if properties.contains(.writeWithoutResponse) { return .command }
    if properties.contains(.write) { return .request }
    throw .notWritable(attribute)
  }

  /// Octets per segment on this link.
  /// - Parameters:
  ///   - mtu: ATT_MTU in effect, 23…517.
  ///   - isSlower: the device is slower than the link.
  /// - Throws: GATTError for a chunk that does not fit.
  package func segment(_ mode: Mode, mtu: Int, link: LinkCapacity, isSlower: Bool = false) throws(GATTError) -> Int {
    let largest = WritePlan.largestSegment(mtu: mtu)
    guard let chunk else {
      // A request costs a round trip whatever its size, and a slow device its time; commands are cut to whole link-layer packets.
      return mode == .request || isSlower ? largest : link.fastestSegment(mtu: mtu)
    }
    guard chunk >= 1 else { throw .segmentTooShort(chunk) }
    guard chunk <= largest else { throw .segmentTooLong(chunk, limit: largest, mtu: mtu) }
    return chunk
  }
}

package enum TransferError: Error, Sendable, Equatable {
  /// Not a characteristic's value: nothing says how it can be written.
  case unknownProperties(Attribute)
  /// It has neither write nor write without response.
  case notWritable(Attribute)
  /// There is nothing to send, or nothing from this octet on; with what there is, where that is known.
  case nothingToSend(from: Int, of: Int?)
  /// What is to tell of octets and CRC-32 holds something else.
  case noCount([UInt8])
  /// What the device says it has is not the beginning of the file.
  case otherOctets(ArrivalReport)
}
