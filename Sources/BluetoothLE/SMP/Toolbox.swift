// SPDX-License-Identifier: Apache-2.0
/// The cryptographic toolbox of the Security Manager (Vol 3 Part H §2.2).
///
/// Numbers have the specification's order: the first part of a concatenation is the most significant one. PDUs have the reverse order.
package enum Toolbox {
  /// Computes the hash part of a resolvable private address (ah, §2.2.2).
  /// - Parameter prand: The random part of the address, 24 bits.
  /// - Returns: The hash, 24 bits.
  package static func ah(irk: UInt128, prand: UInt32) -> UInt32 {
    UInt32(truncatingIfNeeded: AES128(key: irk).encrypt(UInt128(prand & 0xFF_FFFF))) & 0xFF_FFFF
  }

  /// Computes the confirm value of LE legacy pairing (c1, §2.2.3).
  /// - Parameters:
  ///   - k: The temporary key (TK).
  ///   - r: The random number of the device that confirms.
  ///   - request: The Pairing Request, 7 bytes with the code in the least significant one.
  ///   - response: The Pairing Response in the same form.
  package static func c1(
    k: UInt128, r: UInt128, request: UInt64, response: UInt64, initiator: PeerAddress, responder: PeerAddress
  ) -> UInt128 {
    let p1 = UInt128(response) << 72 | UInt128(request) << 16 | UInt128(responder.typeBit) << 8 | UInt128(initiator.typeBit)
    let p2 = UInt128(initiator.address.rawValue) << 48 | UInt128(responder.address.rawValue)
    let cipher = AES128(key: k)
    return cipher.encrypt(cipher.encrypt(r ^ p1) ^ p2)
  }

  /// Computes the short term key (STK) of LE legacy pairing from the halves of two random numbers (s1, §2.2.4).
  /// - Parameters:
  ///   - r1: The responder's random number.
  ///   - r2: The initiator's random number.
  package static func s1(k: UInt128, r1: UInt128, r2: UInt128) -> UInt128 {
    AES128(key: k).encrypt(r1 << 64 | UInt128(UInt64(truncatingIfNeeded: r2)))
  }

  /// Computes the confirm value of LE Secure Connections (f4, §2.2.6).
  /// - Parameters:
  ///   - u: The x coordinate of the public key of the device that confirms, 32 bytes, most significant first.
  ///   - v: The x coordinate of the other public key.
  ///   - x: The random number of the device that confirms.
  ///   - z: 0, or 0x80 or 0x81 for a bit of the passkey.
  package static func f4(u: [UInt8], v: [UInt8], x: UInt128, z: UInt8) -> UInt128 { code(x, u, v, [z]) }

  /// Computes the two keys of LE Secure Connections (f5, §2.2.7).
  /// - Parameters:
  ///   - w: The Diffie-Hellman key, 32 bytes, most significant first.
  ///   - n1: The initiator's random number.
  ///   - n2: The responder's random number.
  ///   - a1: The initiator's address.
  ///   - a2: The responder's address.
  /// - Returns: The MacKey, and the long term key before it is cut to the key size.
  package static func f5(w: [UInt8], n1: UInt128, n2: UInt128, a1: PeerAddress, a2: PeerAddress) -> (macKey: UInt128, longTermKey: UInt128)
  {
    let salt: UInt128 = 0x6C88_8391_AAF5_A538_6037_0BDB_5A60_83BE
    let t = code(salt, w)
    func key(_ counter: UInt8) -> UInt128 { code(t, [counter], Array("btle".utf8), n1.bytes, n2.bytes, a1.bytes, a2.bytes, [1, 0]) }
    return (key(0), key(1))
  }

  /// Computes a DHKey check value (f6, §2.2.8).
  /// - Parameters:
  ///   - w: The MacKey.
  ///   - n1: The random number of the device that sends the check.
  ///   - n2: The random number of the other device.
  ///   - r: The passkey, or 0 if the method uses none.
  ///   - ioCapabilities: AuthReq, OOB data flag and IO capability of the sender, 24 bits.
  ///   - a1: The address of the sender.
  ///   - a2: The address of the other device.
  package static func f6(
    w: UInt128, n1: UInt128, n2: UInt128, r: UInt128, ioCapabilities: UInt32, a1: PeerAddress, a2: PeerAddress
  ) -> UInt128 {
    let capabilities = [16, 8, 0].map { UInt8(truncatingIfNeeded: ioCapabilities >> $0) }
    return code(w, n1.bytes, n2.bytes, r.bytes, capabilities, a1.bytes, a2.bytes)
  }

  /// Computes the number that users compare (g2, §2.2.9). Its last six decimal digits are displayed.
  /// - Parameters:
  ///   - u: The x coordinate of the initiator's public key, 32 bytes, most significant first.
  ///   - v: The x coordinate of the responder's public key.
  ///   - x: The initiator's random number.
  ///   - y: The responder's random number.
  package static func g2(u: [UInt8], v: [UInt8], x: UInt128, y: UInt128) -> UInt32 {
    UInt32(truncatingIfNeeded: code(x, u, v, y.bytes))
  }

  private static func code(_ key: UInt128, _ parts: [UInt8]...) -> UInt128 {
    AES128(key: key).authenticationCode(of: parts.flatMap { $0 })
  }
}

extension UInt128 {
  /// The 16 bytes of the number, most significant first.
  var bytes: [UInt8] { (0..<16).map { UInt8(truncatingIfNeeded: self >> (120 - 8 * UInt128($0))) } }

  /// Returns the key with zeros in place of its most significant bytes (Vol 3 Part H §2.3.4).
  /// - Parameter size: The size of the key in bytes.
  func cut(to size: UInt8) -> UInt128 { size >= 16 ? self : self & ~(UInt128.max << (8 * UInt128(size))) }
}

extension PeerAddress {
  /// The type in packets: 0 for a public address, 1 for a random one.
  var typeBit: UInt8 { type == .random ? 1 : 0 }

  /// The type and the address in 7 bytes, most significant first.
  fileprivate var bytes: [UInt8] { [typeBit] + address.bigEndianBytes }
}
