package import GATT

/// How a file or another lot of octets goes to a characteristic: by many requests or commands, each a segment of its own.
package struct TransferOptions: Sendable, Equatable {
  package enum Mode: String, Sendable, CaseIterable { case command, request }

  /// Nil: what the characteristic takes, commands where it takes both.
  package var mode: Mode?
  /// Octets per segment; nil for what fills the link best.
  package var chunk: Int?
  package var pacing = WritePacing()

  /// A proof costs a packet of each event that it is in: after so many octets that is 1 in 60, and who loses the link knows where to go on.
  private static let provenOctets = 16_384

  package init() { pacing.provesArrival = true }

  /// With a proof every so often, unless another number was asked for. - Parameter chunk: octets per segment.
  package func pacing(chunk: Int) -> WritePacing {
    var pacing = pacing
    if pacing.provesEvery == nil { pacing.provesEvery = max(1, Self.provenOctets / max(1, chunk)) }
    return pacing
  }

  /// Cut for this link.
  /// - Parameters:
  ///   - count: octets to send.
  ///   - mtu: ATT_MTU in effect, 23…517.
  ///   - link: what is known of it.
  /// - Returns: the plan, and octets per segment.
  /// - Throws: TransferError, and what WritePlan throws for a chunk that does not fit.
  package func plan(for count: Int, to attribute: Attribute, mtu: Int, link: LinkCapacity) throws -> (plan: WritePlan, chunk: Int) {
    let mode = try self.mode ?? Self.mode(for: attribute)
    // A request costs a round trip whatever its size; commands are cut to whole link-layer packets.
    let best = mode == .request ? WritePlan.largestSegment(mtu: mtu) : link.fastestSegment(mtu: mtu)
    let size = chunk ?? best
    let plan = try WritePlan(
      value: count, properties: attribute.properties, mtu: mtu, mode: mode == .request ? .request : .command, chunk: size)
    return (plan, size)
  }

  private static func mode(for attribute: Attribute) throws(TransferError) -> Mode {
    guard let properties = attribute.properties else { throw .unknownProperties(attribute) }
    if properties.contains(.writeWithoutResponse) { return .command }
    if properties.contains(.write) { return .request }
    throw .notWritable(attribute)
  }
}

package enum TransferError: Error, Sendable, Equatable {
  /// Not a characteristic's value: nothing says how it can be written.
  case unknownProperties(Attribute)
  /// It has neither write nor write without response.
  case notWritable(Attribute)
}
