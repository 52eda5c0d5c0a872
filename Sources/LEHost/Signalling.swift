import Bluetooth
import HCI

/// The LE signalling channel, L2CAP channel 5 (Vol 3 Part A §4): a central has to answer.
enum Signalling {
  enum Answer: Equatable {
    case reply([UInt8])
    /// Reply, then ask the controller for these.
    case update(reply: [UInt8], ConnectionParameters)
  }

  /// - Parameter payload: of one frame; LE allows one command in it.
  /// - Parameter judge: what of the wanted parameters, which are valid, the link will get; nil refuses.
  /// - Returns: nil for what must not be answered: responses, and packets without an identifier to answer to.
  static func answer(
    _ payload: [UInt8], judge: (ConnectionParameters) -> ConnectionParameters? = { $0 }
  ) -> Answer? {
    var reader = ByteReader(payload)
    guard let code = try? reader.uint8("code"), let identifier = try? reader.uint8("identifier"), let length = try? reader.uint16("length"),
      identifier != 0
    else { return nil }
    // Command Reject and the responses: answering those could go on for ever.
    if [0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x15, 0x18, 0x1A].contains(code) { return nil }
    guard code == 0x12, length == 8, reader.remaining == 8, let intervalMin = try? reader.uint16("interval min"),
      let intervalMax = try? reader.uint16("interval max"), let latency = try? reader.uint16("latency"),
      let timeout = try? reader.uint16("timeout")
    else {
      // Command Reject: command not understood.
      return .reply([0x01, identifier, 2, 0, 0, 0])
    }
    let wanted = ConnectionParameters(
      intervalMin: intervalMin, intervalMax: intervalMax, latency: latency, supervisionTimeout: timeout)
    // Connection Parameter Update Response: 0 accepted, 1 rejected.
    guard wanted.isValid, let granted = judge(wanted) else { return .reply([0x13, identifier, 2, 0, 1, 0]) }
    return .update(reply: [0x13, identifier, 2, 0, 0, 0], granted)
  }
}
