import CCrypto

/// The security function e (Vol 3 Part H §2.2.1): AES-128 of FIPS 197, one block forward, which is all that Bluetooth's functions and CCM need.
package struct AES128: Sendable {
  /// Sixteen octets, in FIPS 197's order: the most significant of the specification's 128-bit numbers first.
  package typealias Block = SIMD16<UInt8>

  private let key: Block

  /// - Parameter key: sixteen octets; nil for any other count.
  package init?(key: some Collection<UInt8>) {
    guard key.count == 16 else { return nil }
    self.key = Block(padding: key)
  }

  package func encrypt(_ block: Block) -> Block { shim_aes128(key, block) }
}

extension SIMD16<UInt8> {
  /// The first sixteen octets, and zeros where there are fewer.
  package init(padding octets: some Sequence<UInt8>) {
    self.init()
    for (index, octet) in zip(0..<16, octets) { self[index] = octet }
  }
}
