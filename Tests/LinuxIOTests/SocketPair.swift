import EventLoop
import Glibc
import HCI

@testable import LinuxIO

/// The test's end of a pair of connected packet sockets.
@LoopActor
final class SocketPair {
  private var descriptor: OwnedDescriptor
  private var taken: Int32

  init(_ type: __socket_type = SOCK_SEQPACKET) {
    var ends: [Int32] = [-1, -1]
    _ = unsafe socketpair(AF_UNIX, Int32(type.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends)
    descriptor = OwnedDescriptor(ends[0])
    taken = ends[1]
  }

  /// The other end, once.
  func takeOther() -> OwnedDescriptor {
    defer { taken = -1 }
    return OwnedDescriptor(taken)
  }

  func write(_ packet: [UInt8]) throws {
    let number = descriptor.rawValue
    try SystemCall.call { packet.withUnsafeBytes { send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) } }
  }

  /// The next packet; nil when there is none now or ever.
  func read() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65_600)
    guard let count = try? SystemCall.read(descriptor.rawValue, into: &buffer) else { return nil }
    return Array(buffer[..<count])
  }

  func close() { descriptor.close() }

  /// Lets the loop look at its descriptors: in virtual time a timer fires only when none is ready.
  func settle() async throws { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
}

/// A controller at the other end of a raw HCI socket: answers commands as a table says, and keeps them.
@LoopActor
final class FakeController {
  let pair = SocketPair()
  private(set) var commands: [HCI.Command] = []
  var answers: [HCI.Opcode: [HCI.Event]] = [:]
  /// Called before the answer.
  var onCommand: (@LoopActor (HCI.Command) -> Void)?
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
          for event in self.answers[command.opcode] ?? [] { try? self.pair.write(event.encoded) }
        }
        try? await self.pair.settle()
      }
    }
  }

  func stop() { isRunning = false }
}
