/// An AD structure: a type and its data (Vol 3 Part C §11). Only `encoded` contains the length byte, which is `data.count` + 1.
package struct ADStructure: Hashable, Sendable {
  /// The AD type (Assigned Numbers §2.3). `ADType` names the types that blectl reads.
  package let type: UInt8
  /// The data without type and length, at most 254 bytes in an encoded structure.
  package let data: [UInt8]

  package init(type: UInt8, data: [UInt8]) {
    self.type = type
    self.data = data
  }

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
  package static let manufacturerData: UInt8 = 0xFF

  /// Returns the specification's name of an AD type. Returns nil for a type that blectl does not know.
  package static func name(_ type: UInt8) -> String? {
    switch type {
    case 0x01: "Flags"
    case 0x02: "Incomplete List of 16-bit Service UUIDs"
    case 0x03: "Complete List of 16-bit Service UUIDs"
    case 0x04: "Incomplete List of 32-bit Service UUIDs"
    case 0x05: "Complete List of 32-bit Service UUIDs"
    case 0x06: "Incomplete List of 128-bit Service UUIDs"
    case 0x07: "Complete List of 128-bit Service UUIDs"
    case 0x08: "Shortened Local Name"
    case 0x09: "Complete Local Name"
    case 0x0A: "Tx Power Level"
    case 0x0D: "Class of Device"
    case 0x10: "Device ID"
    case 0x12: "Peripheral Connection Interval Range"
    case 0x14: "List of 16-bit Service Solicitation UUIDs"
    case 0x15: "List of 128-bit Service Solicitation UUIDs"
    case 0x16: "Service Data - 16-bit UUID"
    case 0x17: "Public Target Address"
    case 0x18: "Random Target Address"
    case 0x19: "Appearance"
    case 0x1A: "Advertising Interval"
    case 0x1B: "LE Bluetooth Device Address"
    case 0x1C: "LE Role"
    case 0x1F: "List of 32-bit Service Solicitation UUIDs"
    case 0x20: "Service Data - 32-bit UUID"
    case 0x21: "Service Data - 128-bit UUID"
    case 0x24: "URI"
    case 0x27: "LE Supported Features"
    case 0x2A: "Mesh Message"
    case 0x2B: "Mesh Beacon"
    case 0x2C: "BIGInfo"
    case 0x2D: "Broadcast_Code"
    case 0x2F: "Advertising Interval - long"
    case 0x30: "Broadcast_Name"
    case 0x31: "Encrypted Advertising Data"
    case 0xFF: "Manufacturer Specific Data"
    default: nil
    }
  }
}
