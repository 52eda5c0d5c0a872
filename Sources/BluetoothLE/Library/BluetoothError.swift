// SPDX-License-Identifier: Apache-2.0
/// An error of the library: the reason for programs, a description for people, and the fact behind both.
///
/// All calls of the library throw it, or CancellationError after a cancellation of the task. <doc:Errors> tells what to do about each
/// reason.
public struct BluetoothError: Error, Sendable, CustomStringConvertible {
  /// The kind of a failure.
  public enum Reason: Sendable, Hashable {
    /// The adapter is missing, not permitted, out of order, or used by another program.
    case adapter
    /// No device, service, characteristic or descriptor matches.
    case notFound
    /// Several characteristics or devices match.
    case ambiguous
    /// The other side did not answer within its limit. ``TimeLimits`` lists the limits.
    case timeout
    /// The link is lost, or could not be established.
    case disconnected
    /// The device refused a request with an ATT error code, such as 0x03, Write Not Permitted (Vol 3 Part F §3.4.1.1).
    case refused(UInt8)
    /// The device demands more security, or the link has less than the caller demanded.
    case security
    /// A pairing failed.
    case pairing
    /// The device does not have the file that was sent.
    case verification
    /// The device, the controller or the characteristic cannot do this.
    case unsupported
    /// The device or the controller broke a rule of the specification.
    case protocolViolation
    /// A value or a name is not valid. Nothing was sent.
    case invalidArgument
    /// Values were lost, because the caller was too slow.
    case overrun
    /// Virtual and real time were mixed in one process.
    case clock
    /// Another error, which ``BluetoothError/underlying`` tells.
    case other
  }

  /// The kind of the failure, for programs.
  public let reason: Reason
  /// A sentence for people: the failed operation, its object and the cause.
  public let description: String
  /// The fact behind the error, as the layer that noticed it describes it, for logs. Its type is not public. Nil if there is none.
  public let underlying: (any Error)?

  init(_ reason: Reason, _ description: String, _ underlying: (any Error)?) {
    (self.reason, self.description, self.underlying) = (reason, description, underlying)
  }

  /// Returns an error with which ``LocalDevice/Characteristic/onRead`` and ``LocalDevice/Characteristic/onWrite`` refuse a request.
  /// - Parameter code: The ATT error code, such as 0x80…0x9F for an error of the application (Vol 3 Part F §3.4.1.1). 0 counts as 0x0E.
  public static func refusal(_ code: UInt8) -> BluetoothError {
    BluetoothError(.refused(code), "The device refuses it: \(ErrorCode(rawValue: code)).", nil)
  }

  /// Whether the cause may be temporary, so that an attempt on a new link may succeed.
  public var mayPass: Bool { underlying.map { ReconnectPolicy.mayPass($0) } ?? false }

  /// Runs `body`, and turns its errors into errors of the library. Cancellations stay as they are.
  static func wrapping<Value>(_ body: () async throws -> Value) async throws -> Value {
    do { return try await body() } catch {
      if error is CancellationError { throw error }
      throw BluetoothError(error)
    }
  }
}
