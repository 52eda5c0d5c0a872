import TestSupport

@testable import BluetoothLEText

/// JSON for people: short objects and lists are on one line.
@Suite(.timeLimit(.minutes(15))) struct JSONLinesTests {
  private static let text = #"{"a": [1, {"b": "q\"\u202e"}, [], {}], "list": [null, true, -2.5, "a long string in a list"], "": false}"#

  @Test func shortValuesAreOnOneLine() throws {
    let kind = try JSONTree.parse(Array(Self.text.utf8)).kind
    #expect(kind.line == Self.text && kind.lines(width: Self.text.count) == [Self.text])
    #expect(
      kind.lines(width: 50) == [
        "{", #"  "a": [1, {"b": "q\"\u202e"}, [], {}],"#, #"  "list": ["#, "    null,", "    true,", "    -2.5,",
        #"    "a long string in a list""#,
        "  ],", #"  "": false"#, "}",
      ])
    for width in 0..<110 {
      let lines = kind.lines(width: width)
      #expect(try JSONTree.parse(Array(lines.joined(separator: "\n").utf8)).kind.line == Self.text)
      // Only what cannot be broken is longer.
      if width >= 40 { #expect(lines.allSatisfy { $0.count <= width }, "\(width)") }
    }
  }
}
