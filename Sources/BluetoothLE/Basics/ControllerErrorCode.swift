// SPDX-License-Identifier: Apache-2.0
/// A controller error code, from an HCI status field, a disconnect reason or an LL control PDU (Vol 1 Part F).
package struct ControllerErrorCode: RawRepresentable, Error, Hashable, Sendable, CustomStringConvertible {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let success = Self(rawValue: 0x00)
  package static let unknownCommand = Self(rawValue: 0x01)
  package static let unknownConnectionIdentifier = Self(rawValue: 0x02)
  package static let hardwareFailure = Self(rawValue: 0x03)
  package static let authenticationFailure = Self(rawValue: 0x05)
  package static let pinOrKeyMissing = Self(rawValue: 0x06)
  package static let memoryCapacityExceeded = Self(rawValue: 0x07)
  package static let connectionTimeout = Self(rawValue: 0x08)
  package static let connectionLimitExceeded = Self(rawValue: 0x09)
  package static let connectionAlreadyExists = Self(rawValue: 0x0B)
  package static let commandDisallowed = Self(rawValue: 0x0C)
  package static let rejectedForResources = Self(rawValue: 0x0D)
  package static let unsupportedFeature = Self(rawValue: 0x11)
  package static let invalidParameters = Self(rawValue: 0x12)
  package static let remoteUserTerminated = Self(rawValue: 0x13)
  package static let remoteLowResources = Self(rawValue: 0x14)
  package static let remotePowerOff = Self(rawValue: 0x15)
  package static let terminatedByLocalHost = Self(rawValue: 0x16)
  package static let unsupportedRemoteFeature = Self(rawValue: 0x1A)
  package static let llResponseTimeout = Self(rawValue: 0x22)
  package static let insufficientSecurity = Self(rawValue: 0x2F)
  package static let controllerBusy = Self(rawValue: 0x3A)
  package static let unacceptableParameters = Self(rawValue: 0x3B)
  package static let micFailure = Self(rawValue: 0x3D)
  package static let connectionFailedToBeEstablished = Self(rawValue: 0x3E)

  /// The specification's name of the error and its number: `Command Disallowed (0x0c)`.
  package var description: String { "\(name) (0x\(Hex.encode(rawValue)))" }

  /// The specification's name of the error, or "Unknown Error" for a code that the specification does not list.
  package var name: String { Self.names[rawValue] ?? "Unknown Error" }

  /// The name of the error in JSON: `command_disallowed`.
  package var snakeName: String { AssignedNumbers.snake(name) }
}
