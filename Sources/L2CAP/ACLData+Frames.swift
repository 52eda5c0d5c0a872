package import HCI

/// The transport of L2CAP frames in HCI ACL Data packets (Vol 4 Part E §5.4.2).
extension L2CAPFrame {
  /// Splits the frame into packets.
  /// - Parameters:
  ///   - length: the largest payload of a packet, at least 1 byte.
  ///   - first: `firstNonFlushable` from a host, `firstFlushable` from a controller.
  package func fragments(handle: ConnectionHandle, length: Int, first: ACLData.Boundary = .firstNonFlushable) -> [ACLData] {
    fragments(length: length).enumerated().map {
      ACLData(handle: handle, boundary: $0.offset == 0 ? first : .continuing, payload: $0.element)
    }
  }
}

extension Recombination {
  /// Adds a packet.
  /// - Returns: the frame that the packet completes.
  package mutating func add(_ data: ACLData) -> L2CAPFrame? { add(data.payload, isStart: data.boundary != .continuing) }
}
