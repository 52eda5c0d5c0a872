// SPDX-License-Identifier: Apache-2.0
/// The options for sending a file to a characteristic, with one segment per Write Request or Write Command.
package struct TransferOptions: Sendable, Equatable {
  package enum Mode: String, Sendable, CaseIterable {
    case command, request

    package var writeMode: WriteMode { self == .command ? .command : .request }
  }

  /// The mode of the writes. Nil prefers commands if the characteristic accepts both.
  package var mode: Mode?
  /// The number of bytes per segment. Nil selects the fastest size.
  package var chunk: Int?
  package var pacing = WritePacing()

  /// The minimum number of bytes between proofs of arrival. On a fast link, `provenSeconds` may require more bytes. Proofs then take less
  /// than 1 % of the packets, and show where to resume after a lost link.
  private static let provenBytes = 24_576
  private static let provenSeconds = 0.4

  package init() {
    pacing.provesArrival = true
    pacing.adapts = true
  }

  /// Returns the pacing, with a default interval between proofs. A gap or a window set by the user disables adaptation.
  /// - Parameters:
  ///   - segment: The number of bytes per segment.
  ///   - link: The capacity of the link. Nil if unknown.
  package func pacing(segment: Int, link: LinkCapacity? = nil) -> WritePacing {
    var pacing = pacing
    if pacing.provesEvery == nil {
      let bytes = max(Self.provenBytes, pacing.gap > .zero ? 0 : link.map { Int(Self.provenSeconds * $0.rate(segment)) } ?? 0)
      pacing.provesEvery = max(1, bytes / max(1, segment))
    }
    if pacing.gap > .zero || pacing.window != nil { pacing.adapts = false }
    return pacing
  }

  /// Returns the mode for an attribute: the user's mode, else commands, else requests.
  /// - Throws: `TransferError`.
  package func mode(for attribute: Attribute) throws(TransferError) -> Mode {
    if let mode { return mode }
    guard let properties = attribute.properties else { throw .unknownProperties(attribute) }
    if properties.contains(.writeWithoutResponse) { return .command }
    if properties.contains(.write) { return .request }
    throw .notWritable(attribute)
  }

  /// Returns the number of bytes per segment on a link.
  /// - Parameters:
  ///   - mtu: The ATT_MTU in effect, 23…517.
  ///   - isSlower: Whether the device is slower than the link.
  /// - Throws: `GATTError` if `chunk` is less than 1 or too long for the MTU.
  package func segment(_ mode: Mode, mtu: Int, link: LinkCapacity, isSlower: Bool = false) throws(GATTError) -> Int {
    let largest = WriteProcedure.largestSegment(mtu: mtu)
    guard let chunk else {
      // A request costs a round trip, and a slow device its time, at any size. Commands fill whole link-layer packets.
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
  /// The characteristic permits neither Write Requests nor Write Commands.
  case notWritable(Attribute)
  /// The file has no bytes from this position on. `of` is the length of the file in bytes, or nil if unknown.
  case nothingToSend(from: Int, of: Int?)
  /// The value is not a report of byte count and CRC-32.
  case noCount([UInt8])
  /// The device's report does not match the start of the file.
  case otherBytes(ArrivalReport)
}
