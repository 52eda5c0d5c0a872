// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// An AD structure: a type and its data (Vol 3 Part C §11), and the meaning of the data (Core Specification Supplement, Part A §1).
///
/// A property with a meaning is nil or empty if the structure has another type, or data that is too short for its type.
package struct ADStructure: Hashable, Sendable {
  /// The AD type (Assigned Numbers §2.3). `ADType` names the types that blectl reads.
  package let type: UInt8
  /// The data, in place: a slice of the advertisement.
  let slice: ArraySlice<UInt8>

  /// The data without type and length, at most 254 bytes in an encoded structure.
  package var data: [UInt8] { Array(slice) }

  package init(type: UInt8, data: [UInt8]) { self.init(type: type, slice: data[...]) }

  init(type: UInt8, slice: ArraySlice<UInt8>) { (self.type, self.slice) = (type, slice) }

  /// The encoded structure: length, type, data. Nil if `data` has more than 254 bytes.
  package var encoded: [UInt8]? { UInt8(exactly: slice.count + 1).map { [$0, type] + slice } }

  // MARK: Meaning

  /// The first byte of Flags (§1.3): bit 0 limited discoverable, bit 1 general discoverable, bit 2 no BR/EDR.
  package var flags: UInt8? { type == ADType.flags ? slice.first : nil }

  /// The Tx Power Level in dBm, −127…127 (§1.5).
  package var txPower: Int8? { type == ADType.txPowerLevel ? slice.first.map { Int8(bitPattern: $0) } : nil }

  /// The Appearance (§1.12): category in the upper 10 bits, subcategory in the lower 6.
  package var appearance: UInt16? { type == ADType.appearance ? prefix : nil }

  /// Whether the data is a name of any kind.
  package var isName: Bool { [ADType.shortenedLocalName, ADType.completeLocalName, ADType.broadcastName].contains(type) }

  /// The class that a dual-mode device has over BR/EDR (§1.6).
  package var classOfDevice: ClassOfDevice? { type == ADType.classOfDevice ? ClassOfDevice(data) : nil }

  /// The limits of the preferred connection interval in units of 1.25 ms (§1.9). 0xFFFF means no specific value.
  package var connectionInterval: (least: UInt64, greatest: UInt64)? {
    guard type == ADType.connectionIntervalRange, slice.count == 4 else { return nil }
    return (ByteOrder.little.number(slice.prefix(2)), ByteOrder.little.number(slice.suffix(2)))
  }

  /// The advertising interval in units of 0.625 ms (§1.15). The long form has 3 or 4 bytes.
  package var advertisingInterval: UInt64? {
    switch (type, slice.count) {
    case (ADType.advertisingInterval, 2), (ADType.advertisingIntervalLong, 3...4): ByteOrder.little.number(slice)
    default: nil
    }
  }

  /// The LE Bluetooth Device Address (§1.16): six bytes, least significant first, then a type byte, whose bit 0 means random.
  ///
  /// Devices exist that send the type byte first. The parser assumes this order if the first byte is 00 or 01 and the last byte is not.
  /// Otherwise, the order of the specification applies.
  /// - Returns: The address, and the offset of its first byte in the structure's data, counted from 0.
  package var leDeviceAddress: (peer: PeerAddress, offset: Int)? {
    guard type == ADType.leDeviceAddress, slice.count == 7, let first = slice.first, let last = slice.last else { return nil }
    let typeIsFirst = last > 1 && first <= 1
    let address = Address(rawValue: ByteOrder.little.number(typeIsFirst ? slice.dropFirst() : slice.dropLast()))
    return (PeerAddress(address, (typeIsFirst ? first : last) & 1 == 1 ? .random : .public), typeIsFirst ? 1 : 0)
  }

  /// The LE Role (§1.17).
  package var role: UInt8? { type == ADType.leRole && slice.count == 1 ? slice.first : nil }

  /// The scheme and the rest of a URI (§1.18), whose first byte is a code for the scheme. Code 1 marks a complete URI, without a scheme here.
  package var uri: (scheme: String, rest: [UInt8])? {
    let schemes: [UInt8: String] = [0x01: "", 0x16: "http:", 0x17: "https:"]
    guard type == ADType.uri, let scheme = slice.first.flatMap({ schemes[$0] }) else { return nil }
    return (scheme, Array(slice.dropFirst()))
  }

  /// The bits of the LE Supported Features (§1.19), the first byte first. Trailing zeros may be left out.
  package var leFeatures: [UInt8]? { type == ADType.leSupportedFeatures && !slice.isEmpty ? data : nil }

  /// The offered services (§1.1) of one list, in order of appearance, with duplicates.
  package var serviceUUIDs: [UUID] { uuids(of: .offer) }

  /// The services of a Service Solicitation list (§1.10), which the device wants its peer to offer.
  package var solicitedUUIDs: [UUID] { uuids(of: .solicitation) }

  /// The company identifier and the data of Manufacturer Specific Data (§1.4).
  package var manufacturerData: (company: UInt16, data: [UInt8])? {
    guard type == ADType.manufacturerData, let company = prefix else { return nil }
    return (company, Array(slice.dropFirst(2)))
  }

  /// The service and the data of Service Data (§1.11).
  package var serviceData: (uuid: UUID, data: [UInt8])? {
    guard case (.data, let width)? = use, slice.count >= width, let uuid = UUID(littleEndian: slice.prefix(width)) else { return nil }
    return (uuid, Array(slice.dropFirst(width)))
  }

  /// The reason why the data does not have the format of its type. Nil if it has, or if the type is unknown.
  var defect: String? {
    let count = slice.count
    if let (use, width) = use {
      if use == .data { return count < width ? "service data shorter than its UUID" : nil }
      if count % width == 0 { return nil }
      return width == 2 ? "16-bit UUID list has an odd octet" : "\(width * 8)-bit UUID list is not a multiple of \(width)"
    }
    return switch type {
    case ADType.flags where count == 0: "empty flags"
    case ADType.txPowerLevel where count == 0: "empty TX power level"
    case ADType.appearance where count < 2: "appearance shorter than 2"
    case ADType.leDeviceAddress where count != 7: "LE device address has \(count) bytes instead of 7"
    case ADType.manufacturerData where count < 2: "manufacturer data shorter than the company id"
    default: nil
    }
  }

  // MARK: Parts

  /// The purpose of UUIDs in AD structures.
  private enum Use { case offer, solicitation, data }

  /// The purpose of the structure's UUIDs, and the size of each in bytes. Nil for a type without UUIDs.
  private var use: (Use, width: Int)? {
    switch type {
    case ADType.serviceUUIDs16Incomplete, ADType.serviceUUIDs16: (.offer, 2)
    case ADType.serviceUUIDs32Incomplete, ADType.serviceUUIDs32: (.offer, 4)
    case ADType.serviceUUIDs128Incomplete, ADType.serviceUUIDs128: (.offer, 16)
    case ADType.solicitedUUIDs16: (.solicitation, 2)
    case ADType.solicitedUUIDs32: (.solicitation, 4)
    case ADType.solicitedUUIDs128: (.solicitation, 16)
    case ADType.serviceData16: (.data, 2)
    case ADType.serviceData32: (.data, 4)
    case ADType.serviceData128: (.data, 16)
    default: nil
    }
  }

  /// Returns the whole UUIDs of a list with this purpose.
  private func uuids(of wanted: Use) -> [UUID] {
    guard let (use, width) = use, use == wanted else { return [] }
    return stride(from: slice.startIndex, through: slice.endIndex - width, by: width).compactMap {
      UUID(littleEndian: slice[$0..<$0 + width])
    }
  }

  /// The number in the first two bytes. Nil if there are fewer.
  private var prefix: UInt16? { slice.count < 2 ? nil : UInt16(truncatingIfNeeded: ByteOrder.little.number(slice.prefix(2))) }
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
  package static let connectionIntervalRange: UInt8 = 0x12
  package static let solicitedUUIDs16: UInt8 = 0x14
  package static let solicitedUUIDs128: UInt8 = 0x15
  package static let serviceData16: UInt8 = 0x16
  package static let appearance: UInt8 = 0x19
  package static let advertisingInterval: UInt8 = 0x1A
  package static let leDeviceAddress: UInt8 = 0x1B
  package static let leRole: UInt8 = 0x1C
  package static let solicitedUUIDs32: UInt8 = 0x1F
  package static let serviceData32: UInt8 = 0x20
  package static let serviceData128: UInt8 = 0x21
  package static let uri: UInt8 = 0x24
  package static let leSupportedFeatures: UInt8 = 0x27
  package static let advertisingIntervalLong: UInt8 = 0x2F
  package static let broadcastName: UInt8 = 0x30
  package static let manufacturerData: UInt8 = 0xFF
}
