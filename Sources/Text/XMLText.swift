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
    var escaped: [UInt8] = []
    escaped.reserveCapacity(text.utf8.count + 16)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;".utf8
      case "<": escaped += "&lt;".utf8
      // `]]>` ends what it is not in.
      case ">": escaped += "&gt;".utf8
      case "\"" where inAttribute: escaped += "&quot;".utf8
      case "'" where inAttribute: escaped += "&#39;".utf8
      // A parser makes blanks of line ends in attributes (§3.3.3), and line feeds of carriage returns anywhere (§2.11).
      case "\r",
        "\t" where inAttribute, "\n" where inAttribute:
        escaped += "&#\(scalar.value);".utf8
      case _ where allows(scalar): escaped += scalar.utf8
      default: escaped += "\\u{\(String(scalar.value, radix: 16))}".utf8
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }
}
