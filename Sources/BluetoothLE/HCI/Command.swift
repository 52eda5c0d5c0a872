// SPDX-License-Identifier: Apache-2.0
/// An HCI command from host to controller, with its opcode, parameters and answer (Vol 4 Part E §7).
/// The host encodes commands, and the virtual controller decodes them. `Commands/Commands.txt` declares each command once.
package protocol Command: Sendable, Equatable {
  static var opcode: Opcode { get }
  /// The return parameters of Command Complete. `AnsweredByStatus` for a command that Command Status answers.
  associatedtype Return: ReturnParameters
  /// Parses the parameters. The caller rejects remaining bytes.
  init(parsing reader: inout ByteReader) throws(MalformedPacket)
  /// Writes the parameters, at most 255 bytes.
  func encode(into writer: inout ByteWriter)
}

extension Command {
  package var opcode: Opcode { Self.opcode }

  /// The event that answers a successful command.
  package static var answeringEvent: AnsweringEvent { Return.answeringEvent }

  package var packet: CommandPacket { CommandPacket(self) }

  /// The command in H4 form.
  package var encoded: [UInt8] { packet.encoded }

  /// Decodes the command in a packet. Nil if the packet contains another command or malformed parameters.
  package init?(_ packet: CommandPacket) {
    guard let command = try? packet.decoded(as: Self.self) else { return nil }
    self = command
  }
}
