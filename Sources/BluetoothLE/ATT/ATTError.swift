// SPDX-License-Identifier: Apache-2.0
/// An error that ends a request or a bearer. Excludes Error Responses, which are valid responses.
package enum ATTError: Error, Equatable, Sendable {
  /// The peer's response was invalid.
  case violation(Violation)
  /// The peer sent no response within the time limit (Vol 3 Part F §3.3.3), so the bearer closed. `handle` is 0x0000 for no attribute.
  case noResponse(to: RequestOpcode, handle: AttributeHandle, within: Duration)
  /// The peer did not confirm an indication within the transaction time limit, so the bearer closed.
  case noConfirmation(of: AttributeHandle, within: Duration)
  /// The transport accepted no PDU, or the peer's link layer acknowledged none, for this long.
  case nothingGotThrough(for: Duration)
  /// blectl closed the bearer.
  case closedByThisSide

  /// Creates an error for an invalid response: the opcode and bytes of the faulty PDU, and the reason.
  package static func violation(_ opcode: ATTOpcode, _ bytes: [UInt8], _ reason: String) -> Self {
    .violation(Violation(opcode: opcode, bytes: bytes, reason: reason))
  }
}

/// A response of the peer that violates the specification or does not match the request.
package struct Violation: Equatable, Sendable {
  /// The opcode of the faulty PDU.
  package var opcode: ATTOpcode
  /// The faulty PDU, starting with the opcode.
  package var bytes: [UInt8]
  package var reason: String
  /// Whether the bearer closed. It closes if it might match later responses to the wrong requests.
  package var endsBearer = false
}
