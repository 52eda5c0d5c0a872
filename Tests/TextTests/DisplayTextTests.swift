import TestSupport

@Suite(.timeLimit(.minutes(15))) struct DisplayTextTests {
  @Test(arguments: [
    ("abc", "abc"), ("", ""), (" a ", " a "), ("a\\b", "a\\\\b"), ("\u{1B}[2J", "\\x1b[2J"), ("a\nb\rc\td", "a\\x0ab\\x0dc\\x09d"),
    ("\u{7F}", "\\x7f"), ("\u{9B}2J", "\\u{9b}2J"), ("\u{AD}", "\\u{ad}"), ("\u{200B}\u{200D}\u{FEFF}", "\\u{200b}\\u{200d}\\u{feff}"),
    ("\u{202E}x\u{2066}", "\\u{202e}x\\u{2066}"), ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"),
    ("\u{E000}\u{10FFFD}", "\\u{e000}\\u{10fffd}"),
    ("\u{378}\u{FFFE}", "\\u{378}\\u{fffe}"), ("\u{E0041}", "\\u{e0041}"), ("Größe 体温計 🔒", "Größe 体温計 🔒"), ("%n%s", "%n%s"),
  ])
  func escapes(_ text: String, _ shown: String) { #expect(DisplayText.escape(text) == shown) }

  @Test(arguments: [
    ("c09b", "\\xc0\\x9b"), ("c1bf", "\\xc1\\xbf"), ("e08080", "\\xe0\\x80\\x80"), ("eda080", "\\xed\\xa0\\x80"),
    ("edbfbf", "\\xed\\xbf\\xbf"),
    ("f0808080", "\\xf0\\x80\\x80\\x80"), ("f4908080", "\\xf4\\x90\\x80\\x80"), ("f5808080", "\\xf5\\x80\\x80\\x80"), ("80", "\\x80"),
    ("41e282", "A\\xe2\\x82"), ("e28241", "\\xe2\\x82A"), ("ff00", "\\xff\\x00"), ("e282ac", "€"), ("f09f9492", "🔒"),
    ("ed9fbf", "\\u{d7ff}"),
  ])
  func bytes(_ hex: String, _ shown: String) throws {
    let bytes = try #require(Hex.decode(hex))
    #expect(DisplayText.escape(bytes) == shown)
    #expect(DisplayText.isUTF8(bytes) == (String(validating: bytes, as: UTF8.self) != nil))
  }

  @Test(arguments: [
    ("", 0), ("abc", 3), ("体温計", 6), ("ｱ", 1), ("Ａ", 2), ("A\u{301}\u{301}", 1), ("🔒", 2), ("€", 1), ("가", 2), ("\u{1100}\u{1161}", 2),
    ("…", 1),
  ])
  func widths(_ text: String, _ width: Int) { #expect(DisplayText.width(text) == width) }

  @Test(arguments: [
    ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("abcdef", 1, "…"), ("abcdef", 0, ""), ("体温計", 6, "体温計"), ("体温計", 5, "体温…"),
    ("体温計", 4, "体…"), ("A\u{301}BC", 2, "A\u{301}…"), ("", 0, ""), ("🔒🔒", 3, "🔒…"), ("abc", -1, ""),
  ])
  func clips(_ text: String, _ limit: Int, _ clipped: String) {
    #expect(DisplayText.clip(text, to: limit) == clipped)
    #expect(DisplayText.width(DisplayText.clip(text, to: limit)) <= max(0, limit))
  }

  @Test(arguments: [
    ("Sensor01", 8, "Sensor01"), ("LongSensor01", 8, "Long…r01"), ("温度計センサー", 8, "温度…ー"), ("abc", 1, "…"), ("abc", 0, ""),
  ])
  func clipsInTheMiddle(_ text: String, _ limit: Int, _ clipped: String) {
    #expect(DisplayText.clipMiddle(text, to: limit) == clipped)
    #expect(DisplayText.width(clipped) <= limit)
    #expect(DisplayText.clip("abcdef", to: 4, ellipsis: "..") == "ab..")
    #expect(DisplayText.ascii("Küche ok") == "K\\u{fc}che ok")
  }

  /// Displayed text has no control or format characters, and agrees with the standard library's decoder, for any bytes.
  @Test func hostileBytes() {
    let seeds =
      ["Marcel’s MacBook", "体温計🔒", "\u{1B}]0;x\u{7}", "\u{9B}2J\u{202E}", "a\\x0a"].map { Array($0.utf8) } + [[0xE2, 0x82], [0xC0, 0x80]]
    hostile(seeds) { bytes in
      let shown = DisplayText.escape(bytes)
      for scalar in shown.unicodeScalars {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
          Issue.record("\(Hex.encode(bytes)) shows U+\(String(scalar.value, radix: 16))")
        default: break
        }
      }
      let isValid = String(validating: bytes, as: UTF8.self) != nil
      if DisplayText.isUTF8(bytes) != isValid { Issue.record("\(Hex.encode(bytes)): strict UTF-8 should be \(isValid)") }
      for limit in [0, 1, 7] where DisplayText.width(DisplayText.clip(shown, to: limit)) > limit {
        Issue.record("clip of \(Hex.encode(bytes))")
      }
    }
  }
}
