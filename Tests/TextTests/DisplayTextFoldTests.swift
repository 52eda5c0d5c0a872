import TestSupport

@Suite(.timeLimit(.minutes(15))) struct DisplayTextFoldTests {
  @Test(arguments: [
    ("", 5, []), ("abc", 5, ["abc"]), ("ab cd ef", 5, ["ab cd", "ef"]), ("ab  cd", 6, ["ab  cd"]), ("abcdefgh", 3, ["abc", "def", "gh"]),
    ("a bcdefgh", 4, ["a", "bcde", "fgh"]), ("abcd efgh", 4, ["abcd", "efgh"]), ("  ab cd", 4, ["  ab", "cd"]), ("体温計", 4, ["体温", "計"]),
    ("体温計", 0, ["体", "温", "計"]), ("ab     ", 4, ["ab"]), ("abc体", 4, ["abc", "体"]),
  ])
  func folds(_ text: String, _ limit: Int, _ lines: [String]) { #expect(DisplayText.fold(text, to: limit) == lines) }

  @Test func linesAfterTheFirstMayBeShorter() {
    #expect(DisplayText.fold("ab cd ef gh", to: 6, later: 3) == ["ab cd", "ef", "gh"])
  }

  @Test func nothingIsLeftOutAndNoLineIsTooWide() {
    var random = SplitMix64(seed: 11)
    let pieces = ["a", "bc", " ", "   ", "体", "e\u{301}", "🔒", "\\", "#", "ü", "0123456789abcdef"]
    for _ in 0..<5000 {
      let text = (0..<Int(random.next() % 40)).map { _ in pieces[Int(random.next() % UInt64(pieces.count))] }.joined()
      let limit = 2 + Int(random.next() % 30)
      let lines = DisplayText.fold(text, to: limit)
      #expect(lines.joined().filter { $0 != " " } == text.filter { $0 != " " }, "\(text)")
      #expect(lines.allSatisfy { DisplayText.width($0) <= limit && !$0.isEmpty }, "\(text): \(lines)")
    }
  }

  @Test func longTextIsFoldedInLinearTime() {
    let lines = DisplayText.fold(String(repeating: "x", count: 1_000_000), to: 64)
    #expect(lines.count == 15_625)
  }

  @Test(arguments: [
    ("a\\d+ ü 🔒", "a\\d+ ü 🔒"), ("\u{1B}[2J\n", "\\x1b[2J\\x0a"), ("\u{202E}\u{0}", "\\u{202e}\\x00"), ("", ""), ("a\\", "a\\"),
  ])
  func whatCannotBeSeenIsMadeVisible(_ text: String, _ shown: String) {
    #expect(DisplayText.visible(text) == shown)
    #expect(DisplayText.visible(shown) == shown)
  }

  @Test func signsOfReportsHaveOnesInASCII() { #expect(DisplayText.asciiLines("✓✗–!") == "+x-!") }
}
