// SPDX-License-Identifier: Apache-2.0
/// The answers of a device without dynamic L2CAP channels on the LE signaling channel (Vol 3 Part A §4).
package enum Signalling {
  package struct Answer: Sendable, Equatable {
    package let reply: SignallingPDU
    /// The connection parameters that the central has accepted, and must now request from its controller. Nil if there are none.
    package var update: ConnectionParameters?
  }

  /// Computes the answer to a frame on the LE signaling channel.
  /// - Parameters:
  ///   - payload: the payload of one L2CAP frame.
  ///   - deciding: a central's decision on requested parameters. Returns the parameters for the link, or nil to refuse.
  ///     Nil for a peripheral, which cannot receive such a request (Vol 3 Part A §4.20).
  /// - Returns: nil for responses and for packets without an identifier, which need no answer.
  package static func answer(_ payload: [UInt8], deciding: ((ConnectionParameters) -> ConnectionParameters?)? = nil) -> Answer? {
    let request: SignallingPDU
    do throws(MalformedPacket) {
      request = try SignallingPDU(payload)
    } catch {
      // If the length is wrong, the code and identifier are still valid.
      guard payload.count >= 4 else { return nil }
      request = .other(code: payload[0], identifier: payload[1], data: [])
    }
    // Zero is not a valid identifier (§4).
    guard request.wantsResponse, request.identifier != 0 else { return nil }
    guard let deciding, case .connectionParameterUpdateRequest(let identifier, let wanted) = request else {
      return Answer(reply: .commandReject(identifier: request.identifier, reason: SignallingPDU.notUnderstood))
    }
    let granted = wanted.isValid ? deciding(wanted) : nil
    return Answer(
      reply: .connectionParameterUpdateResponse(identifier: identifier, isAccepted: granted != nil), update: granted)
  }
}
