// SPDX-License-Identifier: Apache-2.0
/// The packets that contain keys, passkeys, or random numbers for making keys. Traces replace the parameters of these packets with zeros.
package enum Secrets {
  /// The opcodes of HCI commands with secret parameters (Vol 4 Part E §7). Return parameters may also be secret.
  package static let commands: Set<UInt16> = [
    0x040B,  // Link Key Request Reply
    0x040D,  // PIN Code Request Reply
    0x042E,  // User Passkey Request Reply
    0x0430,  // Remote OOB Data Request Reply
    0x0445,  // Remote OOB Extended Data Request Reply
    0x0C11,  // Write Stored Link Key
    0x2017,  // LE Encrypt
    0x2019,  // LE Enable Encryption
    0x201A,  // LE Long Term Key Request Reply
    0x2026,  // LE Generate DHKey
    0x2027,  // LE Add Device To Resolving List: the IRKs of both devices
    0x205E,  // LE Generate DHKey [v2]
    0x2068,  // LE Create BIG: the Broadcast Code
    0x2069,  // LE Create BIG Test
    0x206B,  // LE BIG Create Sync
  ]

  /// The opcodes of HCI commands whose return parameters may be secret, such as random numbers for making keys.
  package static let returns: Set<UInt16> = commands.union([
    0x0C57,  // Read Local OOB Data
    0x0C7D,  // Read Local OOB Extended Data
    0x2018,  // LE Rand
  ])

  /// The codes of HCI events with secret parameters (Vol 4 Part E §7.7).
  package static let events: Set<UInt8> = [
    0x15,  // Return Link Keys
    0x18,  // Link Key Notification
    0x3B,  // User Passkey Notification
  ]

  /// The subevent codes of LE Meta events with secret parameters (Vol 4 Part E §7.7.65).
  package static let subevents: Set<UInt8> = [0x09]  // LE Generate DHKey Complete

  /// The codes of secret Security Manager PDUs (Vol 3 Part H §3.5, §3.6). Pairing Confirm and Pairing Random together reveal the passkey.
  package static let pairing: Set<UInt8> = [
    0x04,  // Pairing Random
    0x06,  // Encryption Information
    0x08,  // Identity Information
    0x0A,  // Signing Information
  ]
}
