import TestSupport

@Suite(.timeLimit(.minutes(15))) struct GlobTests {
  @Test(arguments: [
    ("lock-*", "Lock-01", true), ("LOCK-01", "lock-01", true), ("lock", "Lock-01", false), ("*", "", true), ("", "", true),
    ("", "a", false),
    ("?", "", false), ("?", "é", true), ("a*b*c", "aXbXbYc", true), ("a*b*c", "aXbXbY", false), ("*[0-9]", "Band-7", true),
    ("*[!0-9]", "Band-7", false), ("[^a]*", "bc", true), ("[]a]", "]", true), ("[a-", "[a-", true), ("[a-]", "-", true), ("\\*", "*", true),
    ("\\*", "x", false), ("a\\", "a\\", true), ("**a**", "bab", true), ("[z-a]", "m", true),
  ])
  func table(_ pattern: String, _ text: String, _ matches: Bool) {
    #expect(Glob.matches(pattern, text) == matches)
  }

  @Test(arguments: [
    ("B35T+", "B35T+\0\0\0", true), ("lamp", " Lamp  ", true), (" Lamp  ", " Lamp  ", true), ("Lamp", "\r\nLamp\n", true),
    ("", "\0\0", true),
    ("a b", "a b\u{A0}", true), ("ab", "a b", false), ("Lamp", "Lamp\0x", false),
  ])
  func padding(_ pattern: String, _ name: String, _ matches: Bool) { #expect(Glob.matches(pattern, name) == matches) }

  @Test(arguments: [" Lamp  ", "B35T+\0\0", "a\nb", "x\r\ny", "[a]*?\\", "\u{FFFD}A", "\u{202E}evil", "Lampe 💡 Flur", "\0"])
  func aTypableNameIsMatched(_ name: String) {
    let typed = Glob.typable(name)
    #expect(Glob.matches(typed, name) && typed.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\u{202E}" && $0 != "\u{FFFD}" })
  }

  /// Each star doubles the work of a matcher that backtracks to all of them, which would not end.
  @Test func manyStars() {
    let pattern = String(repeating: "a*", count: 64) + "b"
    #expect(!Glob.matches(pattern, String(repeating: "a", count: 4096)))
  }

  @Test func hostileText() {
    hostile([Array("[!a-z]*?\\[".utf8), Array("name".utf8)], mutations: 20_000) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      _ = Glob.matches(text, text)
    }
  }
}
