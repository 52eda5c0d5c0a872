// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// The requests of MCUmgr that an update needs.
package enum ManagementOperation: String, Hashable, Sendable, CaseIterable {
  case echo, reset, parameters, applicationInfo, bootloaderInfo, images, setState, upload, erase, slotInfo, writeSetting, saveSettings

  /// The group and the command, and whether the request is a write.
  var code: (group: UInt16, command: UInt8, isWrite: Bool) {
    switch self {
    case .echo: (0, 0, true)
    case .reset: (0, 5, true)
    case .parameters: (0, 6, false)
    case .applicationInfo: (0, 7, false)
    case .bootloaderInfo: (0, 8, false)
    case .images: (1, 0, false)
    case .setState: (1, 0, true)
    case .upload: (1, 1, true)
    case .erase: (1, 5, true)
    case .slotInfo: (1, 6, false)
    case .writeSetting: (3, 0, true)
    case .saveSettings: (3, 3, true)
    }
  }

  /// The operation that a message requests or answers. Nil if an update needs no such operation.
  package init?(_ message: ManagementMessage) {
    let code = (message.group, message.command, message.operation & 6 == 2)
    guard let operation = Self.allCases.first(where: { $0.code == code }) else { return nil }
    self = operation
  }
}

/// The reason why a request or an update with MCUmgr failed.
package enum ManagementError: ProcedureError, Hashable, Sendable {
  case noService
  /// The device refused a request. Some devices add a text.
  case refused(ManagementOperation, ManagementRefusal, reason: String?)
  /// There was no answer within this time, in which the request was sent so many times.
  case noAnswer(ManagementOperation, after: Duration, tries: Int = 1)
  /// An answer is not CBOR, lacks a value, or has an impossible one.
  case invalidAnswer(ManagementOperation)
  /// A request needs so many bytes. It does not fit one write, and the device does not join the parts of a message.
  case messageTooLong(ManagementOperation, Int, limit: Int)
  /// One write of this MTU is too short for the first request of an upload, and the device does not join the parts of a message.
  case mtuTooSmall(mtu: Int)
  /// The device asked again and again for the bytes from this offset.
  case uploadStuck(at: Int, tries: Int)
  /// The device computed another SHA-256 of the uploaded bytes.
  case uploadMismatch
  case imageTooLarge(Int, limit: Int)
  case noSuchImage(Int)
  /// The device does not have this slot, or does not take uploads for a certain slot.
  case slotNotAddressable(Int)
  case downgradeForbidden(running: ImageVersion, file: ImageVersion)
  /// The bootloader starts the image with the higher version, which is the running one.
  case versionNotHigher(running: ImageVersion, file: ImageVersion)
  /// The device runs the image, but its next restart starts this pending version and keeps it. The bootloader starts no lower one after it.
  case pendingStays(ImageVersion, file: ImageVersion)
  /// The new image shall stay on trial, but the bootloader has no trials.
  case noTrials(BootloaderMode)
  /// The device did not come back after a restart that came before the upload.
  case notBack(after: Duration)
  /// After several restarts, an image is still pending or on trial, so the device has no room for another one.
  case stillBlocked

  static func isUnsupported(_ error: any Error) -> Bool {
    if case refused(_, .notSupported, _)? = error as? Self { true } else { false }
  }
}

/// The code of an error in an answer, with the group that the answer names. It need not be the group of the request.
package struct ManagementRefusal: Hashable, Sendable {
  /// The group that defines the code: 0 operating system, 1 images, 3 settings. Nil for a code that all groups share (`mcumgr_err_t`).
  package let group: UInt16?
  package let code: Int

  package init(group: UInt16? = nil, code: Int) { (self.group, self.code) = (group, code) }

  static let (notSupported, busy, accessDenied) = (Self(code: 8), Self(code: 10), Self(code: 11))

  /// Reads the error in an answer: `{"err": {"group", "rc"}}` since version 1 of the protocol, or `{"rc"}`. Returns nil without one, or for 0.
  /// - Throws: `ManagementError.invalidAnswer` if the error is not readable.
  init?(answer: CBOR, to operation: ManagementOperation) throws(ManagementError) {
    let error = answer["err"]
    guard let code = error.map({ $0["rc"] }) ?? answer["rc"] else {
      if error != nil { throw .invalidAnswer(operation) }
      return nil
    }
    let group = error?["group"]?.integer.flatMap { UInt16(exactly: $0) }
    guard let code = code.integer, error == nil || group != nil else { throw .invalidAnswer(operation) }
    if code == 0 { return nil }
    self.init(group: group, code: code)
  }
}
