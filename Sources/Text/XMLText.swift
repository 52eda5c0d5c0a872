/// Text in XML 1.0 (and in HTML), as it reads back the same: but for characters that XML forbids, which no reference brings back either.
/// Those appear as `\u{0}`.
package enum XMLText {
  /// Between tags.
  package static func text(_ text: String) -> String { escape(text, inAttribute: false) }

  /// Between quotes of either kind.
  package static func attribute(_ text: String) -> String { escape(text, inAttribute: true) }

  /// XML 1.0 §2.2, production 2.
  package static func allows(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
    default: false
    }
  }

  private static func escape(_ text: String, inAttribute: Bool) -> String {
    let octets = Array(text.utf8)
    var escaped: [UInt8] = []
    escaped.reserveCapacity(octets.count + 16)
    var index = 0
    while index < octets.count {
      let octet = octets[index]
      index += 1
      switch octet {
      case UInt8(ascii: "&"): escaped += "&amp;".utf8
      case UInt8(ascii: "<"): escaped += "&lt;".utf8
      // `]]>` ends what it is not in.
      case UInt8(ascii: ">"): escaped += "&gt;".utf8
      case UInt8(ascii: "\"") where inAttribute: escaped += "&quot;".utf8
      case UInt8(ascii: "'") where inAttribute: escaped += "&#39;".utf8
      // A parser makes blanks of line ends in attributes (§3.3.3), and line feeds of carriage returns anywhere (§2.11).
      case 0x0D,
        0x09 where inAttribute, 0x0A where inAttribute:
        escaped += "&#\(octet);".utf8
      case 0x09, 0x0A: escaped.append(octet)
      case ..<0x20: escaped += "\\u{\(String(octet, radix: 16))}".utf8
      // U+FFFE and U+FFFF in UTF-8. Surrogates are in no String.
      case 0xEF where index + 1 < octets.count && octets[index] == 0xBF && octets[index + 1] >= 0xBE:
        escaped += (octets[index + 1] == 0xBE ? "\\u{fffe}" : "\\u{ffff}").utf8
        index += 2
      default: escaped.append(octet)
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }
}
