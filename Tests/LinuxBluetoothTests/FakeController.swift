import EventLoop
import HCI
import TestSupport

/// A controller at the other end of a raw HCI socket. It records commands and answers them from a table.
@LoopActor
final class FakeController {
  let pair = SocketPair()
  private(set) var commands: [CommandPacket] = []
  var answers: [HCI.Opcode: [HCI.Event]] = [:]
  /// A rule that replaces the table if its result is not nil.
  var rule: (@LoopActor (CommandPacket) -> [HCI.Event]?)?
  /// Called before each answer.
  var onCommand: (@LoopActor (CommandPacket) -> Void)?
  private var isRunning = true

  func status(_ opcode: HCI.Opcode, _ code: UInt8, then events: HCI.Event...) {
    answers[opcode] = [.commandComplete(HCI.Event.CommandComplete(opcode: opcode, parameters: [code]))] + events
  }

  func start() {
    EventLoop.shared.spawn {
      while self.isRunning {
        while let packet = self.pair.read(), case .command(let command)? = try? HCI.Packet(packet) {
          self.commands.append(command)
          self.onCommand?(command)
          for event in self.rule?(command) ?? self.answers[command.opcode] ?? [] { try? self.pair.write(event.encoded) }
        }
        try? await self.pair.settle()
      }
    }
  }

  func stop() { isRunning = false }
}
