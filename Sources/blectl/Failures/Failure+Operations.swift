import ATT
import Bluetooth
import GAP
import GATT
import LinuxBluetooth
import Operations
import Replay
import SystemPackage
import Text

/// What looking for devices and for MACs throws, as sentences.
extension Failure {
  init(_ error: PeerSearchError) { self.init(error, isRecorded: false) }

  /// - Parameter isRecorded: the devices are those of a recording.
  init(_ error: PeerSearchError, isRecorded: Bool) {
    switch error {
    case .notFound(let selector, let devices, let names, let limit):
      let heard = Self.heard(names, selector)
      self.init(
        .notFound,
        isRecorded
          ? "no device of the recording matches \(selector): \(devices) other device(s) are in it\(heard); record again while it advertises"
          : "no device matches \(selector): \(devices) other device(s) heard in \(limit.secondsText) s\(heard); is it in range, "
            + "switched on and not connected to something else? `blectl scan` shows what is there")
    case .several(let candidates, let selector):
      let list = candidates.map { "\($0.peer)" + ($0.rssi.map { " (\($0) dBm)" } ?? "") }.joined(separator: ", ")
      self.init(.ambiguous, "\(candidates.count) devices match \(selector), and --unique takes only one: \(list)")
    case .notConnectable(let peer, let selector):
      self.init(
        .notFound, "\(peer) matches \(selector) but does not accept connections now; make it connectable (press its button) and try again")
    }
  }

  /// A glob is the whole name, and people type a part of it.
  private static func heard(_ names: [String], _ selector: PeerSelector) -> String {
    guard case .name(let pattern) = selector, !names.isEmpty else { return "" }
    let list = names.prefix(8).map { DisplayText.escape($0) }.joined(separator: ", ") + (names.count > 8 ? ", …" : "")
    let wider = "*\(pattern)*"
    guard names.contains(where: { Glob.matches(wider, $0) }) else { return " (\(list))" }
    return " (\(list)); \(ShellWords.quoteForShell("name:\(wider)")) would match one"
  }

  init(_ error: RestorationError) {
    switch error {
    case .gaveUp(let time, let tries, let last):
      let reason = last.map { "; at last: \(Failure($0).message)" } ?? ""
      self.init(.linkLost, "the link was not restored in \(time.secondsText) s, in \(tries == 1 ? "one try" : "\(tries) tries")\(reason)")
    case .ended: self.init(.linkLost, "the connection was ended")
    case .isUnderWay: self.init(.linkLost, "the link is lost, and is being restored already")
    }
  }

  init(_ error: MACSearchError) {
    let message =
      switch error {
      case .nothingHeard: "no advertisement was heard or given"
      case .noneInThisFrame(let reason): "this frame carries no MAC: \(reason)"
      case .noRuleFits([], let count):
        "no MAC in \(count) advertisement(s): no known layout fits; --learn shows where the sender's address occurs, --rule names a place"
      case .noRuleFits(let rules, let count):
        "no MAC in \(count) advertisement(s): \(rules.map { DisplayText.escape($0) }.joined(separator: ", ")) \(rules.count == 1 ? "fits" : "fit") none of them; without --rule and --device the known layouts are tried"
      case .notSureEnough(let mac):
        "only a MAC of \(mac.confidence.name) confidence: \(mac.text) (\(mac.source), \(mac.rule)); --min-confidence \(mac.confidence.name) shows it"
      case .malformed(let error, let line):
        "no MAC: \(line.map { "line \($0)" } ?? "an advertisement") is malformed (\(error)), and no layout fits the rest"
      case .senderUnknown: "this frame carries no MAC: --learn needs the sender's address before the data"
      case .senderNotInData(let count):
        "the sender's address does not occur in its \(count) advertisement(s), neither forward nor reversed"
      case .noneInSystemID(let value, let peer): "the System ID \(Hex.encode(value)) of \(peer) does not hold a MAC"
      }
    self.init(.notFound, message)
  }

  init(_ error: MACRuleError) {
    let reason =
      switch error.part {
      case .halves: "it needs one @ between place and offset"
      case .length: "the length after / is a number of octets or a range such as 11-24"
      case .nameDigits: "a name ends with 4, 6, 8 or 12 hex digits: name@-4"
      case .place: "the place is mfg:COMPANY, svc:UUID or ad:TYPE"
      case .kind: "the place starts with mfg:, svc:, ad: or name"
      case .company: "the company is a hex number up to ffff"
      case .service: "the service is a UUID of 4, 8 or 32 hex digits, or * for any"
      case .type: "the AD type is a hex number up to ff"
      case .offset: "after the @ stand an offset and a byte order, such as 5:le"
      case .offsetFromEnd: "an address has six octets: an offset from the end is -6 or less"
      case .order: "the byte order is le (least significant octet first) or be"
      }
    self.init(
      .usage,
      "rule \"\(DisplayText.escape(error.text))\": \(reason); a rule looks like mfg:0x0305@-6:le, svc:fe95@5:le, ad:1b@0:le or name@-4")
  }

  init(_ error: OfflineAdvertisementError, of input: String) {
    let (line, reason) =
      switch error {
      case .notJSON(let line): (line, "is not a JSON record")
      case .rawNotHex(let line): (line, "has a \"raw\" that is not hex")
      case .notHexAfterAddress(let line): (line, "is not hex after the address")
      case .lacksDigit(let line): (line, "has an odd number of digits, so one is missing")
      case .unknown(let line): (line, "is neither AD structures in hex, nor ADDRESS HEX, nor a JSON record")
      }
    self.init(.input, "line \(line) of \(input) \(reason)")
  }

  init(_ error: NotACharacteristic) {
    self.init(.notFound, "handle \(error.handle) (\(error.selector)) is not a characteristic's value and cannot notify")
  }

  init(_ error: TransferError) {
    switch error {
    case .unknownProperties(let attribute):
      self.init(
        .notFound, "handle \(attribute.handle) is not a characteristic's value; name --mode to write to it all the same")
    case .nothingToSend(let offset, let total):
      self.init(.input, "there is nothing to send from octet \(offset) on\(total.map { " of \($0)" } ?? "")")
    case .noCount(let value):
      let shown = value.isEmpty ? "an empty value" : Hex.encode(value)
      self.init(.expectation, "\(shown) is no report of octets and CRC-32, which has eight octets: both u32le")
    case .otherOctets(let report):
      self.init(
        .expectation,
        "the device reports \(report), which is not the beginning of what is sent: it has lost some of it, or has other data. Reset its count where "
          + "it needs that, and send the whole file, without --resume"
      )
    case .notWritable(let attribute):
      self.init(
        .att,
        "\(attribute.uuid?.description ?? attribute.handle.description) has neither write nor write_without_response: it cannot be written",
        code: 3, name: "write_not_permitted")
    }
  }

  init(_ error: IncompleteWrite) {
    let isQueued = error.mode == .long || error.mode == .reliable
    let state = "\(error.progress.sent) of \(error.total) octets were \(error.mode == .command ? "handed over" : "confirmed")"
    if error.cause is CancellationError, error.segments > 1 {
      self.init(
        .interrupted,
        isQueued ? "interrupted; nothing was written: the parts queued on the peer were cancelled" : "interrupted; \(state)")
      return
    }
    self.init(error.cause)
    if kind == .linkLost { written = Written(sent: error.sent, acknowledged: isQueued ? 0 : error.progress.confirmed) }
    if error.sent == error.total, let end = Self.endByDevice(error.cause) {
      let device = error.device ?? "the device"
      message = "The write was sent; then \(device) \(end) before confirming that it received everything. That is usual for a reboot."
    } else if error.segments > 1, !isQueued {
      message += "; \(state)"
    }
  }

  /// How a device has ended a link; nil when it was somebody else.
  private static func endByDevice(_ cause: any Error) -> String? {
    let reason: ControllerErrorCode? =
      switch cause {
      case let end as LinkEnd: if case .lost(let reason) = end.cause { reason } else { nil }
      case let end as SocketEnd:
        switch end.cause {
        case .reason(let reason): reason
        case .errno(.connectionReset): .remoteUserTerminated
        case .errno(.timedOut): .connectionTimeout
        case .errno, .adapterGone: nil
        }
      default: nil
      }
    switch reason {
    case .remoteUserTerminated, .remoteLowResources, .remotePowerOff: return "disconnected"
    case .connectionTimeout, .llResponseTimeout: return "stopped answering"
    default: return nil
    }
  }

  init(_ error: FailedRead) {
    self.init(error.cause)
    message = "Reading \(error.attribute.shortName) failed: \(message)"
  }

  /// Of a transfer: with the octet counts that let the user go on.
  /// - Parameters:
  ///   - isRemembered: whether `--resume` can continue this transfer.
  ///   - advises: false if the command reconnects and resumes without the user.
  init(transfer error: IncompleteWrite, isRemembered: Bool = false, advises: Bool = true) {
    if error.cause is CancellationError { self.init(.interrupted, "interrupted") } else { self.init(error.cause) }
    if kind == .linkLost { written = Written(sent: error.sent, acknowledged: error.progress.confirmed) }
    // Nothing has arrived anywhere.
    if error.cause is ReplayError { return }
    let (confirmed, sent) = (error.progress.confirmed, error.progress.sent)
    let more = sent > confirmed ? ", up to \(sent) may have (--ack-every narrows this)" : ""
    goesOn(at: confirmed, of: error.total, more, isRemembered: isRemembered, advises: advises)
  }

  /// - Parameter confirmed: octets.
  mutating func goesOn(at confirmed: Int, of total: Int, _ more: String = "", isRemembered: Bool, advises: Bool = true) {
    message += "; \(confirmed) of \(total) octets are known to have arrived\(more)"
    if advises { message += "; \(isRemembered ? "run the command again with --resume, or " : "")go on with --offset \(confirmed)" }
    resumeOffset = confirmed
  }
}
