package import Bluetooth

/// What a device without L2CAP channels of its own answers on the LE signalling channel (Vol 3 Part A §4).
package enum Signalling {
  package struct Answer: Sendable, Equatable {
    package let reply: SignallingPDU
    /// A central that has accepted them asks its controller for these.
    package var update: ConnectionParameters?
  }

  /// - Parameters:
  ///   - payload: of one frame.
  ///   - deciding: a central's: which of the wanted parameters, which are valid, the link will get; nil refuses. A peripheral has none: only
  ///     it may ask for other parameters (§4.20).
  /// - Returns: nil for what must not be answered: responses, and packets without an identifier to answer to.
  package static func answer(
    _ payload: [UInt8], deciding: ((ConnectionParameters) -> ConnectionParameters?)? = nil
  ) -> Answer? {
    let request: SignallingPDU
    do throws(MalformedPacket) {
      request = try SignallingPDU(payload)
    } catch {
      // Its length is wrong, its code and identifier can be trusted as far as they are there.
      guard payload.count >= 4 else { return nil }
      request = .other(code: payload[0], identifier: payload[1], data: [])
    }
    // Zero is no identifier (§4).
    guard request.wantsResponse, request.identifier != 0 else { return nil }
    guard let deciding, case .connectionParameterUpdateRequest(let identifier, let wanted) = request else {
      return Answer(reply: .commandReject(identifier: request.identifier, reason: SignallingPDU.notUnderstood))
    }
    let granted = wanted.isValid ? deciding(wanted) : nil
    return Answer(
      reply: .connectionParameterUpdateResponse(identifier: identifier, isAccepted: granted != nil), update: granted)
  }
}
