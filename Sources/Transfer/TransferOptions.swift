package import GATT

/// How to send a file to a characteristic: as many requests or commands, one segment each.
package struct TransferOptions: Sendable, Equatable {
  package enum Mode: String, Sendable, CaseIterable {
    case command, request

    package var writeMode: WriteMode { self == .command ? .command : .request }
  }

  /// The mode. Nil prefers commands if the characteristic accepts both.
  package var mode: Mode?
  /// Bytes per segment. Nil for the fastest size.
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

  /// The pacing, with a default interval for proofs. It does not adapt if the user set a gap or a window.
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
  /// The attribute is not the value of a characteristic, so its properties are unknown.
  case unknownProperties(Attribute)
  /// The characteristic has neither write nor write without response.
  case notWritable(Attribute)
  /// Nothing to send from this byte on. Includes the total, if known.
  case nothingToSend(from: Int, of: Int?)
  /// The value is not a report of bytes and CRC-32.
  case noCount([UInt8])
  /// The report of the device does not match the start of the file.
  case otherOctets(ArrivalReport)
}
