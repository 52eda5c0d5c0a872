/// What ends a request or a bearer, as facts. An Error Response is none of these: it is an answer.
package enum ATTError: Error, Equatable, Sendable {
  /// The peer sent something that is no answer.
  case violation(Violation)
  /// No response within the time of a transaction (Vol 3 Part F §3.3.3): the bearer is closed. `handle` is the attribute asked about, 0x0000 for none.
  case noResponse(to: RequestOpcode, handle: AttributeHandle, within: Duration)
  /// No confirmation of an indication within the time of a transaction: the bearer is closed.
  case noConfirmation(of: AttributeHandle, within: Duration)
  /// Nothing that was sent was taken, or acknowledged, for this long.
  case nothingGotThrough(for: Duration)
  /// This side closed the bearer.
  case closedByThisSide

  /// - Parameters: as `Violation`.
  package static func violation(_ opcode: Opcode, _ octets: [UInt8], _ reason: String) -> Self {
    .violation(Violation(opcode: opcode, octets: octets, reason: reason))
  }
}

/// What the peer sent in place of an answer.
package struct Violation: Equatable, Sendable {
  /// The opcode of the PDU at fault.
  package var opcode: Opcode
  /// The PDU.
  package var octets: [UInt8]
  package var reason: String
  /// The bearer was closed for it, because later answers could be taken for those of other requests.
  package var endsBearer = false

  package init(opcode: Opcode, octets: [UInt8], reason: String) {
    self.opcode = opcode
    self.octets = octets
    self.reason = reason
  }
}
