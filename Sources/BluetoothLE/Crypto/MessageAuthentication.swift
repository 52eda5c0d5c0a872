// SPDX-License-Identifier: Apache-2.0
import CBluetoothLECrypto

/// An algorithm for message authentication codes.
package enum MessageAuthentication: Sendable, Equatable {
  /// AES-CMAC (RFC 4493, Vol 3 Part H §2.2.5) with a key of 16 bytes and a code of 16 bytes.
  case aesCMAC
  /// HMAC (RFC 2104) with SHA-256, with a key of 1 to 64 bytes and a code of 32 bytes. OpenSSL's shared library computes it.
  case hmacSHA256

  /// Whether the algorithm can be used. HMAC needs OpenSSL's shared library, which this value opens.
  package var isAvailable: Bool { self == .aesCMAC || shim_library_is_available() != 0 }
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
    if self == .aesCMAC {
      return AES128(key: key).map { cipher in
        let code = AES128.Block(cipher.authenticationCode(of: message))
        return (0..<16).map { code[$0] }
      }
    }
    func block(_ bytes: [UInt8], _ start: Int) -> AES128.Block { AES128.Block(padding: bytes.dropFirst(start)) }
    let mac = shim_mac_begin(block(key, 0), block(key, 16), block(key, 32), block(key, 48), Int32(key.count))
    guard mac != 0 else { return nil }
    var isWhole = true
    for start in stride(from: 0, to: message.count, by: 16) where isWhole {
      isWhole = shim_mac_add(mac, block(message, start), Int32(min(16, message.count - start))) != 0
    }
    let result = shim_mac_end(mac)
    guard isWhole, (1...32).contains(result.bytes) else { return nil }
    return (0..<Int(result.bytes)).map { $0 < 16 ? result.first[$0] : result.second[$0 - 16] }
  }
}
