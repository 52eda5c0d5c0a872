import Scripts
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct ScriptVariablesTests {
  @Test func whatStandsAbove() {
    var variables = ScriptVariables(["FIXED": "1"])
    variables.set("FIXED", "2")
    variables.set("OTHER", "3")
    #expect(variables.value("FIXED") == "1" && variables.value("OTHER") == "3")
    // A result changes it.
    variables.capture("FIXED", "4")
    variables.capture("OTHER", nil)
    #expect(variables.value("FIXED") == "4" && variables.value("OTHER") == nil && variables.isKnown("OTHER"))
    #expect(!variables.isKnown("NONE") && variables.value("NONE") == nil && variables.names == ["FIXED", "OTHER"])
  }

  @Test(arguments: [
    ("A", true), ("_", true), ("a_1", true), ("", false), ("1a", false), ("a-b", false), ("ä", false), ("a b", false), ("A\n", false),
    (String(repeating: "a", count: 64), true), (String(repeating: "a", count: 65), false),
  ])
  func names(_ text: String, _ isName: Bool) { #expect(ScriptVariables.isName(text) == isName) }

  @Test func aWordWithoutValue() {
    let word = ShellWord([.text("x"), .variable("A"), .variable("B")])
    var variables = ScriptVariables(["A": "1"])
    #expect(#expect(throws: MissingVariable.self) { try variables.text(of: word) }?.name == "B")
    variables.set("B", "$A")
    #expect((try? variables.text(of: word)) == "x1$A")
  }

  /// A value can at most have 64 KiB. The text of a word stops to grow there, however often it repeats a value.
  @Test func longValues() throws {
    var variables = ScriptVariables(["A": String(repeating: "a", count: 64 << 10), "B": "b"])
    #expect(try variables.text(of: ShellWord([.text("x"), .variable("A")])).utf8.count == (64 << 10) + 1)
    #expect(throws: LongText.self) { try variables.text(of: ShellWord([.variable("B"), .variable("A")])) }
    variables.set("C", nil)
    #expect(try variables.text(of: ShellWord([.variable("C"), .variable("B")])) { "\($0)?" } == "C?b")
    #expect(throws: LongText.self) { try variables.text(of: ShellWord([.variable("C"), .variable("A")])) { _ in "c" } }
  }

  @Test(arguments: [
    ("500ms", 500), ("2s", 2000), ("1.5s", 1500), ("1m", 60_000), ("0.01h", 36_000), ("0ms", 0), ("24h", 86_400_000), ("0.1s", 100),
    (".5s", 500),
  ])
  func times(_ text: String, _ milliseconds: Int) { #expect(ScriptTime.parse(text) == .milliseconds(milliseconds)) }

  @Test(arguments: [
    "", "s", "5", "-1s", "+1s", "1 s", "1e3s", "0x5s", "25h", "1.2.3s", ".s", "infs", "nans", "٣s", "99999999999999999999s", "1d", "1S",
  ])
  func noTimes(_ text: String) { #expect(ScriptTime.parse(text) == nil) }

  @Test(arguments: [
    ("1", 1), ("-5", -5), ("+5", 5), ("0x10", 16), ("-0X10", -16), ("1.5", 1.5), (".5", 0.5), ("1e3", 1000), ("inf", .infinity),
    ("-inf", -.infinity),
  ])
  func numbers(_ text: String, _ value: Double) { #expect(ScriptNumber(text)?.real == value) }

  @Test(arguments: [
    "", "-", "x", "0x", "0xg", "1x", "--1", "+-1", " 1", "1 ", "٣", "infinity", "0x1.8", String(repeating: "9", count: 500),
  ])
  func noNumbers(_ text: String) { #expect(ScriptNumber(text) == nil) }

  @Test func wholeNumbersAreExact() {
    let (one, other) = (ScriptNumber("9007199254740993"), ScriptNumber("9007199254740992"))
    #expect(one != nil && other != nil && one != other)
    if let one, let other { #expect(ScriptNumber.compare(one, other, .greater) && !ScriptNumber.compare(one, other, .equal)) }
    if let nan = ScriptNumber("nan") {
      #expect(Predicate.Comparison.allCases.filter { ScriptNumber.compare(nan, nan, $0) } == [.unequal])
    }
  }

  // MARK: Results

  @Test(arguments: [
    ("battery.value", "60"), ("battery", "60"), ("battery.unit", "%"), ("value", "3c"), ("list[1].a", "2"), ("list[0]", "1"),
    ("event", "value"),
    ("n[0]", nil), ("list[5]", nil), ("list[-1]", nil), ("list[x]", nil), ("list[", nil), ("list[99999999999999999999]", nil), ("", nil),
    (".", nil),
    ("battery.", nil), ("battery.value.x", nil), ("answer", "yes"), ("both", "first"), ("[0]", nil),
  ])
  func fields(_ path: String, _ text: String?) throws {
    let record = """
      {"event": "value", "value": "3c", "both": "third", "decoded": {"battery": {"value": 60, "unit": "%"}, "both": "first"},
       "values": {"answer": "yes", "both": "second"}, "list": [1, {"a": 2}], "n": 5}
      """
    let result = ScriptResult(try JSONTree.parse(Array(record.utf8)))
    #expect(result.field(path).map { ScriptValue.field($0).text } == text)
    #expect(result.bytes == [0x3C])
  }

  @Test func whatIsDecodedAsOneValueHasTheNameDecoded() throws {
    let result = ScriptResult(try JSONTree.parse(Array("{\"decoded\": 5}".utf8)))
    #expect(result.field("decoded").map { ScriptValue.field($0).text } == "5" && result.bytes == nil && result.fields == ["decoded"])
  }
}
