package import BluetoothLE
import BluetoothLEFirmware
import BluetoothLEText

extension FirmwareUpdateError: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .unknownDevice:
      .notFound("The device takes no firmware over MCUmgr or Nordic Secure DFU. List its services: blectl services PEER")
    case .legacyDFU:
      Failure(
        .device,
        "The device speaks Nordic's legacy DFU (nRF5 SDK 11 or older), which blectl does not support. Use nRF Device Firmware Update.")
    case .packageForMCUmgr:
      .input("The file is a package for Nordic Secure DFU, but the device speaks MCUmgr. Use the signed image, such as zephyr.signed.bin.")
    case .imageForDFU:
      .input("The file is an MCUboot image, but the device speaks Nordic Secure DFU. Use a package that nrfutil made.")
    case .unusedOption(let option, let kind): .usage("\(option.name) has no meaning for \(kind.name), which the device speaks. Omit it.")
    }
  }
}

extension UpdateOptions.Member {
  fileprivate var name: String {
    switch self {
    case .prn: "--prn"
    case .image: "--image"
    case .confirms: "--no-confirm"
    }
  }
}

extension UnprovenUpdate: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .notBack(let canRevert):
      .expectation(
        "The device did not come back after the restart, so blectl did not confirm the new image. "
          + (canRevert
            ? "At the next reset, the device reverts to the old image."
            : "The device cannot return to the old image. Reset it, then list its images with: blectl firmware PEER list"))
    case .otherImage(let version, let hash):
      .expectation(
        "The device runs \(Self.name(version, hash)), not the image of the file. "
          + "Its bootloader refused the new image, or returned to the old one. Check the key of the signature.")
    }
  }

  private static func name(_ version: String?, _ hash: [UInt8]?) -> String {
    let hash = hash.map { "hash \(Hex.encode($0.prefix(8)))…" }
    return version.map { "version \(DisplayText.escape($0))\(hash.map { " (\($0))" } ?? "")" } ?? hash ?? "an unknown image"
  }
}

extension DFUError: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .noTarget: .notFound("The device has no bootloader for Nordic Secure DFU, and no characteristic that starts one.")
    case .refused(let operation, let result, let extended):
      Failure(.device, "The bootloader refused to \(operation.text): \(extended?.text ?? result.text)", code: nil, name: result.snakeName)
    case .buttonlessRefused(let result): Failure(.device, "The device did not start its bootloader: \(result.text)")
    case .noAnswer(nil, let time):
      .timeout("The device did not start its bootloader within \(time.secondsText) s. Restart the device, and try again.")
    case .noAnswer(let operation?, let time):
      .timeout("The bootloader did not answer within \(time.secondsText) s when asked to \(operation.text). Run the same command again.")
    case .invalidAnswer(let operation): .protocolViolation("The bootloader answered incorrectly when asked to \(operation.text).")
    case .crcMismatch(.command, _, let tries):
      Failure(.device, "The bootloader received a wrong init packet \(tries) times. Reset the device, and try again.")
    case .crcMismatch(.data, let offset, let tries):
      Failure(
        .device, "The bootloader received wrong bytes after byte \(offset) of the image, \(tries) times. Move closer, or use --prn 1.")
    case .initPacketTooLarge(let count, let limit):
      Failure(
        .device,
        "The init packet has \(Quantity.octets(count)), but the bootloader takes at most \(limit). Make the package again with nrfutil.")
    case .bootloaderNotFound:
      .expectation(
        "The device restarted, but its bootloader was not found. Scan for it, then update it by its own address: blectl scan --service fe59"
      )
    case .lastExecuteUnanswered:
      .linkLost("The connection ended before the device confirmed the last step, and its application runs again. Check its version.")
    }
  }
}

extension DFUOperation {
  /// The operation after the word *to*.
  fileprivate var text: String {
    switch self {
    case .create: "take the next object"
    case .setPRN: "set the interval of receipts"
    case .crc: "report the checksum"
    case .execute: "execute the object"
    case .select: "report its state"
    }
  }
}

extension DFUResult {
  fileprivate var text: String {
    switch self {
    case .success, .extended: "it gave no reason."
    case .opcodeNotSupported: "it does not know this request."
    case .invalidParameter: "a parameter is invalid."
    case .insufficientResources: "it has not enough memory. The firmware may be too large."
    case .invalidObject: "the object does not match the init packet. Make the package again with nrfutil."
    case .unsupportedType: "it does not support this type of object."
    case .notPermitted: "it does not permit this step now. Reset the device, and try again."
    case .failed: "the operation failed. Reset the device, and try again."
    case .unknown(let code): "unknown result \(code)."
    }
  }

  /// The name of the result, such as `not_permitted`. Nil for an unknown result.
  fileprivate var snakeName: String? { if case .unknown = self { nil } else { "\(self)".snakeCase } }
}

extension DFUExtendedError {
  package var text: String {
    switch self {
    case .commandFormat: "the init command is malformed. Make the package again with nrfutil."
    case .unknownCommand: "it does not know the init command. Its version is older than nrfutil expects."
    case .initCommand: "the init command is invalid: a size or type does not fit. Make the package again."
    case .firmwareVersion: "the version is too low. The bootloader accepts no downgrade: give the package a higher version."
    case .hardwareVersion: "the package is for another hardware version (--hw-version of nrfutil)."
    case .softdeviceVersion: "the package is for another SoftDevice (--sd-req of nrfutil). Update the SoftDevice with it."
    case .signatureMissing: "the package is not signed. Sign it with the key that the bootloader knows."
    case .hashType: "it does not support the type of the hash."
    case .hash: "the hash of the firmware cannot be computed, or is wrong."
    case .signatureType: "it does not support the type of the signature."
    case .verification: "the signature or the hash is wrong. Sign the package with the key that the bootloader knows."
    case .space: "the firmware does not fit into the free flash."
    case .alreadyPresent: "the device already has this firmware."
    case .unknown(let code): "unknown extended error \(code)."
    }
  }
}

extension ButtonlessResult {
  fileprivate var text: String {
    switch self {
    case .success: "it gave no reason."
    case .opcodeNotSupported: "it does not support this request."
    case .failed: "the operation failed. Restart the device, and try again."
    case .invalidName: "it does not accept the name of the bootloader."
    case .busy: "it is busy. Try again later."
    case .notBonded: "it needs a bond. Pair with it first, or use --pair."
    case .unknown(let code): "unknown result \(code)."
    }
  }
}

extension Failure {
  /// Creates the failure of an update that ended during an upload.
  @LoopActor
  package init(update error: any Error, _ progress: UploadProgress) {
    self.init(error)
    guard kind == .linkLost || kind == .interrupted, let position = progress.position else { return }
    if kind == .interrupted { message = "Interrupted." }
    if position.confirmed < position.total { add("The device confirmed \(position.confirmed) of \(position.total) bytes.") }
    add("To continue, run the same command again.")
    resumeOffset = position.confirmed
  }
}

extension String {
  /// The name of an enumeration case in snake case: `notPermitted` is `not_permitted`.
  var snakeCase: String { reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : "\($1)" } }
}
