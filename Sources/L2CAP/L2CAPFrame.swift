import Bluetooth
package import HCI

/// An L2CAP B-frame (Vol 3 Part A §3.1).
package struct L2CAPFrame: Sendable, Equatable {
  /// Channel identifier: 4 ATT, 5 LE signalling, 6 SMP.
  package var channel: UInt16
  package var payload: [UInt8]

  package init(channel: UInt16, payload: [UInt8]) {
    self.channel = channel
    self.payload = payload
  }

  /// Length, channel, payload. The length field holds at most 65 535 octets; a longer payload is cut.
  package var encoded: [UInt8] {
    let payload = payload.prefix(0xFFFF)
    var writer = ByteWriter(capacity: payload.count + 4)
    writer.uint16(UInt16(payload.count))
    writer.uint16(channel)
    writer.append(payload)
    return writer.bytes
  }

  /// Cut into ACL packets.
  /// - Parameter length: the largest payload of one, at least 1 octet.
  /// - Parameter first: `firstNonFlushable` from a host, `firstFlushable` from a controller.
  package func fragments(handle: UInt16, length: Int, first: ACLData.Boundary = .firstNonFlushable) -> [ACLData] {
    let octets = encoded
    let length = max(1, length)
    return stride(from: 0, to: octets.count, by: length).map { offset in
      ACLData(
        handle: handle, boundary: offset == 0 ? first : .continuing, payload: Array(octets[offset..<min(offset + length, octets.count)]))
    }
  }
}
