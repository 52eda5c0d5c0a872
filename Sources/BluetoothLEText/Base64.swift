// SPDX-License-Identifier: Apache-2.0
/// The base64 encoding of RFC 4648 §4, with the standard alphabet and padding.
package enum Base64 {
  package static func encode(_ bytes: some Collection<UInt8>) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var rest = bytes[...]
    while !rest.isEmpty {
      let group = Array(rest.prefix(3))
      rest = rest.dropFirst(3)
      let word = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << (8 * UInt32(3 - group.count))
      for index in 0..<4 { text.append(index <= group.count ? digits[Int(word >> (18 - 6 * UInt32(index)) & 63)] : 0x3D) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes base64 in the standard or the URL-safe alphabet, with or without padding, and with white space anywhere.
  /// - Returns: The bytes. Nil for any other character, a single last digit, wrong padding, or unused bits that are not zero.
  package static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var word: UInt32 = 0
    var digits = 0
    var padding = 0
    for character in text.utf8 where !" \t\r\n".utf8.contains(character) {
      if character == 0x3D {
        padding += 1
        continue
      }
      guard padding == 0, let digit = value(character) else { return nil }
      word = word << 6 | digit
      digits += 1
      if digits % 4 == 0 {
        bytes += [UInt8(truncatingIfNeeded: word >> 16), UInt8(truncatingIfNeeded: word >> 8), UInt8(truncatingIfNeeded: word)]
        word = 0
      }
    }
    guard padding == 0 || (digits % 4 != 0 && (digits + padding) % 4 == 0) else { return nil }
    switch digits % 4 {
    case 0: return bytes
    case 2 where word & 0xF == 0: return bytes + [UInt8(truncatingIfNeeded: word >> 4)]
    case 3 where word & 0x3 == 0: return bytes + [UInt8(truncatingIfNeeded: word >> 10), UInt8(truncatingIfNeeded: word >> 2)]
    default: return nil
    }
  }

  private static func value(_ character: UInt8) -> UInt32? {
    switch character {
    case 0x41...0x5A: UInt32(character - 0x41)
    case 0x61...0x7A: UInt32(character - 0x61) + 26
    case 0x30...0x39: UInt32(character - 0x30) + 52
    case 0x2B, 0x2D: 62
    case 0x2F, 0x5F: 63
    default: nil
    }
  }
}
