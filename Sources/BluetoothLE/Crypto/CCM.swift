// SPDX-License-Identifier: Apache-2.0
/// The decryption and authentication of messages with AES-128 in CCM mode (RFC 3610; Vol 6 Part E §2).
package enum CCM {
  // The comparison may take a variable time, because blectl answers no sender.
  // libcrypto offers CCM only through EVP, which would link its providers and initialize them. So this code uses only its AES.
  /// Decrypts a message and checks its integrity.
  /// - Parameters:
  ///   - nonce: The nonce, 7 to 13 bytes.
  ///   - mic: The message integrity check, an even number of bytes from 4 to 16.
  ///   - additional: Unencrypted data that the integrity check also covers, at most 65,279 bytes.
  /// - Returns: The message. Nil if the integrity check fails or CCM does not allow one of the lengths.
  package static func open(
    _ ciphertext: some Collection<UInt8>, mic: some Collection<UInt8>, nonce: some Collection<UInt8>,
    additional: some Collection<UInt8> = EmptyCollection(), key: AES128
  ) -> [UInt8]? {
    let lengthBytes = 15 - nonce.count
    guard (2...8).contains(lengthBytes), (4...16).contains(mic.count), mic.count.isMultiple(of: 2), additional.count < 0xFF00,
      lengthBytes > 3 || ciphertext.count < 1 << (8 * lengthBytes)
    else { return nil }
    // RFC 3610 §2.3: the key stream. Its first block encrypts the check.
    func stream(_ counter: Int) -> AES128.Block { key.encrypt(block(UInt8(lengthBytes - 1), nonce, counter)) }
    var message: [UInt8] = []
    message.reserveCapacity(ciphertext.count)
    var pad = AES128.Block()
    for (index, byte) in ciphertext.enumerated() {
      if index % 16 == 0 { pad = stream(index / 16 + 1) }
      message.append(byte ^ pad[index % 16])
    }
    // §2.2: the check is a chain over the lengths, the additional data and the message.
    let flags = UInt8(lengthBytes - 1) | UInt8(mic.count - 2) << 2 | (additional.isEmpty ? 0 : 0x40)
    var chain = key.encrypt(block(flags, nonce, message.count))
    if !additional.isEmpty {
      let count = UInt16(truncatingIfNeeded: additional.count)
      add([UInt8(count >> 8), UInt8(truncatingIfNeeded: count)] + additional, to: &chain, key)
    }
    add(message, to: &chain, key)
    chain ^= stream(0)
    return mic.elementsEqual((0..<mic.count).map { chain[$0] }) ? message : nil
  }

  /// Returns a block of flags, nonce and number. The number fills the rest of the block, most significant byte first.
  private static func block(_ flags: UInt8, _ nonce: some Collection<UInt8>, _ number: Int) -> AES128.Block {
    var block = AES128.Block(padding: CollectionOfOne(flags) + Array(nonce))
    for index in 1 + nonce.count..<16 { block[index] = UInt8(truncatingIfNeeded: number >> (8 * (15 - index))) }
    return block
  }

  private static func add(_ bytes: [UInt8], to chain: inout AES128.Block, _ key: AES128) {
    for start in stride(from: 0, to: bytes.count, by: 16) {
      chain = key.encrypt(chain ^ AES128.Block(padding: bytes[start...].prefix(16)))
    }
  }
}
