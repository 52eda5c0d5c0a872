import Bluetooth

/// A Connection Signature Resolving Key: signs writes on links without encryption (Vol 3 Part H §2.4.5).
package struct SigningKey: Sendable {
  private let cipher: AES128

  /// - Parameter octets: 16, least significant first, as the Signing Information PDU carries them (§3.6.6); nil for any other count.
  package init?(_ octets: [UInt8]) {
    guard let cipher = AES128(key: octets.reversed()) else { return nil }
    self.cipher = cipher
  }

  /// The 12 octets that end a Signed Write Command: the sign counter, then the upper 64 bits of the AES-CMAC over opcode, parameters and
  /// counter. The message is taken least significant octet first, like everything on the air.
  func signature(of message: [UInt8], counter: UInt32) -> [UInt8] {
    var writer = ByteWriter()
    writer.uint32(counter)
    let mac = cmac(Array((message + writer.bytes).reversed()))
    return writer.bytes + mac.prefix(8).reversed()
  }

  /// RFC 4493.
  func cmac(_ message: [UInt8]) -> [UInt8] {
    let first = Self.double(cipher.encrypt([UInt8](repeating: 0, count: 16)))
    let second = Self.double(first)
    let lastStart = message.isEmpty ? 0 : (message.count - 1) / 16 * 16
    var last = Array(message[lastStart...])
    let isWhole = last.count == 16
    if !isWhole { last += [0x80] + [UInt8](repeating: 0, count: 15 - last.count) }
    var state = [UInt8](repeating: 0, count: 16)
    for start in stride(from: 0, to: lastStart, by: 16) { state = cipher.encrypt(Self.xor(state, Array(message[start..<start + 16]))) }
    return cipher.encrypt(Self.xor(state, Self.xor(last, isWhole ? first : second)))
  }

  private static func xor(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] { zip(a, b).map { $0 ^ $1 } }

  private static func double(_ block: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    for (index, octet) in block.enumerated() {
      let carry = index + 1 < block.count ? block[index + 1] >> 7 : 0
      result.append(octet << 1 | carry)
    }
    if let first = block.first, first & 0x80 != 0, let last = result.popLast() { result.append(last ^ 0x87) }
    return result
  }
}

extension Command {
  /// A Signed Write Command (Vol 3 Part F §3.4.5.4) with its signature.
  package static func signedWrite(_ handle: UInt16, value: [UInt8], key: SigningKey, counter: UInt32) -> Command {
    var writer = ByteWriter()
    writer.uint8(Opcode.signedWriteCommand.rawValue)
    writer.uint16(handle)
    writer.append(value)
    return .signedWrite(handle, value: value, signature: key.signature(of: writer.bytes, counter: counter))
  }
}
