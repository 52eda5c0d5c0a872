import CCrypto

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

  package func encrypt(_ block: Block) -> Block { shim_aes128(key, block) }
}

extension SIMD16<UInt8> {
  /// Creates a vector from the first 16 bytes of a sequence. Adds zeros at the end of a shorter sequence.
  package init(padding octets: some Sequence<UInt8>) {
    self.init()
    for (index, octet) in zip(0..<16, octets) { self[index] = octet }
  }
}

/// The version of libcrypto with which blectl was built, such as `OpenSSL 3.0.15 3 Sep 2024`.
package let cryptoLibraryVersion = OPENSSL_VERSION_TEXT
