import Foundation
import Testing
import Text

@Suite struct JSONLineTests {
  @Test func writesEveryKindOfField() {
    var json = JSONLine()
    json.string("s", "a\"b\\c\n\u{1}é\u{7f}")
    json.string("none", nil)
    json.integer("i", -3)
    json.integer("no_integer", nil as Int?)
    json.number("n", 7.5)
    json.number("whole", 30)
    json.number("nan", .nan)
    json.bool("b", true)
    json.strings("list", ["x", "y"])
    json.strings("empty", [])
    json.object("o") { $0.integer("one", 1) }
    json.object("nothing") { _ in }
    json.objects("many", [1, 2]) { $0.integer("n", $1) }
    json.bool("last", nil)
    let line = String(decoding: json.finished(), as: UTF8.self)
    #expect(
      line == #"{"s":"a\"b\\c\n\u0001é\u007f","none":null,"i":-3,"no_integer":null,"n":7.5,"whole":30.0,"nan":null,"b":true,"#
        + #""list":["x","y"],"empty":[],"o":{"one":1},"nothing":{},"many":[{"n":1},{"n":2}],"last":null}"# + "\n")
  }

  @Test func isJSONWhateverTheText() throws {
    let hostile = String(String.UnicodeScalarView((0..<0x300).compactMap { Unicode.Scalar($0) })) + "\u{202E}\u{1F600}"
    var json = JSONLine()
    json.string("text", hostile)
    let object = try JSONSerialization.jsonObject(with: Data(json.finished())) as? [String: String]
    #expect(object?["text"] == hostile)
  }

  @Test func nothingThatATerminalObeysIsPassed() {
    var json = JSONLine()
    json.string("é\u{202E}", "\u{1B}\u{9B}\u{2028}\u{E0001}ü")
    #expect(String(decoding: json.finished(), as: UTF8.self) == #"{"é\u202e":"\u001b\u009b\u2028\udb40\udc01ü"}"# + "\n")
  }
}
