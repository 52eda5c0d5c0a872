// SPDX-License-Identifier: Apache-2.0
/// An advertisement or scan response that the controller has reported
/// (LE Advertising Report, Vol 4 Part E §7.7.65.2, or LE Extended Advertising Report, §7.7.65.13).
package struct AdvertisingReport: Sendable, Equatable {
  package enum PDU: String, Sendable {
    case connectable = "adv_ind"
    case directed = "adv_direct_ind"
    case scannable = "adv_scan_ind"
    case nonConnectable = "adv_nonconn_ind"
    case scanResponse = "scan_rsp"
    /// An extended advertising PDU, whose type `isConnectable` and `isScannable` determine.
    case extended = "adv_ext_ind"
  }

  package var pdu: PDU
  package var isConnectable: Bool
  package var isScannable: Bool
  /// The advertiser's address. Nil for an anonymous advertisement (address type 0xFF).
  package var peer: PeerAddress?
  /// The identity behind the advertiser's address. Nil if no key resolved the address.
  package var identity: ResolvedIdentity?
  /// The RSSI in dBm, −127…20. Nil if the controller does not know the RSSI (value 127).
  package var rssi: Int8?
  /// The AD structures of the advertising or scan response data, at most 1650 bytes. `Advertisement` parses them.
  package var data: [UInt8]
  /// Whether the end of the data is missing, because the controller or blectl did not receive it.
  package var isTruncated: Bool
  package var primaryPHY: PHY
  package var secondaryPHY: PHY?
  /// The Advertising Set ID, 0–15. Nil if the advertisement has none.
  package var sid: UInt8?
  /// The transmit power in dBm from an extended report. Nil if the report has none.
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
