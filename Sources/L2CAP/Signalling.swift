package import Bluetooth

/// The answers of a device without dynamic L2CAP channels on the LE signaling channel (Vol 3 Part A §4).
package enum Signalling {
  package struct Answer: Sendable, Equatable {
    package let reply: SignallingPDU
    /// The connection parameters that the central has accepted, and now requests from its controller.
    package var update: ConnectionParameters?
  }

  /// Answers a frame.
  /// - Parameters:
  ///   - payload: the payload of one frame.
  ///   - deciding: a central's decision, which returns the link's parameters, or nil to refuse.
  ///     Nil for a peripheral, because only a peripheral may ask (§4.20).
  /// - Returns: nil for responses, and for packets without an identifier, which must have no answer.
  package static func answer(
    _ payload: [UInt8], deciding: ((ConnectionParameters) -> ConnectionParameters?)? = nil
  ) -> Answer? {
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
