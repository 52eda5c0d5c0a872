package import Bluetooth

/// The two events that answer a command (Vol 4 Part E §7.7.14 and §7.7.15).
package enum AnsweringEvent: Sendable {
  case commandComplete
  case commandStatus

  /// Returns whether this event with this status answers a command with this declared answer. Either event may refuse a command.
  /// Success needs the declared event: Command Status has no return parameters, and Command Complete does not mean that
  /// a procedure has started.
  package func isAnswer(declared: Self, status: ControllerErrorCode?) -> Bool { status != .success || self == declared }
}

/// The return parameters of a successful command: the fields after the status. For a failed command, only the status counts:
/// many controllers send one byte only.
package protocol ReturnParameters: Sendable, Equatable {
  static var answeringEvent: AnsweringEvent { get }
  /// Parses the fields.
  /// - Parameter reader: after the status. Bytes may remain, because later versions of the specification add fields.
  init(parsing reader: inout ByteReader) throws(MalformedPacket)
  func encode(into writer: inout ByteWriter)
}

extension ReturnParameters {
  package static var answeringEvent: AnsweringEvent { .commandComplete }

  /// Decodes return parameters.
  /// - Parameter octets: the return parameters of a Command Complete event, status first.
  /// - Returns: failure for a status other than Success.
  package static func decode(_ octets: [UInt8]) throws(MalformedPacket) -> Result<Self, ControllerErrorCode> {
    guard let status = octets.first else { throw MalformedPacket("no status", at: 0) }
    guard status == 0 else { return .failure(ControllerErrorCode(rawValue: status)) }
    var reader = ByteReader(octets[1...])
    return .success(try Self(parsing: &reader))
  }
}

/// Return parameters that consist of the status only.
package protocol EmptyReturnParameters: ReturnParameters { init() }

extension EmptyReturnParameters {
  package init(parsing reader: inout ByteReader) throws(MalformedPacket) { self.init() }

  package func encode(into writer: inout ByteWriter) {}
}

/// The answer Command Complete with a status.
package struct NoReturnParameters: EmptyReturnParameters { package init() {} }

/// The answer Command Status: the controller has started, and another event will report the outcome.
package struct AnsweredByStatus: EmptyReturnParameters {
  package static var answeringEvent: AnsweringEvent { .commandStatus }

  package init() {}
}

/// The connection handle of the command, as the only return parameter.
package struct HandleReturned: ReturnParameters {
  package let handle: ConnectionHandle

  package init(_ handle: ConnectionHandle) { self.handle = handle }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) { handle = try reader.handle() }

  package func encode(into writer: inout ByteWriter) { writer.handle(handle) }
}
