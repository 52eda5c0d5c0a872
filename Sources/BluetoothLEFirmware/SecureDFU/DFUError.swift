// SPDX-License-Identifier: Apache-2.0
/// The reason why an update by Nordic Secure DFU failed.
package enum DFUError: ProcedureError, Hashable, Sendable {
  /// The device has neither the characteristics of a bootloader nor those that start one.
  case noTarget
  /// The bootloader refused a request. Only the result `extended` has an extended error.
  case refused(DFUOperation, DFUResult, DFUExtendedError?)
  /// The application refused to start the bootloader.
  case buttonlessRefused(ButtonlessResult)
  /// The bootloader did not answer. If the operation is nil, it is the application that did not answer.
  case noAnswer(DFUOperation?, after: Duration)
  /// An answer lacks bytes, or has an impossible value.
  case invalidAnswer(DFUOperation)
  /// The device received other bytes than were sent, each time. The object begins at this offset of the init packet or of the image.
  case crcMismatch(DFUObjectType, at: Int, tries: Int)
  /// The init packet has more bytes than the device accepts.
  case initPacketTooLarge(Int, limit: Int)
  /// No bootloader was found after a restart.
  case bootloaderNotFound
  /// The link ended before the answer to the last request, and the application runs. Whether it is the new one is unknown.
  case lastExecuteUnanswered
}

/// The result codes of the control point (nRF5 SDK 17, `nrf_dfu_req_handler.h`).
package enum DFUResult: Hashable, Sendable {
  case success, opcodeNotSupported, invalidParameter, insufficientResources, invalidObject, unsupportedType, notPermitted, failed, extended
  case unknown(UInt8)

  init(_ code: UInt8) {
    let known: [UInt8: Self] = [
      1: .success, 2: .opcodeNotSupported, 3: .invalidParameter, 4: .insufficientResources, 5: .invalidObject, 7: .unsupportedType,
      8: .notPermitted, 10: .failed, 11: .extended,
    ]
    self = known[code] ?? .unknown(code)
  }
}

/// The reasons behind the result `extended`, from 0x02 (nRF5 SDK 17, `nrf_dfu_handling_error.h`).
package enum DFUExtendedError: Hashable, Sendable {
  case commandFormat, unknownCommand, initCommand, firmwareVersion, hardwareVersion, softdeviceVersion, signatureMissing, hashType, hash
  case signatureType, verification, space, alreadyPresent
  case unknown(UInt8)

  init(_ code: UInt8) {
    let known: [Self] = [
      .commandFormat, .unknownCommand, .initCommand, .firmwareVersion, .hardwareVersion, .softdeviceVersion, .signatureMissing, .hashType,
      .hash, .signatureType, .verification, .space, .alreadyPresent,
    ]
    self = (2...14).contains(code) ? known[Int(code) - 2] : .unknown(code)
  }
}

/// The result codes of an application that is asked to start its bootloader (nRF5 SDK 17, `ble_dfu.h`).
package enum ButtonlessResult: Hashable, Sendable {
  case success, opcodeNotSupported, failed, invalidName, busy, notBonded
  case unknown(UInt8)

  init(_ code: UInt8) {
    let known: [UInt8: Self] = [1: .success, 2: .opcodeNotSupported, 4: .failed, 5: .invalidName, 6: .busy, 7: .notBonded]
    self = known[code] ?? .unknown(code)
  }
}
