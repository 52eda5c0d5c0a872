import TestSupport

@Suite(.timeLimit(.minutes(15))) struct RegularExpressionTests {
  @Test(arguments: [
    ("a", "cat", true), ("^a", "cat", false), ("t$", "cat", true), ("^$", "", true), ("", "cat", true), ("^c.t$", "cat", true),
    (".", "\n", false), ("a|b|c", "xbx", true), ("^(a|bc)d$", "bcd", true), ("^(a|bc)d$", "abcd", false), ("^(?:ab)+$", "ababab", true),
    ("^(?:ab)+$", "ababa", false), ("^a*$", "", true), ("^a+$", "", false), ("^ab?c$", "ac", true), ("^a{3}$", "aaa", true),
    ("^a{3}$", "aa", false), ("^a{2,}$", "aaaaa", true), ("^a{2,}$", "a", false), ("^a{2,3}$", "aaaa", false), ("^a{0}b$", "b", true),
    ("^a{0}b$", "ab", false), ("^a+?$", "aaa", true), ("[a-c]", "xbx", true), ("[^a-c]", "abc", false), ("[]x]", "]", true),
    ("[a-]", "-", true), ("[\\d.]+$", "1.2", true), ("^\\d+$", "12a", false), ("\\D", "123", false), ("^\\w+$", "a_1", true),
    ("\\W", "a_1", false), ("a\\sb", "a\tb", true), ("\\S", " \n", false), ("\\bcat\\b", "a cat.", true), ("\\bcat\\b", "concat", false),
    ("\\Bcat", "concat", true), ("\\x41\\x42", "AB", true), ("\\n\\r\\t", "\n\r\t", true), ("\\.", "a", false),
    ("\\{\\}\\/\\$", "{}/$", true),
    ("ü", "Tür", true), ("^.$", "🔒", true), ("^()$", "", true), ("^(|a)b$", "b", true), ("^(a|)*b$", "aaab", true), ("x}", "x}", true),
    ("(a*)*b", "aaac", false), ("^(a|ab)(c|bcd)$", "abcd", true),
  ])
  func matches(_ pattern: String, _ text: String, _ does: Bool) throws {
    #expect(try RegularExpression(pattern).matches(text) == does)
  }

  @Test(arguments: [
    ("OPEN", "open", true), ("[a-f]+", "ABC", true), ("^[^a]$", "A", false), ("[[-`]", "[", true), ("ü", "Ü", false), ("\\x41", "a", true),
  ])
  func inEitherCase(_ pattern: String, _ text: String, _ does: Bool) throws {
    #expect(try RegularExpression(pattern, ignoresCase: true).matches(text) == does)
  }

  @Test(arguments: [
    ("(", 1, "unclosed ("), (")", 0, "unmatched )"), ("a)b", 1, "unmatched )"), ("[a", 0, "unclosed ["),
    ("[]", 0, "unclosed ["),
    ("*a", 0, "nothing to repeat before"), ("a|+", 2, "nothing to repeat before"), ("a**", 2, "two repetitions in a row"),
    ("a{2}{3}", 4, "two repetitions in a row"), ("{2}", 0, "\\{"), ("a{", 2, "\\{"), ("a{,3}", 2, "\\{"),
    ("a{2", 3, "no } after the repetition"),
    ("a{3,2}", 6, "smaller"), ("a{5000}", 7, "too long"), ("a{99999999999}", 7, "no } after the repetition"),
    ("((a{60}){60}){60}", 17, "too long"),
    ("(?=a)", 2, "(?: )"), ("\\1", 1, "references to groups"), ("\\q", 1, "unknown escape \\q"), ("a\\", 2, "backslash at the end"),
    ("\\x4", 2, "two hex digits"),
    ("[z-a]", 4, "smaller character"), ("[\\d-z]", 5, "smaller character"), ("[\\W]", 3, "are not allowed"),
    ("(a|b){4000}", 11, "too long"),
  ])
  func whatIsNone(_ pattern: String, _ offset: Int, _ reason: String) throws {
    let failure = #expect(throws: RegularExpression.Failure.self) { try RegularExpression(pattern) }
    #expect(failure?.offset == offset && failure?.reason.contains(reason) == true, "\(String(describing: failure))")
  }

  @Test func deepAndLongOnesAreRefused() {
    for pattern in [
      String(repeating: "(", count: 33) + String(repeating: ")", count: 33), String(repeating: "a", count: 5000),
      String(repeating: "a|", count: 4000), String(repeating: "(", count: 4000),
    ] {
      #expect(throws: RegularExpression.Failure.self) { try RegularExpression(pattern) }
    }
  }

  /// These patterns take a backtracking engine longer than the sun will shine.
  @Test(arguments: [
    "(a*)*b", "(a+)+$b", "(a|aa)+$b", "(a|a?)+b", "(.*a){20}b", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$", "(a?){100}a{100}b",
  ])
  func timeIsLimited(_ pattern: String) throws {
    let expression = try RegularExpression(pattern)
    #expect(!expression.matches(String(repeating: pattern.contains("x") ? "x" : "a", count: 10_000)))
  }

  @Test func hostileOnesNeitherTrapNorLast() {
    let seeds = ["^(a|b)*c{2,5}[^x-z]\\d+?$", "(?:x+x+)+y", "\\x41|[\\d_-]\\b.", "[]a-f^]{1,9}|(|a)+"].map { Array($0.utf8) }
    hostile(seeds, mutations: 20_000) { bytes in
      guard let expression = try? RegularExpression(String(decoding: bytes, as: UTF8.self)) else { return }
      _ = expression.matches("aabbcc7 xx\u{0}ü")
    }
  }
}
