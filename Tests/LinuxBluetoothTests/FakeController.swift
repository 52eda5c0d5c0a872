import EventLoop
import HCI
import TestSupport

/// A controller at the other end of a raw HCI socket: answers commands as a table says, and keeps them.
@LoopActor
final class FakeController {
  let pair = SocketPair()
  private(set) var commands: [CommandPacket] = []
  var answers: [HCI.Opcode: [HCI.Event]] = [:]
  /// Instead of the table where it gives something.
  var rule: (@LoopActor (CommandPacket) -> [HCI.Event]?)?
  /// Called before the answer.
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
