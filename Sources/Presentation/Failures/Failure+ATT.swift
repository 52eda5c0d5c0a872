import ATT
import Text

extension Failure {
  init(_ error: ATTError) {
    switch error {
    case .violation(let violation):
      self.init(
        .protocolViolation,
        violation.endsBearer
          ? "\(violation.sentence). Disconnected, because later answers could be mistaken for answers to other requests."
          : violation.sentence)
    case .noResponse(to: let request, let handle, within: let limit):
      let place = handle.isValid ? " (handle \(handle))" : ""
      self.init(
        .timeout,
        "No answer to the \(Opcode.request(request))\(place) in \(limit.secondsText) s. Disconnected, as the Attribute Protocol requires. "
          + "To wait longer: --timeout SECONDS")
    case .noConfirmation(of: let handle, within: let limit):
      self.init(
        .timeout,
        "No confirmation of the indication (handle \(handle)) in \(limit.secondsText) s. "
          + "Disconnected, as the Attribute Protocol requires.")
    case .nothingGotThrough(for: let limit):
      self.init(
        .timeout,
        "The controller delivered no packet for \(limit.secondsText) s. Check that the device is in range and the adapter works, then connect "
          + "again.")
    case .closedByThisSide: self.init(.linkLost, "Connection closed by blectl")
    }
  }
}

extension Violation {
  /// The violation as a sentence without a full stop. Shows at most 32 bytes.
  var sentence: String {
    let shown = octets.isEmpty ? "no bytes" : Hex.encode(octets.prefix(32)) + (octets.count > 32 ? "… (\(octets.count) bytes)" : "")
    return "The device violated the Attribute Protocol: \(opcode) [\(shown)]: \(reason)"
  }
}
