// SPDX-License-Identifier: Apache-2.0
/// The advertising reports of one HCI event. A malformed report does not affect the reports before it. Commands.txt has the fields of a
/// report, `AdvertisingReport+HCI.swift` their meaning.
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

/// A report of one of the events for advertising.
package protocol AdvertisingReportForm: Sendable, Equatable {
  init(parsing reader: inout ByteReader) throws(MalformedPacket)
  func encode(into writer: inout ByteWriter)
}

extension LegacyAdvertisingReport: AdvertisingReportForm {
  package init(eventType: UInt8, peer: PeerAddress, data: [UInt8], rssi: Int8) {
    self.init(eventType: eventType, addressType: peer.type.hciValue, address: peer.address, data: data, rssi: rssi)
  }
}

extension ExtendedAdvertisingReport: AdvertisingReportForm {
  package enum DataStatus: UInt8, Sendable {
    case complete = 0
    case more = 1
    /// Incomplete data, because the controller lost later fragments.
    case truncated = 2
    case reserved = 3
  }

  package init(
    eventType: UInt16, peer: PeerAddress?, primaryPHY: UInt8 = 1, secondaryPHY: UInt8 = 0, sid: UInt8 = 0xFF, txPower: Int8 = 127,
    rssi: Int8, data: [UInt8]
  ) {
    let none = Address(rawValue: 0)
    self.init(
      eventType: eventType, addressType: peer?.type.hciValue ?? 0xFF, address: peer?.address ?? none, primaryPHY: primaryPHY,
      secondaryPHY: secondaryPHY, sid: sid, txPower: txPower, rssi: rssi, periodicInterval: 0, directAddressType: 0, directAddress: none,
      data: data)
  }

  package var isConnectable: Bool { eventType & 0x01 != 0 }
  package var isScannable: Bool { eventType & 0x02 != 0 }
  package var isDirected: Bool { eventType & 0x04 != 0 }
  package var isScanResponse: Bool { eventType & 0x08 != 0 }
  package var isLegacy: Bool { eventType & 0x10 != 0 }
  package var dataStatus: DataStatus { DataStatus(rawValue: UInt8(truncatingIfNeeded: eventType >> 5) & 3) ?? .reserved }
}

extension DirectedAdvertisingReport: AdvertisingReportForm {
  package init(peer: PeerAddress, direct: PeerAddress, rssi: Int8) {
    self.init(
      eventType: 1, addressType: peer.type.hciValue, address: peer.address, directAddressType: direct.type.hciValue,
      directAddress: direct.address, rssi: rssi)
  }
}
