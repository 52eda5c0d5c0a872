/// An L2CAP B-frame (Vol 3 Part A §3.1).
package struct L2CAPFrame: Sendable, Equatable {
  package var channel: ChannelIdentifier
  package var payload: [UInt8]

  /// Length and channel identifier.
  static let headerLength = 4

  package init(channel: ChannelIdentifier, payload: [UInt8]) {
    self.channel = channel
    self.payload = payload
  }

  /// Length, channel, payload. The length field holds at most 65 535 octets; a longer payload is cut.
  package var encoded: [UInt8] {
    var octets: [UInt8] = []
    octets.reserveCapacity(min(payload.count, 0xFFFF) + Self.headerLength)
    Self.append(channel, payload, to: &octets)
    return octets
  }

  /// Appends an encoded frame. - Returns: how many bytes it has.
  @discardableResult
  package static func append(_ channel: ChannelIdentifier, _ payload: [UInt8], to octets: inout [UInt8]) -> Int {
    let payload = payload.prefix(0xFFFF)
    octets.append(UInt8(truncatingIfNeeded: payload.count))
    octets.append(UInt8(truncatingIfNeeded: payload.count >> 8))
    octets.append(UInt8(truncatingIfNeeded: channel.rawValue))
    octets.append(UInt8(truncatingIfNeeded: channel.rawValue >> 8))
    octets.append(contentsOf: payload)
    return headerLength + payload.count
  }

  /// Cut for a controller's buffers (Vol 3 Part A §7.2.1): the first one is the start, the others continue it.
  /// - Parameter length: the most octets of one, at least 1.
  package func fragments(length: Int) -> [[UInt8]] {
    let octets = encoded
    let length = max(1, length)
    return stride(from: 0, to: octets.count, by: length).map { Array(octets[$0..<min($0 + length, octets.count)]) }
  }
}
