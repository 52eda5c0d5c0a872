// SPDX-License-Identifier: Apache-2.0
extension LegacyAdvertisingReport {
  /// The report as an `AdvertisingReport`, the type that all hosts deliver. Nil for a reserved event type.
  package var report: AdvertisingReport? {
    let pdu: AdvertisingReport.PDU
    switch eventType {
    case 0: pdu = .connectable
    case 1: pdu = .directed
    case 2: pdu = .scannable
    case 3: pdu = .nonConnectable
    case 4: pdu = .scanResponse
    default: return nil
    }
    return AdvertisingReport(
      pdu: pdu, isConnectable: eventType <= 1, isScannable: eventType == 0 || eventType == 2,
      peer: PeerAddress(hciType: addressType, address), rssi: rssi == 127 ? nil : rssi, data: data)
  }
}

extension ExtendedAdvertisingReport {
  /// The report as an `AdvertisingReport`, with one part of chained data. `ExtendedReportReassembler` joins the parts.
  package var report: AdvertisingReport {
    let pdu: AdvertisingReport.PDU
    if isScanResponse {
      pdu = .scanResponse
    } else if !isLegacy {
      pdu = .extended
    } else if isDirected {
      pdu = .directed
    } else if isConnectable {
      pdu = .connectable
    } else {
      pdu = isScannable ? .scannable : .nonConnectable
    }
    // A scan response has the bits of the advertisement that it answers, but is itself neither connectable nor scannable.
    return AdvertisingReport(
      pdu: pdu, isConnectable: isConnectable && !isScanResponse, isScannable: isScannable && !isScanResponse,
      peer: PeerAddress(hciType: addressType, address), rssi: rssi == 127 ? nil : rssi, data: data,
      isTruncated: dataStatus == .truncated || dataStatus == .reserved, primaryPHY: Self.phy(primaryPHY) ?? .le1M,
      secondaryPHY: isLegacy ? nil : Self.phy(secondaryPHY), sid: sid <= 0x0F ? sid : nil,
      txPower: txPower == 127 ? nil : txPower)
  }

  /// Returns the PHY of a number. 3 is LE Coded or LE Coded with S=8, and 4 is LE Coded with S=2 (Vol 4 Part E §7.7.65.13).
  private static func phy(_ number: UInt8) -> PHY? { PHY(rawValue: number & 0x1F == 4 ? 3 : number & 0x1F) }
}

extension DirectedAdvertisingReport {
  package var report: AdvertisingReport {
    AdvertisingReport(
      pdu: .directed, isConnectable: true, isScannable: false, peer: PeerAddress(hciType: addressType, address),
      rssi: rssi == 127 ? nil : rssi,
      data: [])
  }
}
