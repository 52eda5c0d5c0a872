import Testing

@testable import Terminal

@Suite(.timeLimit(.minutes(1))) struct PastedTextTests {
  private static let (begin, end) = ("\u{1B}[200~", "\u{1B}[201~")

  private static func pass(_ pieces: [String]) -> [String] {
    var pasted = PastedText()
    return pieces.map { String(decoding: pasted.pass($0.utf8), as: UTF8.self) }
  }

  /// Pasted text is delivered when complete, however it arrives. Keys are delivered immediately.
  @Test(arguments: 1...20) func inPieces(_ length: Int) {
    let all = Array("ab\u{1B}[A\(Self.begin)x\u{1B}[20y\n\(Self.end)c\u{1B}\u{1B}[B".utf8)
    let pieces = stride(from: 0, to: all.count, by: length).map { String(decoding: all[$0..<min($0 + length, all.count)], as: UTF8.self) }
    let passed = Self.pass(pieces)
    #expect(passed.joined() == String(decoding: all, as: UTF8.self))
    let whole = passed.count { $0.contains("x") }
    #expect(whole == 1 && passed.first { $0.contains("x") }?.contains(Self.end) == true, "\(passed)")
  }

  @Test func keysAreNotHeld() {
    #expect(Self.pass(["\u{1B}", "f", "\u{1B}", "[A", "\u{1B}[20", "A"]) == ["\u{1B}", "f", "\u{1B}", "[A", "", "\u{1B}[20A"])
  }

  @Test func aPasteHasALimit() {
    let passed = Self.pass([Self.begin + String(repeating: "a", count: 2 * PastedText.limit), "b", Self.end + "c"])
    #expect(passed[0].utf8.count == PastedText.limit + Self.end.utf8.count && passed[0].hasSuffix("a" + Self.end))
    #expect(passed.dropFirst() == ["", "c"])
  }
}
