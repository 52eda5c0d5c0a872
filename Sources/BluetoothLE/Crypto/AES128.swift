// SPDX-License-Identifier: Apache-2.0
import CBluetoothLECrypto

/// The security function e (Vol 3 Part H §2.2.1): AES-128 of FIPS 197, which encrypts one block.
/// Bluetooth's functions and CCM need no decryption.
package struct AES128: Sendable {
  /// A block of 16 bytes in the order of FIPS 197, the most significant byte of a 128-bit number first.
  package typealias Block = SIMD16<UInt8>

  private let key: Block

  /// Creates the cipher of a key. Nil if the key is not 16 bytes long.
  package init?(key: some Collection<UInt8>) {
    guard key.count == 16 else { return nil }
    self.key = Block(padding: key)
  }

  package init(key: UInt128) { self.key = Block(key) }

  package func encrypt(_ block: Block) -> Block { shim_aes128(key, block) }

  package func encrypt(_ number: UInt128) -> UInt128 { UInt128(encrypt(Block(number))) }

  /// Computes AES-CMAC of a message (RFC 4493; Vol 3 Part H §2.2.5), the most significant byte first.
  package func authenticationCode(of message: [UInt8]) -> UInt128 {
    func double(_ number: UInt128) -> UInt128 { number << 1 ^ (number >> 127 == 0 ? 0 : 0x87) }
    let subkey = double(encrypt(UInt128(0)))
    // The last block is whole, or a one bit and zeros follow the message.
    let lastStart = message.isEmpty ? 0 : (message.count - 1) / 16 * 16
    var chain = UInt128(0)
    for start in stride(from: 0, to: lastStart, by: 16) { chain = encrypt(chain ^ UInt128(Block(padding: message[start...]))) }
    let last = message[lastStart...]
    let isWhole = last.count == 16
    let block = UInt128(Block(padding: isWhole ? Array(last) : last + [0x80]))
    return encrypt(chain ^ block ^ (isWhole ? subkey : double(subkey)))
  }
}

extension SIMD16<UInt8> {
  /// Creates a vector from the first 16 bytes of a sequence. Adds zeros at the end of a shorter sequence.
  package init(padding bytes: some Sequence<UInt8>) {
    self.init()
    for (index, byte) in zip(0..<16, bytes) { self[index] = byte }
  }

  /// Creates the block of a number, the most significant byte first.
  package init(_ number: UInt128) {
    self = shim_block_of(UInt64(truncatingIfNeeded: number >> 64), UInt64(truncatingIfNeeded: number))
  }
}

extension UInt128 {
  /// Creates the number in a block, whose most significant byte is the first.
  package init(_ block: AES128.Block) { self = UInt128(shim_half(block, 0)) << 64 | UInt128(shim_half(block, 1)) }
}

/// The version of libcrypto with which blectl was built, such as `OpenSSL 3.0.15 3 Sep 2024`.
package let cryptoLibraryVersion = OPENSSL_VERSION_TEXT
