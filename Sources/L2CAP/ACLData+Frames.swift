package import HCI

/// How frames travel in HCI ACL Data packets (Vol 4 Part E §5.4.2).
extension L2CAPFrame {
  /// - Parameter length: the largest payload of one packet, at least 1 octet.
  /// - Parameter first: `firstNonFlushable` from a host, `firstFlushable` from a controller.
  package func fragments(handle: ConnectionHandle, length: Int, first: ACLData.Boundary = .firstNonFlushable) -> [ACLData] {
    fragments(length: length).enumerated().map {
      ACLData(handle: handle, boundary: $0.offset == 0 ? first : .continuing, payload: $0.element)
    }
  }
}

extension Recombination {
  /// - Returns: the frame that this packet completes.
  package mutating func add(_ data: ACLData) -> L2CAPFrame? { add(data.payload, isStart: data.boundary != .continuing) }
}
