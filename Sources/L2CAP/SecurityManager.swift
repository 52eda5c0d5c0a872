/// The answers of a device that does not pair, on the Security Manager channel (Vol 3 Part H §3).
///
/// LE pairing goes here: a separate room between L2CAP and GAP replaces this function. Its callers stay: the links
/// of our own host (`HostLink`) and the simulated devices (`VirtualLinkChannel`). The kernel's host pairs without blectl.
package enum SecurityManager {
  private static let pairingFailed: UInt8 = 0x05
  private static let pairingNotSupported: UInt8 = 0x05
  /// The codes from Pairing Request to Keypress Notification. The others are reserved, and a receiver must ignore them (§3.3).
  private static let codes: ClosedRange<UInt8> = 0x01...0x0E

  /// Answers a PDU with Pairing Failed, Pairing Not Supported (§3.5.5). Without an answer, the peer waits 30 s and drops the link.
  /// - Returns: nil for Pairing Failed itself and for reserved codes, which have no answer.
  package static func answer(_ pdu: [UInt8]) -> [UInt8]? {
    guard let code = pdu.first, codes.contains(code), code != pairingFailed else { return nil }
    return [pairingFailed, pairingNotSupported]
  }
}
