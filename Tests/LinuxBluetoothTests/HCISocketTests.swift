import TestSupport

@testable import BluetoothLELinux

/// Tests which event answers a command.
@Suite(.timeLimit(.minutes(15))) struct HCISocketTests {
  @LoopActor
  private final class Rig {
    let controller = FakeController()
    let hci: HCISocket

    init() {
      hci = HCISocket(controller.pair.takeOther(), name: "hci0", tap: nil)
      controller.start()
    }

    isolated deinit { controller.stop() }
  }

  private static func status(_ opcode: Opcode, _ status: ControllerErrorCode = .success) -> Event {
    .commandStatus(Event.CommandStatus(status: status, opcode: opcode))
  }

  private static func complete(_ opcode: Opcode, _ parameters: [UInt8]) -> Event {
    .commandComplete(Event.CommandComplete(opcode: opcode, parameters: parameters))
  }

  private let update = LEConnectionUpdate(
    handle: 0x40, ConnectionParameters(intervalMin: 12, intervalMax: 12, latency: 0, supervisionTimeout: 400))

  @Test(.onLoop) @LoopActor func whatACommandReturnsIsWaitedFor() async throws {
    let rig = Rig()
    rig.controller.answers[ReadRSSI.opcode] = [
      Self.status(ReadRSSI.opcode), Self.complete(ReadRSSI.opcode, [0, 0x40, 0, 0xC3]),
    ]
    let returned = try await rig.hci.send(ReadRSSI(handle: 0x40), for: .changingConnection)
    #expect(returned == ReadRSSI.Return(handle: 0x40, rssi: -61))
  }

  @Test func aProcedureHasBegunWhenCommandStatusSaysSo() async throws {
    let update = update
    try await onLoop(with: Rig()) { rig in
      rig.controller.answers[LEConnectionUpdate.opcode] = [Self.complete(LEConnectionUpdate.opcode, [0])]
      await #expect(throws: AdapterProblem.silent("hci0", LEConnectionUpdate.opcode, after: .seconds(3))) {
        try await rig.hci.send(update, for: .changingConnection)
      }
      rig.controller.answers[LEConnectionUpdate.opcode] = [
        Self.complete(LEConnectionUpdate.opcode, [0]), Self.status(LEConnectionUpdate.opcode),
      ]
      try await rig.hci.send(update, for: .changingConnection)
    }
  }

  @Test(.onLoop) @LoopActor func aScanCommandIsAnsweredByCommandComplete() async throws {
    let rig = Rig()
    let enable = LESetScanEnable(true, filterDuplicates: false).packet
    rig.controller.answers[enable.opcode] = [Self.status(enable.opcode), Self.complete(enable.opcode, [0x0C])]
    var statuses: [ControllerErrorCode] = []
    try await rig.hci.send(enable, for: .scanning) { statuses.append($0) }
    #expect(statuses == [.commandDisallowed])
  }

  /// Controllers refuse unknown commands with either event.
  @Test func aRefusalMayComeEitherWay() async throws {
    let update = update
    try await onLoop(with: Rig()) { rig in
      for event in [Self.complete(LEConnectionUpdate.opcode, [1]), Self.status(LEConnectionUpdate.opcode, .unknownCommand)] {
        rig.controller.answers[LEConnectionUpdate.opcode] = [event]
        await #expect(throws: ControllerError("hci0", .refused(LEConnectionUpdate.opcode, .unknownCommand))) {
          try await rig.hci.send(update, for: .changingConnection)
        }
      }
      for event in [Self.complete(ReadRSSI.opcode, [2]), Self.status(ReadRSSI.opcode, .unknownConnectionIdentifier)] {
        rig.controller.answers[ReadRSSI.opcode] = [event]
        await #expect(throws: ControllerError("hci0", .refused(ReadRSSI.opcode, .unknownConnectionIdentifier))) {
          try await rig.hci.send(ReadRSSI(handle: 0x40), for: .changingConnection)
        }
      }
    }
  }
}

/// A controller at the other end of a raw HCI socket. It records commands and answers them from a table.
@LoopActor
final class FakeController {
  let pair = SocketPair()
  private(set) var commands: [CommandPacket] = []
  var answers: [Opcode: [Event]] = [:]
  /// A rule that replaces the table if its result is not nil.
  var rule: (@LoopActor (CommandPacket) -> [Event]?)?
  /// Called before each answer.
  var onCommand: (@LoopActor (CommandPacket) -> Void)?
  private var isRunning = true

  func status(_ opcode: Opcode, _ code: UInt8, then events: Event...) {
    answers[opcode] = [.commandComplete(Event.CommandComplete(opcode: opcode, parameters: [code]))] + events
  }

  func start() {
    EventLoop.shared.spawn {
      while self.isRunning {
        while let packet = self.pair.read(), case .command(let command)? = try? Packet(packet) {
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
