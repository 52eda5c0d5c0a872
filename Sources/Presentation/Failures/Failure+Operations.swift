import ATT
import Bluetooth
package import Finding
import GAP
import GATT
import LinuxBluetooth
package import Operations
import Replay
import SystemPackage
import Text
package import Transfer

/// Messages for searches, transfers and MACs.
extension Failure {
  init(_ error: PeerSearchError) { self.init(error, isRecorded: false) }

  /// Creates the failure of a search. `isRecorded` tells whether the search was in a recording.
  package init(_ error: PeerSearchError, isRecorded: Bool) {
    switch error {
    case .notFound(let selector, let devices, let names, let limit):
      let heard = Self.heard(names, selector)
      self.init(
        .notFound,
        isRecorded
          ? "Cannot find \(selector): the recording has \(devices) other device(s)\(heard)".asSentence
            + " Record again while it advertises."
          : "Cannot find \(selector): heard \(devices) other device(s) in \(limit.secondsText) s\(heard)".asSentence
            + (heard.contains(". ") ? "" : " Check that it is on, in range and not connected elsewhere. To see all devices: blectl scan"))
    case .several(let candidates, let selector):
      let list = candidates.map { "\($0.peer)" + ($0.rssi.map { " (\($0) dBm)" } ?? "") }.joined(separator: ", ")
      self.init(.ambiguous, "\(candidates.count) devices match \(selector): \(list). Use an address, or omit --unique.")
    case .notConnectable(let peer, let selector):
      self.init(
        .notFound, "Cannot connect to \(selector): \(peer) is not connectable. Press its button, then try again.")
    }
  }

  /// Lists the names that the search heard. Suggests a wider glob, because people type a part of the name.
  private static func heard(_ names: [UntrustedText], _ selector: PeerSelector) -> String {
    guard case .name(let pattern) = selector, !names.isEmpty else { return "" }
    let list = names.prefix(8).map(\.description).joined(separator: ", ") + (names.count > 8 ? ", …" : "")
    let wider = "*\(pattern)*"
    guard names.contains(where: { Glob.matches(wider, $0.raw) }) else {
      let nearest = SpellingSuggestion.nearest(to: pattern, among: names.map(\.raw)).map { ". Did you mean \(UntrustedText($0))?" } ?? ""
      return " (\(list))\(nearest)"
    }
    return " (\(list)). Try \(ShellWords.quoteForShell("name:\(wider)"))"
  }

  init(_ error: RestorationError) {
    switch error {
    case .gaveUp(let time, let tries, let last):
      let reason = last.map { ". Last error: \(Failure($0).message)" } ?? ""
      self.init(.linkLost, "Reconnecting failed after \(tries == 1 ? "1 try" : "\(tries) tries") in \(time.secondsText) s\(reason)")
    case .ended: self.init(.linkLost, "Connection ended")
    case .isUnderWay: self.init(.linkLost, "Connection lost, already reconnecting")
    }
  }

  init(_ error: MACSearchError) {
    let message =
      switch error {
      case .nothingHeard: "No advertisement was heard or given."
      case .noneInThisFrame(let reason): "This advertisement has no MAC: \(reason)"
      case .noRuleFits([], let count):
        "No MAC in \(count) advertisement(s): no known layout fits. To name the place, use --rule. To find the sender's address: --learn"
      case .noRuleFits(let rules, let count):
        "No MAC in \(count) advertisement(s): no match for \(rules.map { DisplayText.escape($0) }.joined(separator: ", ")). To try the known "
          + "layouts, omit --rule and --device."
      case .notSureEnough(let mac):
        "Found only a MAC of \(mac.confidence.name) confidence: \(mac.text) (\(mac.source), \(mac.rule)). To accept it: --min-confidence "
          + mac.confidence.name
      case .malformed(let error, let line):
        "No MAC: \(line.map { "line \($0)" } ?? "an advertisement") is malformed (\(error)), and no layout fits the rest."
      case .senderUnknown: "Cannot learn a rule: the sender's address is missing. Write it before the data: ADDRESS HEX"
      case .senderNotInData(let count): "The sender's address is not in its \(count) advertisement(s), neither forward nor reversed."
      case .noneInSystemID(let value, let peer): "The System ID \(Hex.encode(value)) of \(peer) has no MAC."
      }
    self.init(.notFound, message)
  }

  init(_ error: MACRuleError) {
    let reason =
      switch error.part {
      case .halves: "there must be one @ between place and offset"
      case .length: "the length after / must be a number of bytes or a range such as 11-24"
      case .nameDigits: "after name@, a rule needs -4, -6, -8 or -12: the number of hex digits at the end of the name"
      case .place: "the place must be mfg:COMPANY, svc:UUID or ad:TYPE"
      case .kind: "the place must start with mfg:, svc:, ad: or name"
      case .company: "the company must be a hex number up to ffff"
      case .service: "the service must be a UUID of 4, 8 or 32 hex digits, or * for any"
      case .type: "the AD type must be a hex number up to ff"
      case .offset: "after the @, a rule needs an offset and a byte order, such as 5:le"
      case .offsetFromEnd: "an offset from the end must be -6 or less, because an address has 6 bytes"
      case .order: "the byte order must be le (least significant byte first) or be"
      }
    self.init(
      .usage,
      "Invalid rule \"\(DisplayText.escape(error.text))\": \(reason). Examples: mfg:0x0305@-6:le, svc:fe95@5:le, ad:1b@0:le, name@-4")
  }

  package init(_ error: OfflineAdvertisementError, of input: String) {
    let (line, reason) =
      switch error {
      case .notJSON(let line): (line, "is not a JSON record")
      case .rawNotHex(let line): (line, "has a \"raw\" that is not hex")
      case .notHexAfterAddress(let line): (line, "is not hex after the address")
      case .lacksDigit(let line): (line, "has an odd number of digits")
      case .unknown(let line): (line, "is neither AD structures in hex, nor ADDRESS HEX, nor a JSON record")
      }
    self.init(.input, "Line \(line) of \(input) \(reason).")
  }

  init(_ error: NotACharacteristic) {
    self.init(.notFound, "Cannot subscribe to \(error.selector) (handle \(error.handle)): it is not the value of a characteristic.")
  }

  init(_ error: TransferError) {
    switch error {
    case .unknownProperties(let attribute):
      self.init(
        .notFound, "Handle \(attribute.handle) is not the value of a characteristic. To write to it anyway, use --mode.")
    case .nothingToSend(let offset, let total):
      self.init(.input, "Nothing to send from byte \(offset)\(total.map { " of \($0)" } ?? "").")
    case .noCount(let value):
      let shown = value.isEmpty ? "an empty value" : Hex.encode(value)
      self.init(.expectation, "Invalid report \(shown): expected 8 bytes, the byte count and the CRC-32 (both u32le).")
    case .otherOctets(let report):
      self.init(
        .expectation,
        "The device reports \(report), which does not match the start of the file: it lost bytes or has other data. Reset its counter if "
          + "needed, then send the whole file without --resume.")
    case .notWritable(let attribute):
      self.init(
        .att,
        "Cannot write \(attribute.uuid?.description ?? attribute.handle.description): it has neither write nor write_without_response.",
        code: 3, name: "write_not_permitted")
    }
  }

  init(_ error: IncompleteWrite) {
    let isQueued = error.mode == .long || error.mode == .reliable
    let state = "\(error.progress.sent) of \(error.total) bytes were \(error.mode == .command ? "sent" : "confirmed")."
    if error.cause is CancellationError, error.segments > 1 {
      self.init(
        .interrupted,
        "Interrupted. " + (isQueued ? "Nothing was written: the parts queued on the device were canceled." : state))
      return
    }
    self.init(error.cause)
    if kind == .linkLost { written = Written(sent: error.sent, acknowledged: isQueued ? 0 : error.progress.confirmed) }
    if error.sent == error.total, let end = Self.endByDevice(error.cause) {
      let device = error.device ?? "the device"
      message = "All bytes were sent, but \(device) \(end) before it confirmed them. That is normal for a reboot."
    } else if error.segments > 1, !isQueued {
      add(state)
    }
  }

  /// Returns how the device ended the connection. Nil if it ended for another reason.
  private static func endByDevice(_ cause: any Error) -> String? {
    let reason: ControllerErrorCode? =
      switch cause {
      case let end as Disconnection: if case .lost(let reason) = end.cause { reason } else { nil }
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

  init(_ error: ImpossibleVerification) {
    switch error {
    case .notReadable(let uuid):
      self.init(.usage, "Cannot verify with read-back: \(uuid) is not readable. Use --verify notify:ATTR")
    case .tooLong(let count):
      self.init(
        .usage,
        "--verify read-back compares at most \(WritePlan.largestValue) bytes, not \(count.map { "\($0)" } ?? "more"). Use --verify notify:ATTR"
      )
    }
  }

  /// Creates the failure of a verification. `reporter` is the user's name of the report characteristic.
  package init(_ error: VerificationFailure, reporter: String?) {
    switch error {
    case .otherValue(let uuid, let count, let sent):
      let name = uuid?.description ?? "the value"
      self.init(.expectation, "Verification failed: the \(count) bytes of \(name) differ from the \(sent) bytes of the file.")
    case .otherReport(let error):
      let whole = error.offset > 0 ? " of a file of \(error.proof.whole)" : ""
      self.init(
        .expectation,
        "Verification failed: sent \(error.proof.part)\(whole), but \(reporter ?? "the device") reports "
          + (error.report.map { "\($0)" } ?? "nothing") + ".")
      if let resumption = error.resumption {
        goesOn(at: resumption.offset, of: error.sent, isRemembered: resumption.isRemembered)
      } else if error.isCommand {
        add(
          error.report.map { $0.count > error.sent } ?? false
            ? "The device also counted earlier bytes. Reset its counter, then send the file again."
            : "This does not match the start of the file. Send it again. If the device drops segments again: --mode request")
      }
    }
  }

  init(_ error: FailedRead) {
    self.init(error.cause)
    if kind != .att { message = "Cannot read \(error.attribute.shortName): \(message)" }
  }

  /// Creates the failure of a transfer, with the byte counts and the way to resume.
  /// - Parameters:
  ///   - isRemembered: Whether `--resume` can continue this transfer.
  ///   - advises: Whether to advise the user. False if the command resumes without the user.
  package init(transfer error: IncompleteWrite, isRemembered: Bool = false, advises: Bool = true) {
    if error.cause is CancellationError { self.init(.interrupted, "Interrupted") } else { self.init(error.cause) }
    if kind == .linkLost { written = Written(sent: error.sent, acknowledged: error.progress.confirmed) }
    // A replay receives no bytes.
    if error.cause is ReplayError { return }
    let (confirmed, sent) = (error.progress.confirmed, error.progress.sent)
    let more = sent > confirmed ? ", and up to \(sent) may have (to narrow this, use --ack-every)" : ""
    goesOn(at: confirmed, of: error.total, more, isRemembered: isRemembered, advises: advises)
  }

  /// Adds the number of confirmed bytes and the way to resume.
  mutating func goesOn(at confirmed: Int, of total: Int, _ more: String = "", isRemembered: Bool, advises: Bool = true) {
    add("At least \(confirmed) of \(total) bytes arrived\(more)")
    if advises, confirmed < total { add("To continue, run again with \(isRemembered ? "--resume, or with " : "")--offset \(confirmed).") }
    if advises, confirmed == total, isRemembered { add("To verify them, run again with --resume.") }
    resumeOffset = confirmed
  }
}
