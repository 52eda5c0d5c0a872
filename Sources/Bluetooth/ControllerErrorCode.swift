import Text

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
  package static let connectionTimeout = Self(rawValue: 0x08)
  package static let connectionLimitExceeded = Self(rawValue: 0x09)
  package static let connectionAlreadyExists = Self(rawValue: 0x0B)
  package static let commandDisallowed = Self(rawValue: 0x0C)
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

  private static let names: [UInt8: String] = [
    0x00: "Success",
    0x01: "Unknown HCI Command",
    0x02: "Unknown Connection Identifier",
    0x03: "Hardware Failure",
    0x04: "Page Timeout",
    0x05: "Authentication Failure",
    0x06: "PIN or Key Missing",
    0x07: "Memory Capacity Exceeded",
    0x08: "Connection Timeout",
    0x09: "Connection Limit Exceeded",
    0x0A: "Synchronous Connection Limit To A Device Exceeded",
    0x0B: "Connection Already Exists",
    0x0C: "Command Disallowed",
    0x0D: "Connection Rejected due to Limited Resources",
    0x0E: "Connection Rejected Due To Security Reasons",
    0x0F: "Connection Rejected due to Unacceptable BD_ADDR",
    0x10: "Connection Accept Timeout Exceeded",
    0x11: "Unsupported Feature or Parameter Value",
    0x12: "Invalid HCI Command Parameters",
    0x13: "Remote User Terminated Connection",
    0x14: "Remote Device Terminated Connection due to Low Resources",
    0x15: "Remote Device Terminated Connection due to Power Off",
    0x16: "Connection Terminated By Local Host",
    0x17: "Repeated Attempts",
    0x18: "Pairing Not Allowed",
    0x19: "Unknown LMP PDU",
    0x1A: "Unsupported Remote Feature",
    0x1E: "Invalid LL Parameters",
    0x1F: "Unspecified Error",
    0x20: "Unsupported LL Parameter Value",
    0x21: "Role Change Not Allowed",
    0x22: "LL Response Timeout",
    0x23: "LL Procedure Collision",
    0x25: "Encryption Mode Not Acceptable",
    0x26: "Link Key Cannot be Changed",
    0x28: "Instant Passed",
    0x29: "Pairing With Unit Key Not Supported",
    0x2A: "Different Transaction Collision",
    0x2E: "Channel Classification Not Supported",
    0x2F: "Insufficient Security",
    0x30: "Parameter Out Of Mandatory Range",
    0x37: "Secure Simple Pairing Not Supported By Host",
    0x38: "Host Busy - Pairing",
    0x39: "Connection Rejected due to No Suitable Channel Found",
    0x3A: "Controller Busy",
    0x3B: "Unacceptable Connection Parameters",
    0x3C: "Advertising Timeout",
    0x3D: "Connection Terminated due to MIC Failure",
    0x3E: "Connection Failed to be Established",
    0x40: "Coarse Clock Adjustment Rejected",
    0x42: "Unknown Advertising Identifier",
    0x43: "Limit Reached",
    0x44: "Operation Cancelled by Host",
    0x45: "Packet Too Long",
    0x46: "Too Late",
    0x47: "Too Early",
  ]
}
