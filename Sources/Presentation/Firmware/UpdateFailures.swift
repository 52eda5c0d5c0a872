package import BluetoothLE
import BluetoothLEFirmware
import BluetoothLEText

extension FirmwareUpdateError: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .unknownDevice:
      .notFound("The device takes no firmware over MCUmgr or Nordic Secure DFU. List its services: blectl services PEER")
    case .legacyDFU:
      Failure(.device, "The device speaks Nordic's legacy DFU (nRF5 SDK 11 or older), which blectl does not support. Use nRF Connect.")
    case .packageForMCUmgr:
      .input("The file is a package for Nordic Secure DFU, but the device speaks MCUmgr. Use the signed image, such as zephyr.signed.bin.")
    case .imageForDFU:
      .input("The file is an MCUboot image, but the device speaks Nordic Secure DFU. Use a package that nrfutil made.")
    case .unusedOption(let option, let kind):
      .usage("--\(option.rawValue) has no meaning for \(kind.name), which the device speaks. Omit it.")
    }
  }
}

extension UnprovenUpdate: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .notBack(let canRevert):
      .expectation(
        "The device did not come back after the restart, so blectl did not confirm the new image. \(Self.next(canRevert))")
    case .unreadable(let canRevert, let cause):
      .expectation(
        "After the restart, blectl could not read the images of the device, so it did not confirm the new one. "
          + "\(Failure(cause).message.asSentence) \(Self.next(canRevert))")
    case .otherImage(let version, let hash):
      .expectation(
        "The device runs \(version.map { "version \(DisplayText.escape($0))" } ?? "another image")"
          + "\(hash.map { " (hash \(Hex.encode($0.prefix(8)))…)" } ?? ""), not the image of the file. "
          + "Its bootloader refused the new image, or returned to the old one. Check the key of the signature.")
    case .sameVersion(let version):
      .expectation(
        "The device runs version \(DisplayText.escape(version)), as before, and reports no hash. So blectl cannot tell whether the new image runs. "
          + "Give the image another version.")
    case .notConfirmed:
      .expectation(
        "The new image runs, but the device did not confirm it. At the next reset, the device reverts to the old image. "
          + "List its images: blectl firmware PEER list")
    }
  }

  private static func next(_ canRevert: Bool) -> String {
    canRevert
      ? "At the next reset, the device reverts to the old image."
      : "The device cannot return to the old image. Reset it, then list its images: blectl firmware PEER list"
  }
}

extension DFUError: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .noTarget: .notFound("The device has no bootloader for Nordic Secure DFU, and no characteristic that starts one.")
    case .refused(let operation, let result, let extended):
      Failure(
        .device, "The bootloader refused \(operation): \(extended?.text ?? result.caseWords).\(result.advice)", code: nil,
        name: (extended?.caseWords ?? result.caseWords).replacing(" ", with: "_"))
    case .buttonlessRefused(let result):
      Failure(
        .device,
        "The device did not start its bootloader: \(result.caseWords)."
          + (result == .notBonded ? " Pair with it first, or use --pair." : " Restart the device, then try again."))
    case .noAnswer(nil, let time):
      .timeout("The device did not start its bootloader within \(time.secondsText) s. Restart the device, then try again.")
    case .noAnswer(let operation?, let time):
      .timeout("The bootloader did not answer \(operation) within \(time.secondsText) s. Run the same command again.")
    case .invalidAnswer(let operation): .protocolViolation("The bootloader answered \(operation) incorrectly.")
    case .crcMismatch(.command, _, let tries):
      Failure(.device, "The bootloader received a wrong init packet \(tries) times. Reset the device, then try again.")
    case .crcMismatch(.data, let offset, let tries):
      Failure(.device, "The bootloader received wrong bytes after byte \(offset), \(tries) times. Move closer, or use --prn 1.")
    case .initPacketTooLarge(let count, let limit):
      Failure(
        .device, "The init packet has \(count) bytes, but the bootloader takes at most \(limit). Make the package again with nrfutil.")
    case .bootloaderNotFound:
      .expectation("The device restarted, but its bootloader was not found. Update it by its own address: blectl scan --service fe59")
    case .lastExecuteUnanswered:
      .linkLost("The connection ended before the device confirmed the last step, and its application runs again. Check its version.")
    }
  }
}

extension DFUResult {
  fileprivate var advice: String {
    switch self {
    case .insufficientResources: " The firmware may be too large."
    case .invalidObject: " Make the package again with nrfutil."
    case .notPermitted, .failed: " Reset the device, then try again."
    default: ""
    }
  }
}

extension DFUExtendedError {
  fileprivate var text: String {
    switch self {
    case .commandFormat: "the init command is malformed. Make the package again with nrfutil"
    case .unknownCommand: "it does not know the init command. It is older than nrfutil expects"
    case .initCommand: "the init command has an invalid size or type. Make the package again with nrfutil"
    case .firmwareVersion: "the version is too low. It accepts no downgrade: give the package a higher version"
    case .hardwareVersion: "the package is for another hardware version. Give nrfutil the right --hw-version"
    case .softdeviceVersion: "the package is for another SoftDevice. Give nrfutil the right --sd-req, or update the SoftDevice with it"
    case .signatureMissing: "the package is not signed. Sign it with the key that the bootloader knows"
    case .hashType: "it does not support the type of the hash"
    case .hash: "it cannot compute the hash of the firmware"
    case .signatureType: "it does not support the type of the signature"
    case .verification: "the signature or the hash is wrong. Sign the package with the key that the bootloader knows"
    case .space: "the firmware does not fit into the free flash"
    case .alreadyPresent: "the device already has this firmware"
    case .unknown(let code): "unknown extended error \(code)"
    }
  }
}

extension Failure {
  /// Creates the failure of an update that had begun.
  @LoopActor
  package init(update error: any Error, _ progress: UploadProgress) {
    self.init(error)
    // An unanswered end has nothing left to send: the message says what to do.
    guard kind == .linkLost || kind == .interrupted, error as? DFUError != .lastExecuteUnanswered else { return }
    if kind == .interrupted { message = "Interrupted." }
    if let (confirmed, total) = progress.position, confirmed < total { add("The device confirmed \(confirmed) of \(total) bytes.") }
    add("To continue, run the same command again.")
    resumeOffset = progress.position?.confirmed
  }
}

/// An enumeration whose cases are names of a specification.
protocol CaseNames {}

extension CaseNames {
  /// The name of the case in words, such as `not permitted`, and the number of an unknown one: `unknown 9`.
  var caseWords: String {
    "\(self)".replacing("(", with: " ").replacing(")", with: "").replacing("XIP", with: "Xip").replacing("RAM", with: "Ram")
      .reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : "\($1)" }
  }
}

extension DFUResult: CaseNames {}
extension DFUExtendedError: CaseNames {}
extension ButtonlessResult: CaseNames {}
extension ManagementOperation: CaseNames {}
extension BootloaderMode: CaseNames {}
