// SPDX-License-Identifier: Apache-2.0
/// An error that describes itself in a sentence, such as that of an adapter of the system.
package protocol DescribedError: Error {
  var kind: BluetoothError.Reason { get }
  var sentence: String { get }
}

extension BluetoothError {
  /// Describes an error of any layer.
  package init(_ error: any Error) {
    if let error = error as? BluetoothError {
      self = error
      return
    }
    let (reason, description) = Self.facts(of: error)
    self.init(reason, description, error)
  }

  private static func facts(of error: any Error) -> (Reason, String) {
    switch error {
    case let error as GATTError: facts(error)
    case let error as ATTError: facts(error)
    case let error as GAPError: facts(error)
    case let error as Disconnection: (.disconnected, sentence(error))
    case let error as PeerSearchError: facts(error)
    case is SecurityDemanded:
      (.security, "The device ended the link because it demands pairing: use ConnectedDevice.pair or ConnectionOptions.pairing.")
    case let error as InsufficientSecurity:
      (
        .security,
        "The link is not as secure as demanded: \(error.found.map { "\($0)" } ?? "no bond") instead of \(error.demanded). Pair first."
      )
    case let error as PairingFailure: (.pairing, "The pairing failed: \(sentence(error)).")
    case let error as IncompleteWrite:
      (Self(error.cause).reason, "Only \(error.progress.confirmed) of \(error.total) bytes have arrived. \(Self(error.cause))")
    case let error as InterruptedTransfer: facts(of: error.write)
    case let error as LinkGone: facts(of: error.cause)
    case let error as RestorationError: facts(error)
    case let error as UnverifiedFile: (.verification, sentence(error.failure))
    case let error as ImpossibleVerification:
      switch error {
      case .notReadable(let uuid): (.invalidArgument, "Cannot verify by reading: \(uuid) is not readable. Nothing was sent.")
      case .tooLong: (.invalidArgument, "Cannot verify by reading: a value has at most 512 bytes. Nothing was sent.")
      }
    case let error as TransferError: facts(error)
    case is NothingLeft: (.other, "Nothing is left to send.")
    case let error as NotACharacteristic: (.unsupported, "\(error.selector) is not the value of a characteristic. Only those send values.")
    case let error as Overrun: (.overrun, "\(error.count) values were lost, because they were not taken in time.")
    case let error as ControllerError: (.adapter, "\(error.adapter): \(sentence(error.fault)).")
    case let error as HostError: (.adapter, sentence(error))
    case let error as TransportError: facts(error)
    case EventLoopError.mixedClocks(let isVirtual):
      (
        .clock,
        "This process already uses \(isVirtual ? "virtual" : "real") time, which does not mix with \(isVirtual ? "real" : "virtual") time."
          + " Use another process, or a simulator with isVirtual: false."
      )
    case let error as EventLoopError: (.clock, error.description)
    case let error as MalformedPacket: (.protocolViolation, "A packet is malformed: \(error).")
    case let error as any DescribedError: (error.kind, error.sentence)
    default: (.other, "\(error)")
    }
  }

  private static func facts(_ error: GATTError) -> (Reason, String) {
    switch error {
    case .errorResponse(let code, let request, let attribute):
      (
        code.isOfSecurity ? .security : .refused(code.rawValue),
        "The device refused \(request.opcode) of \(attribute.map { "\($0)" } ?? "an attribute"): \(code)."
          + (code.isOfSecurity ? " Pair with the device, or demand a higher level." : "")
      )
    case .invalidSelector(let text, let fault): (.invalidArgument, "\"\(text)\" is no name of an attribute: \(sentence(fault)).")
    case .notFound(let selector, _): (.notFound, "The device has no attribute \(selector).")
    case .ambiguous(let selector, let found):
      (.ambiguous, "\(found.count) attributes match \(selector). Name one: \(found.map(\.selector).joined(separator: ", ")).")
    case .sendsNoValues(let item): (.unsupported, "\(item.uuid) sends no values: it has neither notify nor indicate.")
    case .gone(let item): (.notFound, "The device removed \(item.uuid) during the connection.")
    case .noLongWrites(_, let count, let limit):
      (.unsupported, "The device takes no long writes. \(count) bytes do not fit one Write Request: the limit is \(limit).")
    case .tooLongForWriteRequest(let count, let limit, let mtu):
      (.invalidArgument, "\(count) bytes do not fit one Write Request: the limit is \(limit) at MTU \(mtu). Use send for segments.")
    case .tooLongForAttribute(let count, _, _):
      (.invalidArgument, "\(count) bytes do not fit an attribute, which holds at most 512. Use send for segments.")
    case .segmentTooLong(let count, let limit, let mtu):
      (.invalidArgument, "A segment of \(count) bytes is too long: the limit is \(limit) at MTU \(mtu).")
    case .segmentTooShort(let count): (.invalidArgument, "A segment of \(count) bytes is too short.")
    case .planMismatch(let planned, let count): (.invalidArgument, "The plan is for \(planned) bytes, but the value has \(count).")
    }
  }

  private static func facts(_ error: ATTError) -> (Reason, String) {
    switch error {
    case .violation(let violation): (.protocolViolation, "The device broke a rule of ATT: \(violation.opcode) \(violation.reason).")
    case .noResponse(let request, let handle, let limit):
      (.timeout, "The device did not answer \(request)\(handle.rawValue == 0 ? "" : " of handle \(handle)") within \(seconds(limit)).")
    case .noConfirmation(let handle, let limit):
      (.timeout, "The device did not confirm an indication of handle \(handle) within \(seconds(limit)).")
    case .nothingGotThrough(let time): (.timeout, "Nothing got through to the device for \(seconds(time)).")
    case .closedByThisSide: (.disconnected, "The link was closed by this side.")
    }
  }

  private static func facts(_ error: GAPError) -> (Reason, String) {
    switch error {
    case .intervalOutOfRange(let interval):
      (.invalidArgument, "A connection interval of \(interval) is out of range. Use 7.5 ms to 4 s.")
    case .dataLengthOutOfRange(let count): (.invalidArgument, "A data length of \(count) bytes is out of range. Use 27 to 251.")
    case .noPrimaryPHY: (.invalidArgument, "A scan needs PHY 1M or coded: 2M carries no primary advertisements.")
    case .advertisingIntervalOutOfRange(let interval):
      (.invalidArgument, "An advertising interval of \(interval) is out of range. Use 20 ms to 10.24 s.")
    case .advertisingTooLong(_, let part, let count, let limit):
      (.invalidArgument, "\(count) bytes of \(part == .data ? "advertising data" : "scan response") are too many: the limit is \(limit).")
    case .cannotAdvertiseExtended(let adapter): (.unsupported, "\(adapter) has no extended advertising.")
    case .cannotScan(let adapter, let phy, _): (.unsupported, "\(adapter) cannot scan on PHY \(phy.name).")
    case .unsupported(let adapter, let procedure): (.unsupported, "\(adapter) has no procedure for \(procedure).")
    case .isScanning(let adapter): (.adapter, "\(adapter) already scans for another task of this process.")
    case .scanEnded(let adapter, let peer): (.adapter, "\(adapter) cannot scan while it connects to \(peer).")
    case .noConnection(let peer, let limit): (.timeout, "\(peer) did not accept a connection within \(seconds(limit)).")
    case .connectionFailed(let peer, let code): (.disconnected, "The connection to \(peer) failed: \(code).")
    case .noAnswer(let peer, let procedure): (.timeout, "\(peer) did not answer the request for \(procedure).")
    case .notAgreed(let peer, let procedure, let code): (.unsupported, "\(peer) did not agree to \(procedure): \(code).")
    }
  }

  private static func facts(_ error: PeerSearchError) -> (Reason, String) {
    switch error {
    case .notFound(let selector, let devices, _, let limit, _):
      (
        .notFound,
        "Heard no \(name(selector)) within \(seconds(limit)), but \(devices == 1 ? "1 other device" : "\(devices) other devices")."
      )
    case .namesake(let other, let selector):
      (.notFound, "\(selector) means a bonded device. Only \(other.peer) advertised, another device of that name: its address means it.")
    case .several(let found, let selector):
      (.ambiguous, "\(found.count) devices match \(selector): \(found.map { "\($0.peer)" }.joined(separator: ", ")).")
    case .notConnectable(let peer, _): (.unsupported, "\(peer) advertises, but accepts no connections.")
    }
  }

  private static func facts(_ error: RestorationError) -> (Reason, String) {
    switch error {
    case .gaveUp(let time, let tries, let last):
      (
        .disconnected,
        "The link is lost. \(tries == 1 ? "1 attempt" : "\(tries) attempts") to restore it within \(seconds(time)) failed."
          + (last.map { " \(Self($0))" } ?? "")
      )
    case .ended: (.disconnected, "The connection has ended.")
    case .isUnderWay: (.disconnected, "The link is being restored.")
    }
  }

  private static func facts(_ error: TransferError) -> (Reason, String) {
    switch error {
    case .unknownProperties(let attribute): (.invalidArgument, "The properties of \(attribute) are unknown. Name it by its UUID.")
    case .notWritable(let attribute): (.unsupported, "\(attribute) is not writable.")
    case .nothingToSend(let place, _): (.invalidArgument, "The file has no bytes from byte \(place) on.")
    case .noCount, .otherBytes: (.protocolViolation, "The device's report does not fit the file.")
    }
  }

  private static func facts(_ error: TransportError) -> (Reason, String) {
    switch error {
    case .notAnAddress(let text, _): (.invalidArgument, "\(text) is not tcp:HOST:PORT, unix:PATH or serial:PATH[@BAUD].")
    case .pathTooLong(let path): (.invalidArgument, "The path of a UNIX socket is too long: \(path).")
    case .unknownBaudRate(let rate): (.invalidArgument, "The system has no baud rate \(rate).")
    case .unknownHost(let host, let reason): (.adapter, "Cannot find host \(host): \(reason).")
    case .unresolvedHost(let host): (.timeout, "The name server did not answer for \(host).")
    case .notConnected(let address, let errno): (.adapter, "Cannot connect to \(address): \(errno).")
    case .connectTimeout(let address): (.timeout, "\(address) did not accept a connection within \(seconds(TimeLimits.stream)).")
    case .serialLine(let address, let errno): (.adapter, "Cannot use \(address): \(errno).")
    default: (.adapter, "The stream to the controller ended: \(error).")
    }
  }

  /// Returns the selector as callers name it.
  private static func name(_ selector: PeerSelector) -> String { if case .name(let name) = selector { name } else { "\(selector)" } }

  private static func sentence(_ error: Disconnection) -> String {
    switch error.cause {
    case .lost(let code): "The link to \(error.peer) is lost: \(code)."
    case .endedHere(let code): "This side ended the link to \(error.peer)\(code.map { ": \($0)" } ?? "")."
    case .handleReused(let adapter): "\(adapter) gave the handle of the link to \(error.peer) to another link."
    case .channelClosed: "The link to \(error.peer) is closed."
    }
  }

  private static func sentence(_ failure: PairingFailure) -> String {
    switch failure {
    case .wrongPasskey(.us): "the passkey is wrong"
    case .wrongPasskey(.peer): "the device says that the passkey is wrong"
    case .numberRefused(.us): "the numbers differ"
    case .numberRefused(.peer): "the device says that the numbers differ"
    case .passkeyNotEntered: "the passkey was not entered"
    case .canceled: "it was canceled"
    case .refused(let reason): "the device refused it (\(reason))"
    case .silent(let time): "the device was silent for \(seconds(time))"
    case .disconnected(let code): "the link ended (\(code))"
    case .keySize(let agreed, let minimum): "the device offers a key of \(agreed) bytes, fewer than \(minimum)"
    case .legacyPairing: "the device offers only LE legacy pairing"
    case .notAuthenticated: "the abilities of both sides permit no protection against an attacker in the middle"
    case .weakerThanBond: "the new key is weaker than the stored one"
    case .identityTaken(let identity): "the device claims the identity \(identity) of another bond"
    case .busy: "another pairing with the device is under way"
    case .closed: "the link takes no more pairings, because it is down or an earlier pairing was silent. Connect again"
    case .outOfBandWanted: "the device wants data that only reach it on another way, such as NFC"
    case .encryptionFailed(let code): "the link could not be encrypted with the new key (\(code))"
    case .encryptionLost: "the link lost its encryption before both sides had all keys"
    case .invalidPublicKey, .debugKey, .reflected, .confirmMismatch, .checkMismatch, .unrequestedKeys, .unexpectedPDU, .malformedPDU:
      "the device broke the protocol, which an attacker could cause, too (\(failure))"
    case .bondRejected: "the device does not accept the stored key. It may have lost its bond, or another device uses its address"
    default: "\(failure)"
    }
  }

  private static func sentence(_ fault: Selector.Fault) -> String {
    switch fault {
    case .tooManyParts: "it has too many parts. Use [SERVICE/]CHARACTERISTIC[@DESCRIPTOR]"
    case .handleInService: "a handle needs no service"
    case .noHandle: "a handle is from 0x0001 to 0xFFFF"
    case .wrongIndex: "the number in brackets counts from 1"
    case .emptyPart: "a part of it is empty"
    case .unknownName(let name): "\(name) is neither a UUID, a handle nor an assigned name"
    }
  }

  private static func sentence(_ failure: VerificationFailure) -> String {
    switch failure {
    case .otherValue(_, let count, let sent): "The device has a value of \(count) bytes that differs from the \(sent) bytes sent."
    case .otherReport(let report):
      report.report.map { "The device reports \($0.count) bytes, of \(report.sent) sent, or another CRC-32." }
        ?? "The device did not report what it has within \(seconds(TimeLimits.report))."
    }
  }

  private static func sentence(_ fault: ControllerError.Fault) -> String {
    switch fault {
    case .refused(let opcode, let code): "the controller refused \(opcode): \(code)"
    case .silent(let opcode, let limit): "the controller did not answer \(opcode) within \(seconds(limit))"
    case .starved(let opcode, let limit): "the controller took no command for \(seconds(limit)), so \(opcode) was not sent"
    case .unreadable(let opcode, let error): "the controller's answer to \(opcode) is malformed: \(error)"
    case .hardware(let code): "the controller reported a hardware error \(code)"
    case .overflow: "the controller dropped packets"
    case .withoutLE: "the controller has no Bluetooth LE"
    case .withoutBuffers: "the controller has no buffers"
    case .notStarted, .closed: "the adapter is closed"
    }
  }

  private static func sentence(_ error: HostError) -> String {
    switch error {
    case .cannotConnect(let adapter, let peer): "\(adapter) cannot connect to \(peer): another program uses it."
    case .hasLinkAlready(let adapter, let peer): "\(adapter) already has a link to \(peer), for this or another program."
    case .cannotScan(let adapter, _): "\(adapter) cannot scan: another program uses it."
    case .cannotAdvertise(let adapter, _): "\(adapter) cannot advertise: another program uses it."
    }
  }

  private static func seconds(_ time: Duration) -> String {
    let text = "\((time.inSeconds * 1000).rounded() / 1000)"
    return (text.hasSuffix(".0") ? String(text.dropLast(2)) : text) + " s"
  }
}
