/// The Security Manager's channel, as a device answers there that does not pair (Vol 3 Part H §3).
///
/// LE pairing goes here: a room of its own between L2CAP and GAP takes the place of this one function, fed by the same two callers, the links
/// of our own host (`HostLink`) and the simulated devices (`VirtualLinkChannel`). The kernel's host pairs by itself.
package enum SecurityManager {
  private static let pairingFailed: UInt8 = 0x05
  private static let pairingNotSupported: UInt8 = 0x05
  /// From Pairing Request to Keypress Notification; the other codes are reserved and to be ignored (§3.3).
  private static let codes: ClosedRange<UInt8> = 0x01...0x0E

  /// Pairing Failed, Pairing Not Supported (§3.5.5): silence would make the peer wait 30 s and then drop the link.
  /// - Returns: nil for what is not answered: Pairing Failed itself, and reserved codes.
  package static func answer(_ pdu: [UInt8]) -> [UInt8]? {
    guard let code = pdu.first, codes.contains(code), code != pairingFailed else { return nil }
    return [pairingFailed, pairingNotSupported]
  }
}
