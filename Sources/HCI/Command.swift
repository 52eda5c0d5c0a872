package import Bluetooth

/// One HCI command, host to controller (Vol 4 Part E §7), declared in one place: opcode with name and supported bit, parameters, and how it
/// is answered. Encoded by the host, decoded by the virtual controller. The declarations stand in `Commands`, by the specification's sections.
package protocol Command: Sendable, Equatable {
  static var opcode: Opcode { get }
  /// A type of the command's own, `NoReturnParameters` or `HandleReturned` when Command Complete answers it; `AnsweredByStatus` when Command
  /// Status does, and another event tells later how it went.
  associatedtype Return: ReturnParameters
  /// - Parameter reader: the parameters; what is left over is refused by the caller.
  init(parsing reader: inout ByteReader) throws(MalformedPacket)
  /// Writes the parameters, at most 255 octets.
  func encode(into writer: inout ByteWriter)
}

extension Command {
  package var opcode: Opcode { Self.opcode }

  /// The event that answers the command when it succeeds.
  package static var answeringEvent: AnsweringEvent { Return.answeringEvent }

  package var packet: CommandPacket { CommandPacket(self) }

  /// H4 form.
  package var encoded: [UInt8] { packet.encoded }

  /// The command that the packet holds; nil for other commands, and for parameters that do not follow the format.
  package init?(_ packet: CommandPacket) {
    guard let command = try? packet.decoded(as: Self.self) else { return nil }
    self = command
  }
}

/// A command without parameters.
package protocol ParameterlessCommand: Command { init() }

extension ParameterlessCommand {
  package init(parsing reader: inout ByteReader) throws(MalformedPacket) { self.init() }

  package func encode(into writer: inout ByteWriter) {}
}

/// A command whose only parameter is a link.
package protocol HandleCommand: Command {
  var handle: ConnectionHandle { get }

  init(handle: ConnectionHandle)
}

extension HandleCommand {
  package init(parsing reader: inout ByteReader) throws(MalformedPacket) { self.init(handle: try reader.handle()) }

  package func encode(into writer: inout ByteWriter) { writer.handle(handle) }
}

/// A command whose parameters are a connection handle and a reason.
package protocol HandleReasonCommand: Command {
  var handle: ConnectionHandle { get }
  var reason: ControllerErrorCode { get }

  init(handle: ConnectionHandle, reason: ControllerErrorCode)
}

extension HandleReasonCommand {
  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    self.init(handle: try reader.handle(), reason: ControllerErrorCode(rawValue: try reader.uint8("reason")))
  }

  package func encode(into writer: inout ByteWriter) {
    writer.handle(handle)
    writer.uint8(reason.rawValue)
  }
}

/// A command whose parameters are a connection handle and connection parameters.
package protocol ConnectionParametersCommand: Command {
  var handle: ConnectionHandle { get }
  var parameters: ConnectionParameters { get }

  init(handle: ConnectionHandle, _ parameters: ConnectionParameters)
}

extension ConnectionParametersCommand {
  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    self.init(handle: try reader.handle(), try ConnectionParameters(parsing: &reader))
  }

  package func encode(into writer: inout ByteWriter) {
    writer.handle(handle)
    parameters.encode(into: &writer)
  }
}
