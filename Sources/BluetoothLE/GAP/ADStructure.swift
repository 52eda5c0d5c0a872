// SPDX-License-Identifier: Apache-2.0
/// An AD structure: a type and its data (Vol 3 Part C §11). Only `encoded` contains the length byte, which is `data.count` + 1.
/// `Advertisement` finds the structures of received data.
package struct ADStructure: Hashable, Sendable {
  /// The AD type (Assigned Numbers §2.3). `ADType` names the types that blectl reads.
  package let type: UInt8
  /// The data without type and length, at most 254 bytes in an encoded structure.
  package let data: [UInt8]

  package init(type: UInt8, data: [UInt8]) { (self.type, self.data) = (type, data) }

  /// The encoded structure: length, type, data. Nil if `data` has more than 254 bytes.
  package var encoded: [UInt8]? {
    guard let length = UInt8(exactly: data.count + 1) else { return nil }
    return [length, type] + data
  }
}

/// The AD types (Assigned Numbers §2.3). CSS Part A §1 has the format of their data.
package enum ADType {
  package static let flags: UInt8 = 0x01
  package static let serviceUUIDs16Incomplete: UInt8 = 0x02
  package static let serviceUUIDs16: UInt8 = 0x03
  package static let serviceUUIDs32Incomplete: UInt8 = 0x04
  package static let serviceUUIDs32: UInt8 = 0x05
  package static let serviceUUIDs128Incomplete: UInt8 = 0x06
  package static let serviceUUIDs128: UInt8 = 0x07
  package static let shortenedLocalName: UInt8 = 0x08
  package static let completeLocalName: UInt8 = 0x09
  package static let txPowerLevel: UInt8 = 0x0A
  package static let classOfDevice: UInt8 = 0x0D
  package static let solicitedUUIDs16: UInt8 = 0x14
  package static let solicitedUUIDs128: UInt8 = 0x15
  package static let serviceData16: UInt8 = 0x16
  package static let appearance: UInt8 = 0x19
  package static let leDeviceAddress: UInt8 = 0x1B
  package static let solicitedUUIDs32: UInt8 = 0x1F
  package static let serviceData32: UInt8 = 0x20
  package static let serviceData128: UInt8 = 0x21
  package static let uri: UInt8 = 0x24
  package static let leSupportedFeatures: UInt8 = 0x27
  package static let broadcastName: UInt8 = 0x30
  package static let manufacturerData: UInt8 = 0xFF
}
