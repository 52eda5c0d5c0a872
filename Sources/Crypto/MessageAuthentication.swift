import CCrypto

/// An algorithm for message authentication codes, computed with OpenSSL's shared library.
package enum MessageAuthentication: Sendable, Equatable {
  /// AES-CMAC (RFC 4493, Vol 3 Part H §2.2.5) with a key of 16 bytes and a code of 16 bytes.
  case aesCMAC
  /// HMAC (RFC 2104) with SHA-256, with a key of 1 to 64 bytes and a code of 32 bytes.
  case hmacSHA256

  /// Whether the shared library is installed. Reading this value opens the library.
  package static var isAvailable: Bool { shim_mac_is_available() != 0 }
  /// The file name of OpenSSL's shared library.
  package static let library = "libcrypto.so.3"

  /// The range of valid key lengths, in bytes.
  package var keyLengths: ClosedRange<Int> {
    switch self {
    case .aesCMAC: 16...16
    case .hmacSHA256: 1...64
    }
  }

  /// Computes the authentication code of a message. Returns nil for an invalid key length or without the library.
  package func code(of message: [UInt8], key: [UInt8]) -> [UInt8]? {
    guard keyLengths.contains(key.count) else { return nil }
    func block(_ octets: [UInt8], _ start: Int) -> AES128.Block { AES128.Block(padding: octets.dropFirst(start)) }
    let kind = self == .aesCMAC ? shim_mac_cmac_aes128 : shim_mac_hmac_sha256
    let mac = shim_mac_begin(
      Int32(truncatingIfNeeded: kind), block(key, 0), block(key, 16), block(key, 32), block(key, 48), Int32(key.count))
    guard mac != 0 else { return nil }
    var isWhole = true
    for start in stride(from: 0, to: message.count, by: 16) where isWhole {
      isWhole = shim_mac_add(mac, block(message, start), Int32(min(16, message.count - start))) != 0
    }
    let result = shim_mac_end(mac)
    guard isWhole, (1...32).contains(result.octets) else { return nil }
    return (0..<Int(result.octets)).map { $0 < 16 ? result.first[$0] : result.second[$0 - 16] }
  }
}
