import TestSupport

@Suite(.timeLimit(.minutes(15))) struct ShellWordsTests {
  @Test(arguments: [
    ("read ffe1", [["read", "ffe1"]]), ("", []), ("  \t ", []), ("# a comment", []), ("read ffe1 # why", [["read", "ffe1"]]),
    ("read a#b", [["read", "a#b"]]), ("a; b ;;c;", [["a"], ["b"], ["c"]]), ("a\nb\r\nc", [["a"], ["b"], ["c"]]),
    ("write x 'a b' \"c;d\" e\\ f\\;g", [["write", "x", "a b", "c;d", "e f;g"]]),
    ("--expect 'ffe2=\"OP\"'", [["--expect", "ffe2=\"OP\""]]),
    ("a '' \"\"", [["a", "", ""]]), ("a'b'\"c\"d", [["abcd"]]), ("\"\\\"\\\\\\$\\`\\n\"", [["\"\\$`\\n"]]), ("'\\'", [["\\"]]),
    ("a \\\nb", [["a", "b"]]), ("a \\\r\nb", [["a", "b"]]), ("\"a\\\r\nb\"", [["a\\\r\nb"]]), ("a\u{37E}b", [["a\u{37E}b"]]),
    ("größe 'ü ä'", [["größe", "ü ä"]]), ("'a\nb'", [["a\nb"]]), ("# it's\nb", [["b"]]),
  ])
  func words(_ text: String, _ commands: [[String]]) throws { #expect(try ShellWords.commands(in: text) == commands) }

  @Test(arguments: [
    ("a 'b", ShellWordsError.unterminated("'")), ("a \"b", .unterminated("\"")), ("\"\\", .unterminated("\"")), ("a \\", .endsInBackslash),
    ("a; b", .severalCommands), ("a b && c", .shellOperator("&&", before: ["a", "b"], after: ["c"])),
    ("a&&b c", .shellOperator("&&", before: ["a"], after: ["b", "c"])), ("a x|b", .shellOperator("|", before: ["a", "x"], after: ["b"])),
    ("a | b c", .shellOperator("|", before: ["a"], after: ["b", "c"])), ("a > b", .shellOperator(">", before: ["a"], after: ["b"])),
  ])
  func whatIsNoLine(_ text: String, _ error: ShellWordsError) { #expect(throws: error) { try ShellWords.words(of: text) } }

  @Test(arguments: [
    "a", "", "a b", "it's", "#x", "a;b", "\"", "\\", "$HOME", "größe", "ffe1=\"OP\"", "a\tb", "*", "\u{301}a b", "it'\u{301}s", "a \u{301}",
    "e\u{301}", "\u{602}", "#\u{5B5}x", "a\u{85}b\u{2028}", "\u{602}'a b", "a\u{602}\"\u{602};", "a\u{37E}b",
  ])
  func aQuotedWordIsReadAsItWas(_ word: String) throws {
    #expect(try ShellWords.words(of: "x \(ShellWords.quote(word)) y") == ["x", word, "y"])
  }

  @Test func aRegularExpressionHasAlternatives() throws {
    #expect(try ShellWords.words(of: "wait ffe1 matches /a|b/") == ["wait", "ffe1", "matches", "/a|b/"])
  }

  @Test func quotedOperatorsAreWords() throws {
    #expect(try ShellWords.words(of: "a '&&' \"|\" 'b&&c' >x") == ["a", "&&", "|", "b&&c", ">x"])
  }

  /// A command at the end has no full stop, because people copy it.
  @Test(arguments: [
    ("--mtu takes 23 to 517 bytes, not 5", "."), ("Cannot read \"x\": no such file", "."), ("Canceled.", ""), ("Did you mean hex?", ""),
    ("Unknown command. If it is a device: blectl connect Band-7", ""), ("It is lost. To connect: connect Panel", ""), ("", ""),
    ("`test` needs a name: test \"opens\"", ""), ("List them: --list", ""), ("Use --as hex", "."), ("Cannot scan. Run: sudo x", ""),
    ("Join its group, then log in again: sudo usermod -aG x \"$USER\"", ""), ("Without it, pair with: bluetoothctl pair ADDRESS", ""),
    ("To unblock it: rfkill unblock bluetooth", ""), ("x: Name it: blectl decode adv 'ADV: 02'", ""),
    ("x 00: Put it first: x 1 00", ""),
  ])
  func aMessageIsASentence(_ text: String, _ end: String) { #expect(text.asMessage(of: "blectl") == text + end) }

  @Test(arguments: [
    ("Lost. To pair again: blectl unpair A && blectl pair A", "Lost. To pair again: unpair A; pair A"),
    ("List the bonds: blectl bonds", "List the bonds: !blectl bonds"), ("Lost ff01: blectl was late.", "Lost ff01: blectl was late."),
    ("Run `blectl pair A` first.", "Run `pair A` first."),
    ("To see all: blectl pair. Use blectl pair.", "To see all: pair. Use blectl pair."), ("a blectl pair", "a blectl pair"),
  ])
  func adviceAtAPrompt(_ text: String, _ typed: String) {
    #expect(text.atPrompt(of: "blectl", ["unpair": true, "pair": true, "bonds": false]) == typed)
  }

  @Test func plainWordsStayPlain() {
    #expect(ShellWords.quote("C0:FF:EE:00:00:07/public") == "C0:FF:EE:00:00:07/public" && ShellWords.quote("@code.bin") == "@code.bin")
  }

  /// A session expands nothing, but a shell treats brackets as a pattern, and zsh more characters.
  @Test(arguments: ["ffe1[2]", "a#b", "a^b"]) func patternsAreQuotedForAShellOnly(_ word: String) {
    #expect(ShellWords.quote(word) == word && ShellWords.quoteForShell(word) == "'\(word)'")
    #expect(ShellWords.quoteForShell("ffe0/ffe1@2901") == "ffe0/ffe1@2901" && ShellWords.quoteForShell("name:*x*") == "'name:*x*'")
  }
}
