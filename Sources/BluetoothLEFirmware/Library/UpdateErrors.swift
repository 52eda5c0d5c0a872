// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// An error of an update, as users of the library see it.
package protocol DescribedUpdateError: DescribedError {}

extension DescribedUpdateError {
  /// The case with its values, such as `The update failed: versionNotHigher(running: 2.0.0, file: 1.0.0).`
  package var sentence: String { "The update failed: \("\(self)".replacing("BluetoothLEFirmware.", with: ""))." }
}

extension FirmwareFileError: DescribedUpdateError {
  package var kind: BluetoothError.Reason { .invalidArgument }
}

extension FirmwareUpdateError: DescribedUpdateError {
  package var kind: BluetoothError.Reason { self == .unknownDevice || self == .legacyDFU ? .unsupported : .invalidArgument }
}

extension UnprovenUpdate: DescribedUpdateError {
  package var kind: BluetoothError.Reason { .verification }
}

extension ManagementError: DescribedUpdateError {
  package var kind: BluetoothError.Reason {
    switch self {
    case .noAnswer: .timeout
    case .invalidAnswer: .protocolViolation
    case .imageTooLarge, .noSuchImage, .slotNotAddressable, .noTrials, .downgradeForbidden, .versionNotHigher, .pendingStays:
      .invalidArgument
    case .uploadMismatch, .notBack: .verification
    default: .unsupported
    }
  }
}

extension DFUError: DescribedUpdateError {
  package var kind: BluetoothError.Reason {
    switch self {
    case .noAnswer: .timeout
    case .invalidAnswer: .protocolViolation
    case .crcMismatch: .verification
    case .bootloaderNotFound: .notFound
    case .lastExecuteUnanswered: .disconnected
    default: .unsupported
    }
  }
}
