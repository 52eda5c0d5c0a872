import DeviceFiles
import EventLoop
import GATT
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

  /// What keeps a command of a device file from being sent, in the words of that file.
  @LoopActor
  static func called(_ error: GATTError, of device: DeviceDescription, _ connection: Connection) async -> Failure {
    var failure = Failure(error)
    let file = DisplayText.escape(device.file)
    switch error {
    case .notFound(let selector, _):
      failure.message = "\(connection.title) has no attribute \(selector), which \(file) asks for"
      let fits = device.match.isEmpty ? nil : (try? await connection.fitting([device])).map { !$0.isEmpty }
      failure.message +=
        fits == false ? ", and its match does not fit: it describes another device" : "; list what there is with: services"
    case .ambiguous(let selector, let found):
      failure.message = "\(file) asks for \(selector), of which there are \(found.count): it has to say the service (SERVICE/\(selector))"
    case .tooLongForWriteRequest(let count, let limit, let mtu):
      failure.message =
        "\(count) octets do not fit one Write Request, which takes \(limit) at ATT_MTU \(mtu): the command needs \"mode\": \"long\" or "
        + "\"chunk\": \(limit) in \(file)"
    case .tooLongForAttribute(let count, let segment, let mode):
      failure.message =
        "\(count) octets are more than an attribute can hold (\(WritePlan.largestValue)): if the device takes them in segments, the command "
        + "needs \"chunk\": \(segment)" + (mode == .auto ? "" : " and \"mode\": \"request\" or \"command\"") + " in \(file)"
    case .segmentTooLong(let octets, let limit, let mtu):
      failure.message = "\"chunk\": \(octets) in \(file) does not fit: at ATT_MTU \(mtu) a segment takes at most \(limit) octets"
    case .errorResponse, .invalidSelector, .sendsNoValues, .gone, .segmentTooShort, .planMismatch: break
    }
    return failure
  }

  static func missing(_ parameter: String) -> String {
    "\(parameter) is missing: it has no default; `call --list` shows what a command takes"
  }

  init(_ fault: FieldFault) {
    if fault.reason == .missing {
      self.init(.usage, Self.missing(fault.field))
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
