package import DeviceFiles
import EventLoop
package import GATT
package import Operations
import Text

/// Messages for commands of a device file.
extension Failure {
  init(_ error: DeviceCallError) {
    switch error {
    case .parameter(let fault): self.init(fault)
    case .noAnswer(let missing): self.init(missing)
    case .endless(let command, let taken):
      self.init(
        .protocolViolation,
        "\(command): the answer is incomplete after \(taken) packets (at most \(DeviceCommand.Answer.maximumPackets)). Check how the device "
          + "file ends the answer."
      )
    case .overrun(let command, let lost):
      self.init(
        .protocolViolation, "\(command): the answer is incomplete. \(lost) packet(s) arrived too fast and were lost.")
    case .failure(let command, let answer):
      let code = answer.code.plainText
      let meaning = answer.meaning.map { ": \($0)" } ?? ", an error that is not in the device file"
      let more = answer.values.isEmpty ? "" : " (\(DisplayText.escape(DeviceValue.object(answer.values).plainText)))"
      self.init(
        .device, "\(command): the device answered \(DisplayText.escape(code))\(meaning)\(more)", code: answer.code.count, name: code)
    }
  }

  /// Creates the failure of a device command that the client cannot send, in terms of its device file.
  @LoopActor
  package static func called(_ error: GATTError, of device: DeviceDescription, _ connection: Connection) async -> Failure {
    var failure = Failure(error)
    let file = DisplayText.escape(device.file)
    switch error {
    case .notFound(let selector, _):
      failure.message = "\(connection.title) has no attribute \(selector), which \(file) names."
      let fits = device.match.isEmpty ? nil : (try? await connection.fitting([device])).map { !$0.isEmpty }
      failure.add(fits == false ? "The file's \"match\" does not fit this device. Use another file: --device FILE" : listing)
    case .ambiguous(let selector, let found):
      failure.message = "\(found.count) attributes match \(selector) in \(file). Name the service there: SERVICE/\(selector)"
    case .tooLongForWriteRequest(let count, let limit, let mtu):
      failure.message =
        "\(count) bytes do not fit one Write Request: the limit is \(limit) at MTU \(mtu). In \(file), add \"mode\": \"long\" or "
        + "\"chunk\": \(limit)"
    case .tooLongForAttribute(let count, let segment, let mode):
      failure.message =
        "\(count) bytes do not fit an attribute, which holds at most \(WritePlan.largestValue). If the device takes segments: in \(file), add "
        + "\"chunk\": \(segment)" + (mode == .auto ? "" : " and \"mode\": \"request\" or \"command\"")
    case .segmentTooLong(let octets, let limit, let mtu):
      failure.message = "\"chunk\": \(octets) in \(file) is too large: a segment has at most \(limit) bytes at MTU \(mtu)."
    case .errorResponse, .invalidSelector, .sendsNoValues, .gone, .segmentTooShort, .planMismatch: break
    }
    return failure
  }

  package static func missing(_ parameter: String) -> String {
    "\(parameter) is missing and has no default. To list the parameters: call --list"
  }

  init(_ fault: FieldFault) {
    if fault.reason == .missing {
      self.init(.usage, Self.missing(fault.field))
    } else {
      self.init(.usage, fault.description)
    }
  }

  private init(_ missing: DeviceCallError.Missing) {
    let arrived =
      switch (missing.taken, missing.of) {
      case (0, _): "no answer"
      case (let taken, let all?): "received \(taken) of \(all) packets of the answer"
      case (let taken, nil): "received \(taken) packet(s) of an incomplete answer"
      }
    var message = "\(missing.command): \(arrived) in \(missing.limit.secondsText) s."
    let refused = missing.refused.first.prefix(8).map { "\(Self.hex($0.packet)) \(Self.sentence($0.reason))" }
    if !refused.isEmpty {
      let others = missing.refused.first.count - refused.count + missing.refused.others
      let more = others > 0 ? ", and \(others) more" : ""
      message += " Ignored: \(refused.joined(separator: ", "))\(more)."
    }
    if !missing.events.isEmpty { message += " Events: \(missing.events.sorted().joined(separator: ", "))." }
    self.init(missing.refused.hasFault ? .protocolViolation : .timeout, message)
  }

  private static func hex(_ packet: [UInt8]) -> String {
    packet.isEmpty ? "(no bytes)" : DisplayText.clipMiddle(Hex.encode(packet), to: 48)
  }

  /// Returns why a call ignored a packet.
  static func sentence(_ reason: RefusedPacket.Reason) -> String {
    switch reason {
    case .foreign: "(not in the device file)"
    case .malformed(let fault, let event): "(\(event.map { "event \($0), " } ?? "")\(sentence(fault)))"
    case .doubled: "(repeated)"
    case .outOfOrder(let expected?, let found?): "(out of order: number \(found), expected \(expected))"
    case .outOfOrder: "(out of order)"
    case .answerOf(let command): "(an answer to \(command))"
    case .otherRequest(let field): "(answers another request: \(field))"
    case .changed(let field): "(\(field) differs from earlier packets)"
    case .early: "(arrived before the command)"
    }
  }

  /// Returns why a packet does not fit its frame.
  static func sentence(_ fault: PacketFault) -> String {
    switch fault {
    case .foreign: "not in the device file"
    case .cut(let count, let needs): "cut: \(count) of \(needs) bytes"
    case .tooLong(let count, let allowed): "\(count) bytes, not \(allowed)"
    case .checksum(let expected, let found): "checksum \(Hex.encode(found)), should be \(Hex.encode(expected))"
    case .octets(let offset, let expected, let found):
      "\(Hex.encode(found)) at byte \(offset), should be \(Hex.encode(expected))"
    case .text(let field, let octets): "\(field) is \(DisplayText.quote(String(decoding: octets, as: UTF8.self)))"
    case .size(let size): "a length of \(size)"
    }
  }
}
