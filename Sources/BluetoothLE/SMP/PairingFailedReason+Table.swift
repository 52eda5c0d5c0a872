// SPDX-License-Identifier: Apache-2.0
/// The specification's names of reasons in Pairing Failed (Vol 3 Part H §3.5.5).
extension PairingFailedReason {
  static let names: [UInt8: String] = [
    0x01: "Passkey Entry Failed",
    0x02: "OOB Not Available",
    0x03: "Authentication Requirements",
    0x04: "Confirm Value Failed",
    0x05: "Pairing Not Supported",
    0x06: "Encryption Key Size",
    0x07: "Command Not Supported",
    0x08: "Unspecified Reason",
    0x09: "Repeated Attempts",
    0x0A: "Invalid Parameters",
    0x0B: "DHKey Check Failed",
    0x0C: "Numeric Comparison Failed",
    0x0D: "BR/EDR Pairing in Progress",
    0x0E: "Cross-transport Key Derivation/Generation Not Allowed",
    0x0F: "Key Rejected",
    0x10: "Busy",
  ]
}
