// SPDX-License-Identifier: Apache-2.0
/// An error of a controller, or a state in which the host cannot use the controller.
package struct ControllerError: Error, Sendable, Equatable {
  package enum Fault: Sendable, Equatable {
    /// The controller refused a command, with the status of Command Complete or Command Status.
    case refused(Opcode, ControllerErrorCode)
    case silent(Opcode, after: Duration)
    /// The controller gave no command credit for the time `after`, so the host did not send the command (Vol 4 Part E §4.4).
    case starved(Opcode, after: Duration)
    /// The return parameters of the command are malformed.
    case unreadable(Opcode, MalformedPacket)
    /// The controller sent a Hardware Error event with this code (Vol 4 Part E §7.7.16).
    case hardware(UInt8)
    /// The controller sent a Data Buffer Overflow event (Vol 4 Part E §7.7.26), because it dropped packets of the host.
    case overflow
    /// The controller does not support Low Energy.
    case withoutLE
    /// The controller reports that it has no data buffers.
    case withoutBuffers
    /// The host of the controller has not started.
    case notStarted
    /// The host of the controller has closed.
    case closed
  }

  /// The name of the controller in messages.
  package let adapter: String
  package let fault: Fault

  package init(_ adapter: String, _ fault: Fault) { (self.adapter, self.fault) = (adapter, fault) }

  /// The status with which the controller refused a command. Nil for other faults.
  // The optimizer of Swift 6.3.1 crashes where it inlines this into an async function with several catch clauses.
  @inline(never) package var status: ControllerErrorCode? { if case .refused(_, let status) = fault { status } else { nil } }
}
