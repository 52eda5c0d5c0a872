import Testing
import Text

@Suite struct XMLTextTests {
  @Test(arguments: [
    ("", "", ""), ("a b", "a b", "a b"), ("<a & 'b' \"c\">", "&lt;a &amp; 'b' \"c\"&gt;", "&lt;a &amp; &#39;b&#39; &quot;c&quot;&gt;"),
    ("]]>", "]]&gt;", "]]&gt;"), ("&amp;", "&amp;amp;", "&amp;amp;"), ("a\tb\nc\rd", "a\tb\nc&#13;d", "a&#9;b&#10;c&#13;d"),
    ("\r\n", "&#13;\n", "&#13;&#10;"), ("\u{0}\u{1F}\u{7F}", "\\u{0}\\u{1f}\u{7F}", "\\u{0}\\u{1f}\u{7F}"),
    ("\u{FFFE}\u{FFFF}\u{FFFD}", "\\u{fffe}\\u{ffff}\u{FFFD}", "\\u{fffe}\\u{ffff}\u{FFFD}"), ("🔒\u{10FFFF}", "🔒\u{10FFFF}", "🔒\u{10FFFF}"),
  ])
  func escapes(_ plain: String, _ text: String, _ attribute: String) {
    #expect(XMLText.text(plain) == text)
    #expect(XMLText.attribute(plain) == attribute)
  }

  /// Octets that are no UTF-8, surrogates among them, are U+FFFD in a String, which XML allows.
  @Test func brokenOctetsAreReplaced() {
    #expect(
      XMLText.text(String(decoding: [0x61, 0xED, 0xA0, 0x80, 0xFF] as [UInt8], as: UTF8.self)).unicodeScalars.allSatisfy(XMLText.allows))
  }

  /// All there are: what comes out is allowed, has no character of markup, and reads back as what went in.
  @Test func everyScalarIsAllowedAndReadsBack() {
    for value in UInt32(0)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let plain = String(scalar)
      for (escaped, marks) in [(XMLText.text(plain), "<>"), (XMLText.attribute(plain), "<>\"'\t\n\r")] {
        let isFine = escaped.unicodeScalars.allSatisfy { XMLText.allows($0) && !marks.unicodeScalars.contains($0) }
        let shown = XMLText.allows(scalar) ? plain : "\\u{\(String(value, radix: 16))}"
        if !isFine || Self.read(escaped).utf8.elementsEqual(shown.utf8) == false {
          Issue.record("U+\(String(value, radix: 16)): \(escaped)")
        }
      }
    }
  }

  /// What a parser makes of references.
  private static func read(_ escaped: String) -> String {
    guard escaped.hasPrefix("&") else { return escaped }
    let names = ["&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": "\"", "&#39;": "'", "&#9;": "\t", "&#10;": "\n", "&#13;": "\r"]
    return names[escaped] ?? "(unknown)"
  }
}
