// SPDX-License-Identifier: Apache-2.0
/// The escaping of text for XML 1.0 and HTML. Parsers recover the same text, except for characters that XML forbids even as references.
/// Each forbidden character becomes `\u{…}` with its number in hex, such as `\u{0}`.
package enum XMLText {
  /// Escapes text for use between tags.
  package static func text(_ text: String) -> String { escape(text, inAttribute: false) }

  /// Escapes an attribute value, which may be in single or double quotes.
  package static func attribute(_ text: String) -> String { escape(text, inAttribute: true) }

  private static func escape(_ text: String, inAttribute: Bool) -> String {
    let bytes = Array(text.utf8)
    var escaped: [UInt8] = []
    escaped.reserveCapacity(bytes.count + 16)
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      switch byte {
      case UInt8(ascii: "&"): escaped += "&amp;".utf8
      case UInt8(ascii: "<"): escaped += "&lt;".utf8
      // `]]>` must not appear in text (§2.4).
      case UInt8(ascii: ">"): escaped += "&gt;".utf8
      case UInt8(ascii: "\"") where inAttribute: escaped += "&quot;".utf8
      case UInt8(ascii: "'") where inAttribute: escaped += "&#39;".utf8
      // A parser converts line ends in attributes to spaces (§3.3.3), and carriage returns to line feeds (§2.11).
      case 0x0D,
        0x09 where inAttribute, 0x0A where inAttribute:
        escaped += "&#\(byte);".utf8
      case 0x09, 0x0A: escaped.append(byte)
      case ..<0x20: escaped += "\\u{\(String(byte, radix: 16))}".utf8
      // U+FFFE and U+FFFF in UTF-8. A String cannot contain surrogates.
      case 0xEF where index + 1 < bytes.count && bytes[index] == 0xBF && bytes[index + 1] >= 0xBE:
        escaped += (bytes[index + 1] == 0xBE ? "\\u{fffe}" : "\\u{ffff}").utf8
        index += 2
      default: escaped.append(byte)
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }
}
