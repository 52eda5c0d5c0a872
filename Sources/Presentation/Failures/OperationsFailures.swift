package import BluetoothLELinux
import SystemPackage
import Traces

extension RestorationError: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .gaveUp(let time, let tries, let last):
      var failure = last.map { Failure($0) } ?? .linkLost("")
      if failure.mayPass { failure = .linkLost("Last error: \(failure.message)") }
      let attempts = "Reconnecting failed after \(tries == 1 ? "1 try" : "\(tries) tries") in \(time.secondsText) s"
      failure.message = last == nil ? attempts : "\(attempts). \(failure.message)"
      return failure
    case .ended: return .linkLost("Connection ended")
    case .isUnderWay: return .linkLost("Connection lost, already reconnecting")
    }
  }
}

extension SecurityDemanded: FailureConvertible {
  package var failure: Failure {
    var failure = Failure(cause)
    failure.add(hasAsked ? "The device had asked for pairing." : "The device demands pairing.")
    failure.origin.error = self
    return failure
  }
}

extension NotACharacteristic: FailureConvertible {
  package var failure: Failure { .notFound("Cannot subscribe to \(selector) (handle \(handle)): it is not the value of a characteristic.") }
}

extension FailedRead: FailureConvertible {
  package var failure: Failure {
    var failure = Failure(cause)
    if failure.kind != .att { failure.message = "Cannot read \(attribute.shortName): \(failure.message)" }
    return failure
  }
}

extension TransferError: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .unknownProperties(let attribute):
      .notFound("Handle \(attribute.handle) is not the value of a characteristic. To write to it anyway, use --mode.")
    case .nothingToSend(let offset, let total): .input("Nothing to send from byte \(offset)\(total.map { " of \($0)" } ?? "").")
    case .noCount(let value):
      .expectation(
        "Invalid report \(value.isEmpty ? "an empty value" : Hex.encode(value)): expected 8 bytes, the byte count and the CRC-32 (both u32le)."
      )
    case .otherBytes(let report):
      .expectation(
        "The device reports \(report), which does not match the start of the file: it lost bytes or has other data. Reset its counter if "
          + "needed, then send the whole file without --resume.")
    case .notWritable(let attribute):
      Failure(
        .att,
        "Cannot write \(attribute.uuid?.description ?? attribute.handle.description): it has neither write nor write_without_response.",
        ErrorCode.writeNotPermitted)
    }
  }
}

extension IncompleteWrite: FailureConvertible {
  package var failure: Failure {
    let isQueued = mode == .long || mode == .reliable
    let state = "\(progress.sent) of \(total) bytes were \(mode == .command ? "sent" : "confirmed")."
    if cause is CancellationError, segments > 1 {
      return Failure(
        .interrupted, "Interrupted. " + (isQueued ? "Nothing was written: the parts queued on the device were canceled." : state))
    }
    var failure = Failure(cause)
    if failure.kind == .linkLost { failure.written = Failure.Written(sent: sent, acknowledged: isQueued ? 0 : progress.confirmed) }
    if sent == total, let end = endByDevice {
      failure.message = "All bytes were sent, but \(device ?? "the device") \(end) before it confirmed them. That is normal for a reboot."
    } else if segments > 1, !isQueued {
      failure.add(state)
    }
    return failure
  }

  /// How the device ended the connection, such as `stopped answering`. Nil if the device did not end the connection.
  private var endByDevice: String? {
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
}

extension InterruptedTransfer: FailureConvertible {
  package var failure: Failure { Failure(transfer: write, isRemembered: isRemembered, advises: !isResumedHere) }
}

extension ImpossibleVerification: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .notReadable(let uuid): .usage("Cannot verify with read-back: \(uuid) is not readable. Use --verify notify:ATTR")
    case .tooLong(let count):
      .usage(
        "--verify read-back compares at most \(WriteProcedure.largestValue) bytes, not \(count.map { "\($0)" } ?? "more"). Use --verify notify:ATTR"
      )
    }
  }
}

extension Failure {
  /// Creates the failure of a verification.
  /// - Parameters:
  ///   - reporter: The report characteristic as the user named it. Nil without one.
  ///   - isSimulated: Whether the device ends with the command.
  package init(_ error: VerificationFailure, reporter: String?, isSimulated: Bool) {
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
        goesOn(at: resumption.offset, of: error.sent, isRemembered: resumption.isRemembered, isSimulated: isSimulated)
      } else if error.isCommand {
        add(
          error.report.map { $0.count > error.sent } ?? false
            ? "The device also counted earlier bytes. Reset its counter, then send the file again."
            : "This does not match the start of the file. Send it again. If the device drops segments again: --mode request")
      }
    }
  }

  /// Creates the failure of a transfer. The message contains the byte counts and how to resume.
  /// - Parameters:
  ///   - isRemembered: Whether `--resume` can continue this transfer.
  ///   - advises: Whether the message tells the user how to resume. False if the command resumes automatically.
  ///   - isSimulated: Whether the device ends with the command.
  package init(transfer error: IncompleteWrite, isRemembered: Bool = false, advises: Bool = true, isSimulated: Bool = false) {
    if error.cause is CancellationError { self.init(.interrupted, "Interrupted") } else { self.init(error.cause) }
    if kind == .linkLost { written = Written(sent: error.sent, acknowledged: error.progress.confirmed) }
    // A replay receives no bytes.
    if error.cause is ReplayError { return }
    let (confirmed, sent) = (error.progress.confirmed, error.progress.sent)
    goesOn(at: confirmed, orUpTo: sent, of: error.total, isRemembered: isRemembered, advises: advises, isSimulated: isSimulated)
  }

  /// Adds the number of confirmed bytes and, if `advises` is true, how to resume the transfer.
  private mutating func goesOn(
    at confirmed: Int, orUpTo sent: Int = 0, of total: Int, isRemembered: Bool, advises: Bool = true, isSimulated: Bool
  ) {
    let hint = sent > confirmed ? " (for a closer estimate, use --ack-every)" : ""
    add("\(sent > confirmed ? "Between \(confirmed) and \(sent)" : "At least \(confirmed)") of \(total) bytes arrived\(hint).")
    resumeOffset = confirmed
    if isSimulated {
      let address = "unix:$XDG_RUNTIME_DIR/sim"
      return add("The simulated device stops with this command. To keep one running: blectl sim --listen \(address), then -i \(address)")
    }
    if advises, confirmed < total {
      add("To continue, add \(isRemembered ? "--resume, or " : "")--offset \(confirmed) to the same command line.")
    }
    if advises, confirmed == total, isRemembered { add("To verify them, add --resume to the same command line.") }
  }
}

extension Connection {
  /// The name of the device, or its address if the name is unknown.
  @LoopActor
  package var title: String { name.map { $0.isEmpty ? peer.description : $0.description } ?? peer.description }

  /// Adds facts to the error of a command: the device's name, or that the device disconnected during discovery.
  /// - Parameter program: `blectl ` before the commands of the advice. Empty in a session.
  package func explained(_ error: any Error, _ program: String) -> any Error {
    if let error = error as? InsufficientSecurity { return error.explained(program, typedName) }
    if var write = error as? IncompleteWrite {
      write.device = title
      let failure = explainedBySecurity(write.failure, program)
      return failure == write.failure ? write : failure
    }
    let plain = Failure(error)
    var failure = explainedBySecurity(plain, program)
    guard client.endedInDiscovery, failure.kind == .linkLost, !(failure.origin.error is SecurityDemanded) else {
      return failure == plain ? error : failure
    }
    failure.message = "\(title) disconnected during discovery: \(failure.message)"
    failure.add("To skip discovery, use a handle: read 0x0012, notify 0x0012, or write 0x0012 VALUE --mode request")
    return failure
  }
}
