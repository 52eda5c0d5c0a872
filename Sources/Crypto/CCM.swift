/// CCM (RFC 3610; Vol 6 Part E §2) with AES-128: what was encrypted and authenticated with a key and a nonce that both sides know.
///
/// Written out over libcrypto's AES, because libcrypto has CCM only behind EVP, whose providers would be linked in and made ready. It opens what
/// was heard and answers nobody, so that how long the comparison takes tells nobody anything.
package enum CCM {
  /// - Parameters:
  ///   - nonce: 7 to 13 octets.
  ///   - mic: the message integrity check, an even count from 4 to 16 octets.
  ///   - additional: what was authenticated and not encrypted; at most 65279 octets.
  /// - Returns: what was encrypted; nil when the check does not hold, or a length is not one that CCM has.
  package static func open(
    _ ciphertext: some Collection<UInt8>, mic: some Collection<UInt8>, nonce: some Collection<UInt8>,
    additional: some Collection<UInt8> = EmptyCollection(), key: AES128
  ) -> [UInt8]? {
    let lengthOctets = 15 - nonce.count
    guard (2...8).contains(lengthOctets), (4...16).contains(mic.count), mic.count.isMultiple(of: 2), additional.count < 0xFF00,
      lengthOctets > 3 || ciphertext.count < 1 << (8 * lengthOctets)
    else { return nil }
    // RFC 3610 §2.3: the key stream, of which the first block hides the check.
    func stream(_ counter: Int) -> AES128.Block { key.encrypt(block(UInt8(lengthOctets - 1), nonce, counter)) }
    var message: [UInt8] = []
    message.reserveCapacity(ciphertext.count)
    var pad = AES128.Block()
    for (index, octet) in ciphertext.enumerated() {
      if index % 16 == 0 { pad = stream(index / 16 + 1) }
      message.append(octet ^ pad[index % 16])
    }
    // §2.2: the check is a chain over lengths, what is only authenticated, and the message.
    let flags = UInt8(lengthOctets - 1) | UInt8(mic.count - 2) << 2 | (additional.isEmpty ? 0 : 0x40)
    var chain = key.encrypt(block(flags, nonce, message.count))
    if !additional.isEmpty {
      let count = UInt16(truncatingIfNeeded: additional.count)
      add([UInt8(count >> 8), UInt8(truncatingIfNeeded: count)] + additional, to: &chain, key)
    }
    add(message, to: &chain, key)
    chain ^= stream(0)
    return mic.elementsEqual((0..<mic.count).map { chain[$0] }) ? message : nil
  }

  /// One octet of flags, the nonce, and a number in what is left of a block.
  private static func block(_ flags: UInt8, _ nonce: some Collection<UInt8>, _ number: Int) -> AES128.Block {
    var block = AES128.Block(padding: CollectionOfOne(flags) + Array(nonce))
    for index in 1 + nonce.count..<16 { block[index] = UInt8(truncatingIfNeeded: number >> (8 * (15 - index))) }
    return block
  }

  private static func add(_ octets: [UInt8], to chain: inout AES128.Block, _ key: AES128) {
    for start in stride(from: 0, to: octets.count, by: 16) {
      chain = key.encrypt(chain ^ AES128.Block(padding: octets[start...].prefix(16)))
    }
  }
}
