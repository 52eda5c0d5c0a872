import DeviceFiles
import Operations
import Text

/// What commands of a device file throw, as sentences.
extension Failure {
  init(_ error: DeviceCallError) {
    switch error {
    case .parameter(let fault): self.init(fault)
    case .noAnswer(let missing): self.init(missing)
    case .endless(let command, let taken):
      self.init(
        .protocolViolation,
        "\(command): the answer does not end: an answer has at most \(DeviceCommand.Answer.maximumPackets) packets, and after \(taken) this one is not complete; does the device file say rightly when it is?"
      )
    case .overrun(let command, let lost):
      self.init(
        .protocolViolation, "\(command): \(lost) packet(s) came faster than they could be taken, and are lost: what is left is no answer")
    case .failure(let command, let answer):
      let code = answer.code.plainText
      let meaning = answer.meaning.map { ": \($0)" } ?? ", an error that its file has no meaning for"
      let more = answer.values.isEmpty ? "" : " (\(DisplayText.escape(DeviceValue.object(answer.values).plainText)))"
      self.init(
        .device, "\(command): the device refuses it with \(DisplayText.escape(code))\(meaning)\(more)", code: answer.code.count, name: code)
    }
  }

  init(_ fault: FieldFault) {
    if fault.reason == .missing {
      self.init(.usage, "\(fault.field) is missing: it has no default; `call --list` shows what a command takes")
    } else {
      self.init(.usage, fault.description)
    }
  }

  private init(_ missing: DeviceCallError.Missing) {
    let came =
      switch (missing.taken, missing.of) {
      case (0, _): "no answer"
      case (let taken, let all?): "only \(taken) of \(all) packets of the answer"
      case (let taken, nil): "only \(taken) packet(s) of an answer that is not complete"
      }
    var message = "\(missing.command): \(came) within \(missing.limit.secondsText) s"
    let refused = missing.refused.first.prefix(8).map { "\(Self.hex($0.packet)) \(Self.sentence($0.reason))" }
    if !refused.isEmpty {
      let others = missing.refused.first.count - refused.count + missing.refused.others
      let more = others > 0 ? ", and \(others) more" : ""
      message += "; not taken for it: \(refused.joined(separator: ", "))\(more)"
    }
    if !missing.events.isEmpty { message += "; sent by itself meanwhile: \(missing.events.sorted().joined(separator: ", "))" }
    self.init(missing.refused.hasFault ? .protocolViolation : .timeout, message)
  }

  private static func hex(_ packet: [UInt8]) -> String {
    packet.isEmpty ? "(no octets)" : DisplayText.clipMiddle(Hex.encode(packet), to: 48)
  }

  /// Why a packet was not taken.
  static func sentence(_ reason: RefusedPacket.Reason) -> String {
    switch reason {
    case .foreign: "(not in the device file)"
    case .malformed(let fault, let event): "(\(event.map { "event \($0), " } ?? "")\(sentence(fault)))"
    case .doubled: "(came twice)"
    case .outOfOrder(let expected?, let found?): "(out of order: number \(found), expected \(expected))"
    case .outOfOrder: "(out of order)"
    case .answerOf(let command): "(an answer to \(command))"
    case .otherRequest(let field): "(answers another request: \(field))"
    case .changed(let field): "(says another \(field) than the packets before)"
    case .early: "(came before the command)"
    }
  }

  /// Why octets are not what a frame describes.
  static func sentence(_ fault: PacketFault) -> String {
    switch fault {
    case .foreign: "not in the device file"
    case .cut(let count, let needs): "cut: \(count) of \(needs) octets"
    case .tooLong(let count, let allowed): "\(count) octets, not \(allowed)"
    case .checksum(let expected, let found): "checksum \(Hex.encode(found)), should be \(Hex.encode(expected))"
    case .octets(let offset, let expected, let found):
      "\(Hex.encode(found)) at octet \(offset), should be \(Hex.encode(expected))"
    case .text(let field, let octets): "\(field) is \(DisplayText.quote(String(decoding: octets, as: UTF8.self)))"
    case .size(let size): "a length of \(size)"
    }
  }
}
