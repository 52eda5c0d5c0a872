// SPDX-License-Identifier: Apache-2.0
/// The handlers of a controller's commands, by opcode.
package struct CommandTable<Controller: AnyObject>: Sendable {
  private struct Entry: Sendable {
    /// The opcode, with the name and the supported bit that the command declares.
    let opcode: Opcode
    let answeringEvent: AnsweringEvent
    /// The handler, which returns the return parameters without the status.
    let run: @LoopActor @Sendable (Controller, CommandPacket) throws -> [UInt8]
  }

  private var entries: [Opcode: Entry] = [:]

  package init() {}

  package var supported: SupportedCommands { SupportedCommands(entries.values.map(\.opcode)) }

  /// Adds the handler of a command with return parameters.
  /// - Parameter body: The handler. It throws a status to refuse the command.
  package mutating func reply<C: Command>(
    to _: C.Type, _ body: @escaping @LoopActor @Sendable (Controller, C) throws(ControllerErrorCode) -> C.Return
  ) {
    entries[C.opcode] = Entry(opcode: C.opcode, answeringEvent: C.answeringEvent) { controller, packet in
      guard let command = try packet.decoded(as: C.self) else { return [] }
      var writer = ByteWriter(capacity: 66)
      try body(controller, command).encode(into: &writer)
      return writer.bytes
    }
  }

  /// Adds the handler of a command without return parameters.
  /// - Parameter body: The handler. It throws a status to refuse the command.
  package mutating func on<C: Command>(
    _ type: C.Type, _ body: @escaping @LoopActor @Sendable (Controller, C) throws(ControllerErrorCode) -> Void
  ) where C.Return: EmptyReturnParameters {
    reply(to: type) { (controller, command) throws(ControllerErrorCode) -> C.Return in
      try body(controller, command)
      return C.Return()
    }
  }

  /// Executes a command with its handler.
  /// - Parameter malformed: The callback for malformed parameters, after which the table refuses the command.
  /// - Returns: The event that answers the command.
  @LoopActor
  package func answer(
    _ packet: CommandPacket, by controller: Controller, malformed: @LoopActor (Opcode, MalformedPacket) -> Void
  ) -> Event {
    guard let entry = entries[packet.opcode] else { return refusal(packet.opcode, .unknownCommand) }
    do {
      let returned = try entry.run(controller, packet)
      if entry.answeringEvent == .commandStatus { return .commandStatus(Event.CommandStatus(status: .success, opcode: packet.opcode)) }
      return .commandComplete(Event.CommandComplete(opcode: packet.opcode, parameters: [0] + returned))
    } catch let status as ControllerErrorCode {
      return refusal(packet.opcode, status)
    } catch {
      if let error = error as? MalformedPacket { malformed(entry.opcode, error) }
      return refusal(packet.opcode, .invalidParameters)
    }
  }

  /// Returns the event that refuses a command. Unknown commands get Command Status, and other commands the event that answers a success.
  package func refusal(_ opcode: Opcode, _ status: ControllerErrorCode) -> Event {
    if entries[opcode]?.answeringEvent ?? .commandStatus == .commandStatus {
      return .commandStatus(Event.CommandStatus(status: status, opcode: opcode))
    }
    return .commandComplete(Event.CommandComplete(opcode: opcode, parameters: [status.rawValue]))
  }
}
