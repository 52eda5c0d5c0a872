package import Bluetooth

/// What a controller did, or did not do, instead of what its host wanted.
package struct ControllerError: Error, Sendable, Equatable {
  package enum Fault: Sendable, Equatable {
    /// With the status of Command Complete or Command Status.
    case refused(Opcode, ControllerErrorCode)
    case silent(Opcode, after: Duration)
    /// No command credit (Vol 4 Part E §4.4): the command was not sent.
    case starved(Opcode, after: Duration)
    /// Return parameters that do not follow their format.
    case unreadable(Opcode, MalformedPacket)
    /// Hardware Error event (Vol 4 Part E §7.7.16), with its code.
    case hardware(UInt8)
    /// Data Buffer Overflow event (Vol 4 Part E §7.7.26): it dropped packets of the host.
    case overflow
    /// A controller without Low Energy.
    case withoutLE
    /// It says that it has no buffers for data.
    case withoutBuffers
    /// Its host was not started.
    case notStarted
    /// Its host was closed.
    case closed
  }

  /// As the user knows the controller.
  package let adapter: String
  package let fault: Fault

  package init(_ adapter: String, _ fault: Fault) {
    self.adapter = adapter
    self.fault = fault
  }

  /// The status with which a command was refused; nil for other faults.
  package var status: ControllerErrorCode? { if case .refused(_, let status) = fault { status } else { nil } }
}
