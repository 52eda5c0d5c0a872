import TestSupport

/// Text from other devices and from files.
@Suite(.timeLimit(.minutes(15))) struct UntrustedTextTests {
  /// Messages escape control characters in untrusted text.
  @Test(arguments: [
    ("Lock\u{1B}[2J", #"Lock\x1b[2J"#), ("a\u{202E}b", #"a\u{202e}b"#), ("a\nb\u{7F}", #"a\x0ab\x7f"#), (#"\"#, #"\\"#),
    ("Wärme 1", "Wärme 1"), ("", ""),
  ])
  func messagesContainNoControlCharacters(_ text: String, _ shown: String) {
    let name = UntrustedText(text)
    #expect("Connecting to \(name)" == "Connecting to \(shown)")
    #expect(name.raw == text && name.isEmpty == text.isEmpty)
  }
}
