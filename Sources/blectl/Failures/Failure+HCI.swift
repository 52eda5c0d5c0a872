import Bluetooth
import HCI
import Text

extension Failure {
  init(_ error: ControllerError) {
    let name = error.adapter
    switch error.fault {
    case .refused(let opcode, let status):
      let hint =
        switch status {
        case .unknownCommand, .unsupportedFeature: ": it does not support that"
        case .unsupportedRemoteFeature: ": the other device does not support that"
        case .commandDisallowed: ": not in its present state; another program may be using it"
        case .unknownConnectionIdentifier: ": it has no such link"
        default: ""
        }
      self.init(.hci, "\(name) refused \(opcode): \(status)\(hint)", status: status)
    case .silent(let opcode, let limit):
      self.init(
        .adapter,
        "\(name) did not answer \(opcode) within \(limit.secondsText) s: is it a Bluetooth controller, powered, and not used by another program?"
      )
    case .starved(let opcode, let limit):
      self.init(
        .adapter,
        "\(name) accepts no commands: it gave no credit for \(opcode) within \(limit.secondsText) s (Num_HCI_Command_Packets is 0). Reset or replug it."
      )
    case .unreadable(let opcode, let reason): self.init(.protocolViolation, "\(name) answered \(opcode) with nonsense: \(reason)")
    case .hardware(let code):
      self.init(
        .adapter, "the controller \(name) reported a hardware error (0x\(Hex.encode(code))): reset or replug it",
        code: Int(code), name: "hardware_error")
    case .overflow:
      self.init(
        .linkLost,
        "the controller \(name) dropped data that it had no buffer for (Data Buffer Overflow), so the link was ended. Connect again",
        code: 0x1A, name: "data_buffer_overflow")
    case .withoutLE: self.init(.adapter, "\(name) is a Bluetooth Classic controller without Low Energy")
    case .withoutBuffers: self.init(.adapter, "\(name) says that it has no buffers for data")
    case .notStarted: self.init(.adapter, "\(name) is not started")
    case .closed: self.init(.adapter, "\(name) was closed")
    }
  }

  init(_ kind: Kind, _ message: String, status: ControllerErrorCode) {
    self.init(kind, message, code: Int(status.rawValue), name: status.snakeName)
  }
}
