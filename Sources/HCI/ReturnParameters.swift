package import Bluetooth

/// The two events that answer a command (Vol 4 Part E §7.7.14 and §7.7.15).
package enum AnsweringEvent: Sendable {
  case commandComplete
  case commandStatus

  /// Whether this event, with this status, is the answer to a command that is declared to have its answer in `declared`. A refusal may come either
  /// way. A success comes as declared: Command Status does not bring what a command returns, nor does Command Complete say that a procedure
  /// has begun.
  package func isAnswer(declared: Self, status: ControllerErrorCode?) -> Bool { status != .success || self == declared }
}

/// What a command returns when it succeeds: the fields after the status. When it fails nothing but the status counts: many controllers send
/// one octet only.
package protocol ReturnParameters: Sendable, Equatable {
  static var answeringEvent: AnsweringEvent { get }
  /// - Parameter reader: after the status. Octets may be left over: later versions of the specification add fields.
  init(parsing reader: inout ByteReader) throws(MalformedPacket)
  func encode(into writer: inout ByteWriter)
}

extension ReturnParameters {
  package static var answeringEvent: AnsweringEvent { .commandComplete }

  /// - Parameter octets: the return parameters of a Command Complete event, status first.
  /// - Returns: failure for a status that is not Success.
  package static func decode(_ octets: [UInt8]) throws(MalformedPacket) -> Result<Self, ControllerErrorCode> {
    guard let status = octets.first else { throw MalformedPacket("no status", at: 0) }
    guard status == 0 else { return .failure(ControllerErrorCode(rawValue: status)) }
    var reader = ByteReader(octets[1...])
    return .success(try Self(parsing: &reader))
  }
}

/// Nothing comes back but the status.
package protocol EmptyReturnParameters: ReturnParameters { init() }

extension EmptyReturnParameters {
  package init(parsing reader: inout ByteReader) throws(MalformedPacket) { self.init() }

  package func encode(into writer: inout ByteWriter) {}
}

/// Command Complete with a status.
package struct NoReturnParameters: EmptyReturnParameters { package init() {} }

/// Command Status: the controller has begun; another event says later how it went.
package struct AnsweredByStatus: EmptyReturnParameters {
  package static var answeringEvent: AnsweringEvent { .commandStatus }

  package init() {}
}

/// The link that the command was about.
package struct HandleReturned: ReturnParameters {
  package let handle: ConnectionHandle

  package init(_ handle: ConnectionHandle) { self.handle = handle }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) { handle = try reader.handle() }

  package func encode(into writer: inout ByteWriter) { writer.handle(handle) }
}
