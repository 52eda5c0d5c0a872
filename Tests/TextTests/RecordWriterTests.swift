import Foundation
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct RecordWriterTests {
  @Test func writesEveryKindOfField() {
    var json = RecordWriter()
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

  /// The value and the line of a record agree, for any contents.
  @Test func theValueIsThatOfTheLine() throws {
    let members = RecordWriter.Members {
      $0.string("who", "a")
      $0.objects("items", [1, 2]) { $0.integer("n", $1) }
    }
    func build(_ json: inout RecordWriter) {
      json.string("s", "a\"b\\c\n\u{1}é\u{7f}\u{202E}")
      json.string(.init("key \"é" as String), nil)
      json.integer("i", -3)
      json.integer("digit", 7)
      json.integer("large", UInt64.max)
      json.integer("no_integer", nil as Int?)
      json.number("n", 7.5)
      json.number("infinite", .infinity)
      json.literal("literal", "12345678901234567890.5")
      json.literals("literals", ["1", "null", "2.5"])
      json.bool("b", true)
      json.bool("none", nil)
      json.hex("hex", [0, 0xAB])
      json.hex("number", 0x1234, bytes: 3, separator: UInt8(ascii: ":"), .upper)
      json.time("time", 1_700_000_000_123_000_000)
      json.strings("list", ["x\u{1B}", ""])
      json.texts("texts", [.init(hex: 0x180F, bytes: 2), "plain"])
      json.strings("empty", [])
      json.object("o") { json in
        json.integer("one", 1)
        json.object("deeper") { $0.strings("list", ["y"]) }
      }
      json.members(members)
      json.object("nothing") { _ in }
      json.objects("many", [1, 2]) { json, number in json.object("n") { $0.integer("is", number) } }
      json.members(.none)
      json.bool("last", false)
    }
    var json = RecordWriter()
    build(&json)
    let line = json.finished()
    #expect(Self.text(RecordWriter.value(build)) == Self.text(try JSONTree.parse(line)))
    #expect(RecordWriter.value(build)["items"] != nil && RecordWriter.Members.none.isEmpty && !members.isEmpty)
  }

  /// Writes every key, kind and value of a tree.
  private static func text(_ tree: JSONTree) -> String {
    switch tree.kind {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .number(let digits): digits
    case .string(let text): text.debugDescription
    case .array(let items): "[\(items.map(text).joined(separator: ","))]"
    case .object(let members): "{\(members.map { "\($0.key.debugDescription):\(text($0.value))" }.joined(separator: ","))}"
    }
  }

  @Test func isJSONWhateverTheText() throws {
    let hostile = String(String.UnicodeScalarView((0..<0x300).compactMap { Unicode.Scalar($0) })) + "\u{202E}\u{1F600}"
    var json = RecordWriter()
    json.string("text", hostile)
    let object = try JSONSerialization.jsonObject(with: Data(json.finished())) as? [String: String]
    #expect(object?["text"] == hostile)
  }

  @Test func nothingThatATerminalObeysIsPassed() {
    var json = RecordWriter()
    json.string(.init("é\u{202E}" as String), "\u{1B}\u{9B}\u{2028}\u{E0001}ü")
    #expect(String(decoding: json.finished(), as: UTF8.self) == #"{"é\u202e":"\u001b\u009b\u2028\udb40\udc01ü"}"# + "\n")
  }

  /// Numbers written without an intermediate string equal those written with one.
  @Test(arguments: [Int64.min, -1_000_001, -1, 0, 9, 1_700_000_000_123_456_789, .max])
  func withoutStrings(_ number: Int64) {
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    var (json, plain) = (RecordWriter(), RecordWriter())
    json.hex("octets", bytes)
    plain.string("octets", Hex.encode(bytes))
    json.hex("address", UInt64(truncatingIfNeeded: number), bytes: 6, separator: UInt8(ascii: ":"), .upper)
    plain.string("address", Hex.encode(bytes[..<6].reversed(), separator: UInt8(ascii: ":"), .upper))
    json.time("time", number)
    plain.string("time", Timestamp.text(number))
    json.integer("number", Int(number))
    plain.literal("number", "\(number)")
    json.texts("texts", ["a", .init("\u{1B}" as String), .init(hex: UInt64(bytes[0]), bytes: 1)])
    plain.strings("texts", ["a", "\u{1B}", Hex.encode(bytes[0])])
    #expect(String(decoding: json.finished(), as: UTF8.self) == String(decoding: plain.finished(), as: UTF8.self))
  }

  @Test func membersAreMadeOnce() {
    var json = RecordWriter()
    let (none, some) = (
      RecordWriter.Members { _ in },
      RecordWriter.Members {
        $0.integer("a", 1); $0.string("b", "\"")
      }
    )
    for members in [none, some, none, some] { json.members(members) }
    json.bool("c", true)
    #expect(String(decoding: json.finished(), as: UTF8.self) == #"{"a":1,"b":"\"","a":1,"b":"\"","c":true}"# + "\n")
  }
}
