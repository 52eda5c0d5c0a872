package import Bluetooth

/// One advertisement or scan response, in any form of report
/// (LE Advertising Report, Vol 4 Part E §7.7.65.2, or LE Extended Advertising Report, §7.7.65.13).
package struct AdvertisingReport: Sendable, Equatable {
  package enum PDU: String, Sendable {
    case connectable = "adv_ind"
    case directed = "adv_direct_ind"
    case scannable = "adv_scan_ind"
    case nonConnectable = "adv_nonconn_ind"
    case scanResponse = "scan_rsp"
    /// An extended advertising PDU. `isConnectable` and `isScannable` describe it.
    case extended = "adv_ext_ind"
  }

  package var pdu: PDU
  package var isConnectable: Bool
  package var isScannable: Bool
  /// The advertiser. Nil if it is anonymous (address type 0xFF).
  package var peer: PeerAddress?
  /// The RSSI in dBm, −127…20. Nil if the controller does not know it (127).
  package var rssi: Int8?
  /// The AD structures of the advertising or scan response data, at most 1650 bytes.
  package var data: [UInt8]
  /// Whether the controller reported that it lost the rest of the data.
  package var isTruncated: Bool
  package var primaryPHY: PHY
  package var secondaryPHY: PHY?
  /// The Advertising Set ID, 0–15.
  package var sid: UInt8?
  /// The transmit power in dBm, from the extended report itself.
  package var txPower: Int8?

  package init(
    pdu: PDU, isConnectable: Bool, isScannable: Bool, peer: PeerAddress?, rssi: Int8?, data: [UInt8], isTruncated: Bool = false,
    primaryPHY: PHY = .le1M, secondaryPHY: PHY? = nil, sid: UInt8? = nil, txPower: Int8? = nil
  ) {
    self.pdu = pdu
    self.isConnectable = isConnectable
    self.isScannable = isScannable
    self.peer = peer
    self.rssi = rssi
    self.data = data
    self.isTruncated = isTruncated
    self.primaryPHY = primaryPHY
    self.secondaryPHY = secondaryPHY
    self.sid = sid
    self.txPower = txPower
  }
}
