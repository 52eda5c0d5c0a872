// SPDX-License-Identifier: Apache-2.0
/// A type of event that answers commands (Vol 4 Part E §7.7.14 and §7.7.15).
package enum AnsweringEvent: Sendable {
  case commandComplete
  case commandStatus

  /// Returns whether an event of this type answers a command that declares the type `declared`. Either type may refuse a command.
  /// Success needs the declared type. Command Status has no return parameters, and Command Complete does not start a procedure.
  package func isAnswer(declared: Self, status: ControllerErrorCode?) -> Bool { status != .success || self == declared }
}

/// The return parameters of a successful command, without the status. The answer to a failed command may consist of the status only.
package protocol ReturnParameters: Sendable, Equatable {
  static var answeringEvent: AnsweringEvent { get }
  /// Parses the return parameters after the status.
  /// - Parameter reader: The reader, after the status. Bytes may remain, because later versions of the specification add fields.
  init(parsing reader: inout ByteReader) throws(MalformedPacket)
  func encode(into writer: inout ByteWriter)
}

extension ReturnParameters {
  package static var answeringEvent: AnsweringEvent { .commandComplete }

  /// Decodes return parameters that start with the status.
  /// - Parameter bytes: The return parameters of a Command Complete event.
  /// - Returns: The parameters after the status, or a failure with a status other than Success.
  package static func decode(_ bytes: [UInt8]) throws(MalformedPacket) -> Result<Self, ControllerErrorCode> {
    guard let status = bytes.first else { throw MalformedPacket("no status", at: 0) }
    guard status == 0 else { return .failure(ControllerErrorCode(rawValue: status)) }
    var reader = ByteReader(bytes[1...])
    return .success(try Self(parsing: &reader))
  }
}

/// Return parameters that consist of the status only.
package protocol EmptyReturnParameters: ReturnParameters { init() }

extension EmptyReturnParameters {
  package init(parsing reader: inout ByteReader) throws(MalformedPacket) { self.init() }

  package func encode(into writer: inout ByteWriter) {}
}

/// The return parameters of a command that Command Complete answers with a status only.
package struct NoReturnParameters: EmptyReturnParameters { package init() {} }

/// The empty return parameters of a command that Command Status answers. A later event reports the outcome.
package struct AnsweredByStatus: EmptyReturnParameters {
  package static var answeringEvent: AnsweringEvent { .commandStatus }

  package init() {}
}

/// The return parameters that consist of the connection handle from the command.
package struct HandleReturned: ReturnParameters {
  package let handle: ConnectionHandle

  package init(_ handle: ConnectionHandle) { self.handle = handle }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) { handle = try reader.handle() }

  package func encode(into writer: inout ByteWriter) { writer.handle(handle) }
}
