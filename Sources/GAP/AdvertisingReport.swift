package import Bluetooth

/// One advertisement or scan response as a controller reported it, whatever the form of the report
/// (LE Advertising Report, Vol 4 Part E §7.7.65.2; LE Extended Advertising Report §7.7.65.13).
package struct AdvertisingReport: Sendable, Equatable {
  package enum PDU: String, Sendable {
    case connectable = "adv_ind"
    case directed = "adv_direct_ind"
    case scannable = "adv_scan_ind"
    case nonConnectable = "adv_nonconn_ind"
    case scanResponse = "scan_rsp"
    /// Extended advertising PDUs; `isConnectable` and `isScannable` tell the rest.
    case extended = "adv_ext_ind"
  }

  package var pdu: PDU
  package var isConnectable: Bool
  package var isScannable: Bool
  /// The advertiser. Nil if it is anonymous (address type 0xFF).
  package var peer: PeerAddress?
  /// dBm, −127…20; nil when the controller does not know (127).
  package var rssi: Int8?
  /// Advertising data or scan response data, AD structures, at most 1650 octets.
  package var data: [UInt8]
  /// True when the controller said that it lost the rest of the data.
  package var isTruncated: Bool
  package var primaryPHY: PHY
  package var secondaryPHY: PHY?
  /// Advertising Set ID, 0–15.
  package var sid: UInt8?
  /// dBm, from the extended report itself.
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
