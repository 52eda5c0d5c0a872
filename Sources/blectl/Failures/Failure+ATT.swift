import ATT
import Text

extension Failure {
  init(_ error: ATTError) {
    switch error {
    case .violation(let violation):
      self.init(
        .protocolViolation,
        violation.endsBearer
          ? "\(violation.sentence); the connection is given up, because later answers could be taken for those of other requests"
          : violation.sentence)
    case .noResponse(to: let request, let handle, within: let limit):
      let place = handle.isValid ? " for handle \(handle)" : ""
      self.init(
        .timeout,
        "no answer to the \(Opcode.request(request))\(place) within \(limit.secondsText) s; the connection is given up, as the Attribute Protocol "
          + "asks. Connect again, or allow more time with --timeout")
    case .noConfirmation(of: let handle, within: let limit):
      self.init(.timeout, "no confirmation of the indication on handle \(handle) within \(limit.secondsText) s: the bearer is closed")
    case .nothingGotThrough(for: let limit):
      self.init(
        .timeout,
        "nothing that was sent got through for \(limit.secondsText) s: the controller reported no packet as delivered. Check that the device is in "
          + "range and the adapter works, then connect again")
    case .closedByThisSide: self.init(.linkLost, "the connection was closed by blectl")
    }
  }
}

extension Violation {
  /// At most 32 octets are shown.
  var sentence: String {
    let shown = octets.isEmpty ? "no octets" : Hex.encode(octets.prefix(32)) + (octets.count > 32 ? "… (\(octets.count) octets)" : "")
    return "the peer broke the Attribute Protocol: \(opcode) [\(shown)]: \(reason)"
  }
}
