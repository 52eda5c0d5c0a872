package import Bluetooth

/// What a command returns when it succeeds: the fields after the status. When it fails nothing but the status counts: many controllers send
/// one octet only.
package protocol ReturnParameters: Sendable, Equatable {
  /// Whether Command Status answers the command, instead of Command Complete.
  static var areInStatus: Bool { get }
  /// - Parameter reader: after the status. Octets may be left over: later versions of the specification add fields.
  init(parsing reader: inout ByteReader) throws(MalformedPacket)
  func encode(into writer: inout ByteWriter)
}

extension ReturnParameters {
  package static var areInStatus: Bool { false }

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
package protocol EmptyReturnParameters: ReturnParameters {
  init()
}

extension EmptyReturnParameters {
  package init(parsing reader: inout ByteReader) throws(MalformedPacket) { self.init() }

  package func encode(into writer: inout ByteWriter) {}
}

/// Command Complete with a status.
package struct NoReturnParameters: EmptyReturnParameters {
  package init() {}
}

/// Command Status: the controller has begun; another event says later how it went.
package struct AnsweredByStatus: EmptyReturnParameters {
  package static var areInStatus: Bool { true }

  package init() {}
}

/// The link that the command was about.
package struct HandleReturned: ReturnParameters {
  package let handle: ConnectionHandle

  package init(_ handle: ConnectionHandle) { self.handle = handle }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) { handle = try reader.handle() }

  package func encode(into writer: inout ByteWriter) { writer.handle(handle) }
}
