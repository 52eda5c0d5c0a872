/// An error that ends a request or a bearer, as facts. Excludes Error Responses, which are answers.
package enum ATTError: Error, Equatable, Sendable {
  /// The peer's answer was invalid.
  case violation(Violation)
  /// The transaction timed out without a response (Vol 3 Part F §3.3.3), so the bearer closed. `handle`: the attribute, 0x0000 for none.
  case noResponse(to: RequestOpcode, handle: AttributeHandle, within: Duration)
  /// The transaction timed out without a confirmation of an indication, so the bearer closed.
  case noConfirmation(of: AttributeHandle, within: Duration)
  /// The transport accepted or acknowledged nothing for this long.
  case nothingGotThrough(for: Duration)
  /// This side closed the bearer.
  case closedByThisSide

  /// Creates a violation from the values of a `Violation`.
  package static func violation(_ opcode: Opcode, _ octets: [UInt8], _ reason: String) -> Self {
    .violation(Violation(opcode: opcode, octets: octets, reason: reason))
  }
}

/// An invalid answer of the peer.
package struct Violation: Equatable, Sendable {
  /// The opcode of the faulty PDU.
  package var opcode: Opcode
  /// The faulty PDU.
  package var octets: [UInt8]
  package var reason: String
  /// Whether the bearer closed, because it might match later answers to the wrong requests.
  package var endsBearer = false

  package init(opcode: Opcode, octets: [UInt8], reason: String) {
    self.opcode = opcode
    self.octets = octets
    self.reason = reason
  }
}
