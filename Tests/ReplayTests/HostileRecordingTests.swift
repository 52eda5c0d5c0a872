import ATT
import Bluetooth
import EventLoop
import HCI
import Replay
import TestSupport
import Testing

/// Traces are files from anywhere, and so is what is asked of them.
@Suite(.timeLimit(.minutes(15))) struct HostileRecordingTests {
  /// Reads a trace and asks its links for everything in it, and for more. Whatever the octets are, it returns.
  static func fuzz(_ file: [UInt8]) {
    guard let recording = try? Recording(parsing: file) else { return }
    for link in recording.links.prefix(4) {
      var answerer = Answerer(link, others: Array(recording.links.prefix(4)))
      for item in link.requests.prefix(16) { _ = answerer.answer(item.pdu) }
      for pdu in questions { _ = answerer.answer(pdu) }
      for item in link.requests.prefix(16) { if let response = item.response { _ = answerer.answer(response) } }
    }
  }

  static let questions: [[UInt8]] = [
    [0x02, 0, 0], [0x04, 1, 0, 0xFF, 0xFF], [0x08, 1, 0, 0xFF, 0xFF, 3, 0x28], [0x08, 1, 0, 0xFF, 0xFF, 0xE1, 0xFF],
    [0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], [0x06, 1, 0, 0xFF, 0xFF, 0, 0x28, 0xE0, 0xFF], [0x0A, 6, 0], [0x0C, 6, 0, 0xFF, 0xFF],
    [0x12, 7, 0, 0, 0], [0x08, 1, 0, 0xFF, 0xFF, 2, 0x29],
  ]

  static var seed: [UInt8] {
    var trace = AnswererTests.session()
    trace.raw(ReadRSSI(handle: 0x40).encoded, .hostToController)
    trace.raw(Event.commandComplete(.init(opcode: ReadRSSI.opcode, parameters: [0, 0x40, 0, 0xC0])).encoded, .controllerToHost)
    trace.raw(Event.numberOfCompletedPackets([.init(handle: 0x40, count: 3)]).encoded, .controllerToHost)
    trace.raw(Event.disconnectionComplete(status: .success, handle: 0x40, reason: .connectionTimeout).encoded, .controllerToHost)
    trace.att([0x0B, 9], .controllerToHost)
    return trace.file
  }

  @Test func nothingTraps() { hostile([Self.seed], mutations: 10_000, decode: Self.fuzz) }

  /// Mutations of the packets themselves, which those of a whole file would rarely reach.
  @Test func noPacketTraps() throws {
    let records = try Snoop.parse(Self.seed)
    var random = SplitMix64(seed: 7)
    for _ in 0..<10_000 {
      var file = Snoop.header
      for var record in records {
        if random.next() % 8 == 0, !record.packet.isEmpty {
          record.packet[Int(random.next() % UInt64(record.packet.count))] = UInt8(truncatingIfNeeded: random.next())
        }
        if random.next() % 16 == 0 { record.packet = Array(record.packet.prefix(Int(random.next() % 8))) }
        if random.next() % 16 != 0 { file += record.encoded }
      }
      Self.fuzz(file)
    }
  }

  /// A host that does as it likes, on recordings that are what they are.
  @Test func noHostTraps() async throws {
    try await onLoop {
      let records = try Snoop.parse(Self.seed)
      var random = SplitMix64(seed: 11)
      for _ in 0..<300 {
        var file = Snoop.header
        for var record in records {
          if random.next() % 8 == 0 {
            record.packet[Int(random.next() % UInt64(record.packet.count))] = UInt8(truncatingIfNeeded: random.next())
          }
          file += record.encoded
        }
        let transport = ReplayTransport(try Recording(parsing: file))
        transport.handler = { _ in }
        for record in records where record.direction == .hostToController {
          var packet = record.packet
          if random.next() % 4 == 0 { packet[Int(random.next() % UInt64(packet.count))] = UInt8(truncatingIfNeeded: random.next()) }
          transport.send(packet)
          try await EventLoop.shared.sleep(for: .milliseconds(1))
        }
        // Commands about a link that do not say which.
        for opcode in [Disconnect.opcode, ReadRSSI.opcode, LEConnectionUpdate.opcode] {
          for parameters in [[], [0x40]] as [[UInt8]] {
            transport.send(Packet.command(CommandPacket(opcode: opcode, parameters: parameters)).encoded)
          }
        }
        transport.close()
      }
    }
  }
}
