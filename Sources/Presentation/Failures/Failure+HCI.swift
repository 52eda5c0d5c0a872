package import Bluetooth
import HCI
import Text

extension Failure {
  init(_ error: ControllerError) {
    let name = error.adapter
    switch error.fault {
    case .refused(let opcode, let status):
      let hint =
        switch status {
        case .unknownCommand, .unsupportedFeature: " It does not support this command."
        case .unsupportedRemoteFeature: " The device does not support this."
        case .commandDisallowed: " Another program may be using the adapter."
        case .unknownConnectionIdentifier: " It has no such connection."
        default: ""
        }
      self.init(.hci, "\(name) refused \(opcode): \(status.name) (\(status.tag)).\(hint)", status: status)
    case .silent(let opcode, let limit):
      self.init(
        .adapter,
        "\(name) did not answer \(opcode) in \(limit.secondsText) s. Check that it is a Bluetooth controller, is powered, and is not in use."
      )
    case .starved(let opcode, let limit):
      self.init(
        .adapter,
        "\(name) accepts no commands: no credit for \(opcode) in \(limit.secondsText) s (Num_HCI_Command_Packets is 0). Reset or replug it."
      )
    case .unreadable(let opcode, let reason): self.init(.protocolViolation, "\(name) sent an invalid answer to \(opcode): \(reason)")
    case .hardware(let code):
      self.init(
        .adapter, "\(name) reported a hardware error (0x\(Hex.encode(code))). Reset or replug it.",
        code: Int(code), name: "hardware_error")
    case .overflow:
      self.init(
        .linkLost,
        "Connection lost: \(name) dropped data that it had no buffer for (Data Buffer Overflow)",
        code: 0x1A, name: "data_buffer_overflow")
    case .withoutLE: self.init(.adapter, "\(name) does not support Bluetooth LE: it is a Bluetooth Classic controller.")
    case .withoutBuffers: self.init(.adapter, "\(name) reports no data buffers.")
    case .notStarted: self.init(.adapter, "\(name) is not started.")
    case .closed: self.init(.adapter, "\(name) was closed.")
    }
  }

  package init(_ kind: Kind, _ message: String, status: ControllerErrorCode) {
    self.init(kind, message, code: Int(status.rawValue), name: status.snakeName)
  }
}

extension ControllerErrorCode {
  /// The error code in the form of messages: `HCI 0x13`.
  var tag: String { "HCI 0x\(Hex.encode(rawValue))" }
}
