/// The answers of a device that does not pair, on the Security Manager channel (Vol 3 Part H §3).
///
/// An implementation of LE pairing would replace `answer`, whose callers are the links of blectl's own host (`HostLink`)
/// and the simulated devices (`VirtualLinkChannel`). The kernel's host pairs without blectl.
package enum SecurityManager {
  private static let pairingFailed: UInt8 = 0x05
  private static let pairingNotSupported: UInt8 = 0x05
  /// The codes from Pairing Request to Keypress Notification. A receiver must ignore all other codes (Vol 3 Part H §3.3).
  private static let codes: ClosedRange<UInt8> = 0x01...0x0E

  /// Answers a PDU with Pairing Failed, Pairing Not Supported (Vol 3 Part H §3.5.5), so that the peer does not wait 30 s and disconnect.
  /// - Returns: nil for Pairing Failed and for reserved codes, which need no answer.
  package static func answer(_ pdu: [UInt8]) -> [UInt8]? {
    guard let code = pdu.first, codes.contains(code), code != pairingFailed else { return nil }
    return [pairingFailed, pairingNotSupported]
  }
}
