import TestSupport

@Suite(.timeLimit(.minutes(15))) struct XMLTextTests {
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

  /// Invalid UTF-8, including surrogates, is U+FFFD in a String, which XML allows.
  @Test func brokenBytesAreReplaced() {
    #expect(
      XMLText.text(String(decoding: [0x61, 0xED, 0xA0, 0x80, 0xFF] as [UInt8], as: UTF8.self)).unicodeScalars.allSatisfy(XMLText.allows))
  }

  /// Every scalar is escaped without markup characters and reads back unchanged. Forbidden ones are shown as text.
  @Test func everyScalarIsAllowedAndReadsBack() {
    for first in stride(from: UInt32(0), to: 0x110000, by: 0x1000) {
      let scalars = (first..<first + 0x1000).compactMap { Unicode.Scalar($0) }
      var (plain, shown) = ("", "")
      for scalar in scalars {
        plain.unicodeScalars.append(scalar)
        if XMLText.allows(scalar) { shown.unicodeScalars.append(scalar) } else { shown += "\\u{\(String(scalar.value, radix: 16))}" }
      }
      for (escaped, marks) in [(XMLText.text(plain), "<>"), (XMLText.attribute(plain), "<>\"'\t\n\r")] {
        for mark in marks.utf8 { #expect(!escaped.utf8.contains(mark), "\(first)") }
        #expect(Self.read(Array(escaped.utf8)[...]) == Array(shown.utf8), "\(first)")
      }
    }
  }

  /// Resolves references as a parser does.
  private static func read(_ escaped: ArraySlice<UInt8>) -> [UInt8] {
    let names: [[UInt8]: Character] = [
      Array("amp".utf8): "&", Array("lt".utf8): "<", Array("gt".utf8): ">", Array("quot".utf8): "\"", Array("#39".utf8): "'",
      Array("#9".utf8): "\t", Array("#10".utf8): "\n", Array("#13".utf8): "\r",
    ]
    var (read, rest) = ([UInt8](), escaped)
    while let ampersand = rest.firstIndex(of: UInt8(ascii: "&")) {
      read += rest[..<ampersand]
      let end = rest[ampersand...].firstIndex(of: UInt8(ascii: ";")) ?? rest.endIndex - 1
      read += names[Array(rest[(ampersand + 1)..<end])].map { Array(String($0).utf8) } ?? Array("(unknown)".utf8)
      rest = rest[(end + 1)...]
    }
    return read + rest
  }
}
