// SPDX-License-Identifier: Apache-2.0
/// Conversion of L2CAP frames to HCI ACL Data packets (Vol 4 Part E §5.4.2).
extension L2CAPFrame {
  /// Splits the frame into HCI ACL Data packets.
  /// - Parameters:
  ///   - length: the largest payload of a packet in bytes, at least 1.
  ///   - first: the boundary flag of the first packet: `firstNonFlushable` from a host, `firstFlushable` from a controller.
  package func fragments(handle: ConnectionHandle, length: Int, first: ACLData.Boundary = .firstNonFlushable) -> [ACLData] {
    fragments(length: length).enumerated().map {
      ACLData(handle: handle, boundary: $0.offset == 0 ? first : .continuing, payload: $0.element)
    }
  }
}

extension Recombination {
  /// Adds the next HCI ACL Data packet of the link, and returns the frame if it is complete.
  /// - Returns: the frame that the packet completes. Nil if the frame needs more packets, or the packet is invalid.
  package mutating func add(_ data: ACLData) -> L2CAPFrame? { add(data.payload, isStart: data.boundary != .continuing) }
}
