package import BluetoothLE
package import BluetoothLEDeviceFiles
import BluetoothLEText

extension DeviceCallError: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .parameter(let fault): fault.failure
    case .noAnswer(let missing): missing.failure
    case .endless(let command, let taken):
      .protocolViolation(
        "\(command): the answer is incomplete after \(taken) packets (at most \(DeviceCommand.Answer.maximumPackets)). Check how the device "
          + "file ends the answer.")
    case .overrun(let command, let lost):
      .protocolViolation("\(command): the answer is incomplete. It lost \(lost.counted("packet")), which arrived too fast.")
    case .failure(let command, let answer):
      Failure(
        .device,
        "\(command): the device answered \(answer.code.displayText)"
          + (answer.meaning.map { ": \($0)" } ?? ", an error that is not in the device file")
          + (answer.values.isEmpty ? "" : " (\(DeviceValue.object(answer.values).displayText))"),
        code: answer.code.count, name: answer.code.plainText)
    }
  }
}

extension FieldFault: FailureConvertible {
  package var failure: Failure { .usage(reason == .missing ? Failure.missing(field) : description) }
}

extension DeviceCallError.Missing {
  fileprivate var failure: Failure {
    let arrived =
      switch (taken, of) {
      case (0, _): "no answer"
      case (let taken, let all?): "received \(taken) of \(all) packets of the answer"
      case (let taken, nil): "received \(taken.counted("packet")) of an incomplete answer"
      }
    var message = "\(command): \(arrived) in \(limit.secondsText) s."
    let ignored = refused.first.prefix(8).map { ($0.packet.isEmpty ? "(no bytes)" : "") + $0.text }
    if !ignored.isEmpty {
      let others = refused.first.count - ignored.count + refused.others
      message += " Ignored: \(ignored.joined(separator: ", "))\(others > 0 ? ", and \(others) more" : "")."
    }
    if !events.isEmpty { message += " Events: \(events.sorted().joined(separator: ", "))." }
    return Failure(refused.hasFault ? .protocolViolation : .timeout, message)
  }
}

extension Failure {
  /// Creates the failure of a device file's command that blectl cannot send. The message names the device file and what to change there.
  /// - Parameters:
  ///   - title: The name of the connected device.
  ///   - fits: Whether the connected device fits the file's `match`. Nil if unknown.
  package static func called(_ error: GATTError, of device: DeviceDescription, _ title: String, fits: Bool?) -> Failure {
    var failure = Failure(error)
    let file = DisplayText.escape(device.file)
    switch error {
    case .notFound(let selector, _):
      failure.message = "\(title) has no attribute \(selector), which \(file) names."
      failure.add(fits == false ? "The file's \"match\" does not fit this device. Use another file: --device FILE" : GATTError.listing)
    case .ambiguous(let selector, let found):
      failure.message = "\(found.count) attributes match \(selector) in \(file). Name the service there: SERVICE/\(selector)"
    case .tooLongForWriteRequest(let count, let limit, let mtu):
      failure.message =
        "\(count) bytes do not fit one Write Request: the limit is \(limit) at MTU \(mtu). In \(file), add \"mode\": \"long\" or "
        + "\"chunk\": \(limit)"
    case .tooLongForAttribute(let count, let segment, let mode):
      failure.message =
        "\(count) bytes do not fit an attribute, which holds at most \(WriteProcedure.largestValue). If the device takes segments: in \(file), add "
        + "\"chunk\": \(segment)" + (mode == .auto ? "" : " and \"mode\": \"request\" or \"command\"")
    case .segmentTooLong(let bytes, let limit, let mtu):
      failure.message = "\"chunk\": \(bytes) in \(file) is too large: a segment has at most \(limit) bytes at MTU \(mtu)."
    case .noLongWrites(_, count: _, let limit):
      failure.message = failure.message.replacing(
        "--mode request --chunk \(limit)", with: "in \(file), add \"mode\": \"request\" and \"chunk\": \(limit)")
    case .errorResponse, .invalidSelector, .sendsNoValues, .gone, .segmentTooShort, .planMismatch: break
    }
    return failure
  }

  package static func missing(_ parameter: String) -> String {
    "\(parameter) is missing and has no default. To list the parameters: call --list"
  }
}

extension RefusedPacket {
  /// The bytes of the packet in hex, and the reason why a call ignored the packet.
  package var text: String { "\(DisplayText.clipMiddle(Hex.encode(packet), to: 48)) \(reason.text)" }
}

extension RefusedPacket.Reason {
  fileprivate var text: String {
    switch self {
    case .foreign: "(not in the device file)"
    case .malformed(let fault, let event): "(\(event.map { "event \($0), " } ?? "")\(fault.sentence))"
    case .doubled: "(repeated)"
    case .outOfOrder(let expected?, let found?): "(out of order: number \(found), expected \(expected))"
    case .outOfOrder: "(out of order)"
    case .answerOf(let command): "(an answer to \(command))"
    case .otherRequest(let field): "(answers another request: \(field))"
    case .changed(let field): "(\(field) differs from earlier packets)"
    case .early: "(arrived before the command)"
    }
  }
}

extension PacketFault {
  /// The reason why a packet does not have the format that the device file describes.
  var sentence: String {
    switch self {
    case .foreign: "not in the device file"
    case .cut(let count, let needs): "cut: \(count) of \(needs) bytes"
    case .tooLong(let count, let allowed): "\(count) bytes, not \(allowed)"
    case .checksum(let expected, let found): "checksum \(Hex.encode(found)), should be \(Hex.encode(expected))"
    case .bytes(let offset, let expected, let found):
      "\(Hex.encode(found)) at byte \(offset), should be \(Hex.encode(expected))"
    case .text(let field, let bytes): "\(field) is \(DisplayText.quote(String(decoding: bytes, as: UTF8.self)))"
    case .size(let size): "a length of \(size)"
    }
  }
}
