// SPDX-License-Identifier: Apache-2.0
/// An L2CAP B-frame: a payload on one channel (Vol 3 Part A §3.1).
package struct L2CAPFrame: Sendable, Equatable {
  package var channel: ChannelIdentifier
  package var payload: [UInt8]

  /// The size of the frame's header in bytes: 2 for the payload length, then 2 for the channel ID.
  static let headerLength = 4

  package init(channel: ChannelIdentifier, payload: [UInt8]) { (self.channel, self.payload) = (channel, payload) }

  /// The encoded frame: length, channel, payload. Contains at most 65,535 bytes of payload, the maximum of the length field.
  package var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(min(payload.count, 0xFFFF) + Self.headerLength)
    Self.append(channel, payload, to: &bytes)
    return bytes
  }

  /// Appends an encoded frame with the given channel and payload.
  /// - Returns: the number of appended bytes.
  @discardableResult
  package static func append(_ channel: ChannelIdentifier, _ payload: [UInt8], to bytes: inout [UInt8]) -> Int {
    let payload = payload.prefix(0xFFFF)
    bytes.append(UInt8(truncatingIfNeeded: payload.count))
    bytes.append(UInt8(truncatingIfNeeded: payload.count >> 8))
    bytes.append(UInt8(truncatingIfNeeded: channel.rawValue))
    bytes.append(UInt8(truncatingIfNeeded: channel.rawValue >> 8))
    bytes.append(contentsOf: payload)
    return headerLength + payload.count
  }

  /// Splits the encoded frame for a controller's buffers (Vol 3 Part A §7.2.1). Fragment 0 starts the frame, later fragments continue it.
  /// - Parameter length: the maximum size of a fragment in bytes, at least 1.
  package func fragments(length: Int) -> [[UInt8]] {
    let bytes = encoded
    let length = max(1, length)
    return stride(from: 0, to: bytes.count, by: length).map { Array(bytes[$0..<min($0 + length, bytes.count)]) }
  }
}
