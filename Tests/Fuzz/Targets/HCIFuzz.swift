import TestSupport
import Traces

extension FuzzTarget {
  /// An H4 stream, whole and in pieces. The host, the controller and `decode` read each packet.
  static let h4 = FuzzTarget("h4") { bytes in
    var tape = Tape(bytes)
    let choice = tape.byte()
    let sender: Direction = choice & 1 == 0 ? .controllerToHost : .hostToController
    let stream = Array(tape.rest)
    let packets = cut(stream, sender, pieces: max(1, stream.count))
    expect(packets == cut(stream, sender, pieces: 1 + Int(choice >> 1)), "the packets depend on the pieces")
    for packet in packets {
      _ = DecodedPacket(hci: packet)
      read(packet)
    }
  }

  private static func cut(_ stream: [UInt8], _ sender: Direction, pieces: Int) -> [[UInt8]] {
    var framer = H4Framer(sender)
    var packets: [[UInt8]] = []
    for start in stride(from: 0, to: stream.count, by: pieces) {
      framer.append(stream[start..<min(start + pieces, stream.count)])
      while let packet = try? framer.next() { packets.append(packet) }
    }
    return packets
  }

  private static func read(_ bytes: [UInt8]) {
    guard let packet = try? Packet(bytes) else { return }
    let written = packet.encoded
    // An event with a malformed report is written with its valid reports.
    expect((try? Packet(written))?.encoded == written, "what is written of a packet is read as another")
    switch packet {
    case .command(let command): for type in commands { check(type, CommandPacket(opcode: type.opcode, parameters: command.parameters)) }
    case .event(.commandComplete(let complete)): for type in commands { returned(type, complete.parameters) }
    case .event(.leExtendedAdvertisingReports(let event)):
      var parts = ExtendedReportReassembler()
      for (index, report) in event.reports.enumerated() { _ = parts.add(report, at: Int64(index) << 30) }
      _ = parts.expire(at: .max)
    case .event, .acl, .unknown: break
    }
  }

  private static func check<C: Command>(_: C.Type, _ packet: CommandPacket) {
    guard let command = C(packet) else { return }
    expect(C(command.packet) == command, "\(C.self): what is written of it is read as another")
  }

  private static func returned<C: Command>(_: C.Type, _ parameters: [UInt8]) {
    guard case .success(let returned)? = try? C.Return.decode(parameters) else { return }
    let event = Event.CommandComplete(C.self, returned)
    guard case .success(let again)? = try? C.Return.decode(event.parameters) else { return expect(false, "\(C.Return.self) is not read") }
    expect(again == returned, "\(C.Return.self): what is written of it is read as another")
  }

  private static let commands: [any Command.Type] = [
    SetEventMask.self, Reset.self, ReadLocalVersion.self, ReadLocalSupportedCommands.self, ReadLocalSupportedFeatures.self,
    ReadBufferSize.self, ReadBDADDR.self, LECreateConnection.self, LECreateConnectionCancel.self, LEExtendedCreateConnection.self,
    LEConnectionUpdate.self, LEReadRemoteFeatures.self, LERemoteConnectionParameterRequestReply.self,
    LERemoteConnectionParameterRequestNegativeReply.self, LESetEventMask.self, LEReadBufferSize.self,
    LEReadLocalSupportedFeatures.self, LESetRandomAddress.self, LESetDataLength.self, LEReadSuggestedDefaultDataLength.self,
    LEWriteSuggestedDefaultDataLength.self, LEReadMaximumDataLength.self, LEReadPHY.self, LESetDefaultPHY.self, LESetPHY.self,
    LESetScanParameters.self, LESetScanEnable.self, LESetExtendedScanParameters.self, LESetExtendedScanEnable.self, Disconnect.self,
    ReadRemoteVersion.self, ReadRSSI.self,
  ]

  /// Fragments of a link, with length and start flag, their frames, and the answers to these.
  static let l2cap = FuzzTarget("l2cap") { bytes in
    var tape = Tape(bytes)
    var recombination = Recombination()
    while !tape.isAtEnd {
      let head = tape.byte()
      guard let frame = recombination.add(tape.bytes(Int(head >> 1)), isStart: head & 1 == 1) else { continue }
      expect(joined(frame.fragments(length: Int(tape.byte()))) == frame, "its own fragments make another frame")
      _ = (DecodedPacket(signalling: frame.payload), DecodedPacket(securityManager: frame.payload))
      if let pdu = try? SignallingPDU(frame.payload) {
        expect((try? SignallingPDU(pdu.encoded)) == pdu, "what is written of a signalling PDU is read as another")
      }
      guard let answer = Signalling.answer(frame.payload, deciding: { $0 }) else { continue }
      expect(Signalling.answer(answer.reply.encoded) == nil, "an answer is answered")
      expect(answer.update?.isValid ?? true, "parameters out of range are granted")
    }
  }

  private static func joined(_ fragments: [[UInt8]]) -> L2CAPFrame? {
    var recombination = Recombination()
    var frame: L2CAPFrame?
    for (index, fragment) in fragments.enumerated() { frame = recombination.add(fragment, isStart: index == 0) }
    return frame
  }
}
