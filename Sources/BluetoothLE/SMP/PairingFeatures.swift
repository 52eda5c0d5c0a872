// SPDX-License-Identifier: Apache-2.0
/// The input and output capabilities of a device (Vol 3 Part H §2.3.2).
package enum IOCapability: UInt8, Sendable, CaseIterable {
  case noInputNoOutput = 3
  case displayOnly = 0
  case displayYesNo = 1
  case keyboardOnly = 2
  case keyboardDisplay = 4

  /// The name in options and files.
  package var name: String {
    switch self {
    case .noInputNoOutput: "none"
    case .displayOnly: "display"
    case .displayYesNo: "yesno"
    case .keyboardOnly: "keyboard"
    case .keyboardDisplay: "keyboard-display"
    }
  }
}

/// The AuthReq field of a pairing or of a Security Request (Vol 3 Part H §3.5.1). It keeps reserved bits, which the check values cover.
package struct AuthenticationRequirements: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The device stores the keys. The field has two bits, whose other values mean no bonding.
  package static let bonding = Self(rawValue: 0x01)
  /// The device requests protection against an attacker in the middle.
  package static let mitm = Self(rawValue: 0x04)
  /// The device supports LE Secure Connections pairing.
  package static let secureConnections = Self(rawValue: 0x08)

  package var isBonding: Bool { rawValue & 0x03 == 0x01 }
}

/// The keys that a device distributes after the link is encrypted (Vol 3 Part H §3.6.1).
package struct KeyDistribution: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The long term key of LE legacy pairing. LE Secure Connections distributes none.
  package static let encryption = Self(rawValue: 0x01)
  /// The identity resolving key and the identity address.
  package static let identity = Self(rawValue: 0x02)
}

/// The parameters of a Pairing Request or a Pairing Response (Vol 3 Part H §3.5.1, §3.5.2).
package struct PairingFeatures: Hashable, Sendable {
  package var ioCapability: IOCapability
  /// Whether the device has OOB data of the other device.
  package var hasOOBData = false
  package var authentication: AuthenticationRequirements
  /// The maximum size of an encryption key, 7–16 bytes.
  package var maximumKeySize: UInt8
  package var initiatorKeys: KeyDistribution
  package var responderKeys: KeyDistribution

  /// The six bytes after the code of the PDU.
  var bytes: [UInt8] {
    [
      ioCapability.rawValue, hasOOBData ? 1 : 0, authentication.rawValue, maximumKeySize, initiatorKeys.rawValue, responderKeys.rawValue,
    ]
  }

  /// The capabilities that a DHKey check covers: AuthReq, OOB data flag and IO capability, 24 bits.
  var checked: UInt32 { UInt32(authentication.rawValue) << 16 | (hasOOBData ? 0x100 : 0) | UInt32(ioCapability.rawValue) }

  /// The whole PDU as the number that a confirm value of LE legacy pairing covers.
  func number(code: UInt8) -> UInt64 { ([code] + bytes).reversed().reduce(0) { $0 << 8 | UInt64($1) } }
}
