package import BluetoothLE

// These operators compare sent commands with command values.

package func == (packet: CommandPacket?, command: some Command) -> Bool { packet == .some(command.packet) }

package func == (packets: some Collection<CommandPacket>, commands: [any Command]) -> Bool { Array(packets) == commands.map { $0.packet } }

extension [CommandPacket] {
  package func contains(_ command: some Command) -> Bool { contains(command.packet) }
}

extension Event {
  /// Returns a Command Complete with success.
  package static func complete(_ opcode: Opcode, _ returned: some ReturnParameters = NoReturnParameters(), credits: UInt8 = 1) -> Event {
    var writer = ByteWriter()
    returned.encode(into: &writer)
    return .commandComplete(Event.CommandComplete(credits: credits, opcode: opcode, parameters: [0] + writer.bytes))
  }

  package static func complete(_ opcode: Opcode, failed status: ControllerErrorCode) -> Event {
    .commandComplete(Event.CommandComplete(opcode: opcode, parameters: [status.rawValue]))
  }
}
