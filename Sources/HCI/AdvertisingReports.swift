package import Bluetooth

/// The advertising reports of one HCI event. A malformed report does not affect the reports before it.
package struct AdvertisingReports<Report: AdvertisingReportForm>: Sendable, Equatable {
  package var reports: [Report]
  /// The error in the first malformed report, at which the parser stopped. Nil if all reports are valid.
  package var error: MalformedPacket?

  package init(_ reports: [Report]) { self.reports = reports }

  /// Parses the reports of an event.
  /// - Throws: `MalformedPacket` if the number of reports is missing.
  init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    let count = try reader.uint8("advertising reports: count")
    reports = []
    do throws(MalformedPacket) {
      for _ in 0..<count { reports.append(try Report(parsing: &reader)) }
      try reader.finish("advertising reports")
    } catch {
      self.error = error
      _ = reader.rest()
    }
  }

  func encode(into writer: inout ByteWriter) {
    writer.uint8(UInt8(clamping: reports.count))
    for report in reports { report.encode(into: &writer) }
  }
}

package protocol AdvertisingReportForm: Sendable, Equatable {
  init(parsing reader: inout ByteReader) throws(MalformedPacket)
  func encode(into writer: inout ByteWriter)
}

/// A report of the LE Advertising Report event (Vol 4 Part E §7.7.65.2).
package struct LegacyAdvertisingReport: AdvertisingReportForm {
  /// The event type: 0 ADV_IND, 1 ADV_DIRECT_IND, 2 ADV_SCAN_IND, 3 ADV_NONCONN_IND, 4 SCAN_RSP.
  package var eventType: UInt8
  package var addressType: UInt8
  package var address: Address
  /// The advertising data, at most 31 bytes according to the specification.
  package var data: [UInt8]
  /// The RSSI in dBm. 127 means not available.
  package var rssi: Int8

  package init(eventType: UInt8, peer: PeerAddress, data: [UInt8], rssi: Int8) {
    self.eventType = eventType
    addressType = peer.type.hciValue
    address = peer.address
    self.data = data
    self.rssi = rssi
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    eventType = try reader.uint8("advertising report: event type")
    addressType = try reader.uint8("advertising report: address type")
    address = try reader.address("advertising report: address")
    let length = Int(try reader.uint8("advertising report: data length"))
    data = try reader.bytes(length, "advertising report: data")
    rssi = try reader.int8("advertising report: RSSI")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(eventType)
    writer.uint8(addressType)
    writer.address(address)
    writer.uint8(UInt8(clamping: data.count))
    writer.append(data.prefix(255))
    writer.int8(rssi)
  }
}

/// A report of the LE Extended Advertising Report event (Vol 4 Part E §7.7.65.13).
package struct ExtendedAdvertisingReport: AdvertisingReportForm {
  package enum DataStatus: UInt8, Sendable {
    case complete = 0
    case more = 1
    /// Incomplete data, because the controller lost later fragments.
    case truncated = 2
    case reserved = 3
  }

  /// The event type: bit 0 connectable, 1 scannable, 2 directed, 3 scan response, 4 legacy PDU, 5–6 data status. Other bits are reserved.
  package var eventType: UInt16
  /// The type of the sender's address. 0 and 2 are public, 1 and 3 are random, 0xFF is anonymous.
  package var addressType: UInt8
  package var address: Address
  package var primaryPHY: UInt8
  /// The secondary PHY. 1 is 1M, 2 is 2M, 3 is coded. 0 means no packets on the secondary channels.
  package var secondaryPHY: UInt8
  /// The Advertising Set ID. 0xFF means none.
  package var sid: UInt8
  /// The transmit power in dBm. 127 means not available.
  package var txPower: Int8
  /// The RSSI in dBm. 127 means not available.
  package var rssi: Int8
  /// The periodic advertising interval in units of 1.25 ms. 0 means none.
  package var periodicInterval: UInt16
  package var directAddressType: UInt8
  package var directAddress: Address
  /// The advertising data of this report, at most 229 bytes.
  package var data: [UInt8]

  package init(
    eventType: UInt16, peer: PeerAddress?, primaryPHY: UInt8 = 1, secondaryPHY: UInt8 = 0, sid: UInt8 = 0xFF, txPower: Int8 = 127,
    rssi: Int8, data: [UInt8]
  ) {
    self.eventType = eventType
    addressType = peer?.type.hciValue ?? 0xFF
    address = peer?.address ?? Address(rawValue: 0)
    (self.primaryPHY, self.secondaryPHY, self.sid, self.txPower, self.rssi) = (primaryPHY, secondaryPHY, sid, txPower, rssi)
    periodicInterval = 0
    directAddressType = 0
    directAddress = Address(rawValue: 0)
    self.data = data
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    eventType = try reader.uint16("extended report: event type")
    addressType = try reader.uint8("extended report: address type")
    address = try reader.address("extended report: address")
    primaryPHY = try reader.uint8("extended report: primary PHY")
    secondaryPHY = try reader.uint8("extended report: secondary PHY")
    sid = try reader.uint8("extended report: SID")
    txPower = try reader.int8("extended report: TX power")
    rssi = try reader.int8("extended report: RSSI")
    periodicInterval = try reader.uint16("extended report: periodic interval")
    directAddressType = try reader.uint8("extended report: direct address type")
    directAddress = try reader.address("extended report: direct address")
    let length = Int(try reader.uint8("extended report: data length"))
    data = try reader.bytes(length, "extended report: data")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint16(eventType)
    writer.uint8(addressType)
    writer.address(address)
    writer.uint8(primaryPHY)
    writer.uint8(secondaryPHY)
    writer.uint8(sid)
    writer.int8(txPower)
    writer.int8(rssi)
    writer.uint16(periodicInterval)
    writer.uint8(directAddressType)
    writer.address(directAddress)
    writer.uint8(UInt8(clamping: data.count))
    writer.append(data.prefix(255))
  }

  package var isConnectable: Bool { eventType & 0x01 != 0 }
  package var isScannable: Bool { eventType & 0x02 != 0 }
  package var isDirected: Bool { eventType & 0x04 != 0 }
  package var isScanResponse: Bool { eventType & 0x08 != 0 }
  package var isLegacy: Bool { eventType & 0x10 != 0 }
  package var dataStatus: DataStatus { DataStatus(rawValue: UInt8(truncatingIfNeeded: eventType >> 5) & 3) ?? .reserved }
}

/// A report of the LE Directed Advertising Report event (Vol 4 Part E §7.7.65.11).
package struct DirectedAdvertisingReport: AdvertisingReportForm {
  /// The event type, always 1.
  package var eventType: UInt8
  package var addressType: UInt8
  package var address: Address
  package var directAddressType: UInt8
  package var directAddress: Address
  package var rssi: Int8

  package init(peer: PeerAddress, direct: PeerAddress, rssi: Int8) {
    eventType = 1
    addressType = peer.type.hciValue
    address = peer.address
    directAddressType = direct.type.hciValue
    directAddress = direct.address
    self.rssi = rssi
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    eventType = try reader.uint8("directed report: event type")
    addressType = try reader.uint8("directed report: address type")
    address = try reader.address("directed report: address")
    directAddressType = try reader.uint8("directed report: direct address type")
    directAddress = try reader.address("directed report: direct address")
    rssi = try reader.int8("directed report: RSSI")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(eventType)
    writer.uint8(addressType)
    writer.address(address)
    writer.uint8(directAddressType)
    writer.address(directAddress)
    writer.int8(rssi)
  }
}
