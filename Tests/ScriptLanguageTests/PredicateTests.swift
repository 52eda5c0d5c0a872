import Scripts
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct PredicateTests {
  enum Outcome { case holds, fails, mistake }

  /// Returns the outcome of `expect …` for bytes or a field.
  private static func outcome(_ expectation: String, _ bytes: [UInt8], field: JSONTree? = nil) throws -> Outcome {
    let (statements, mistakes) = try ScriptParser.parse(Array("expect \(expectation)".utf8), file: "x", settings: [])
    if let mistake = mistakes.first { throw mistake }
    guard case .expectResult(let extraction, let predicate) = statements.first?.kind else { return .mistake }
    let format = try extraction.format?.text.map { try ValueFormat($0) }
    let value: ScriptValue = field.map { .field($0) } ?? format.map { .formatted(bytes, $0) } ?? .bytes(bytes)
    do {
      switch try predicate.verdict(on: value, { word throws(MissingVariable) in word.text ?? "" }) {
      case .holds: return .holds
      case .fails: return .fails
      }
    } catch is PredicateMistake { return .mistake }
  }

  @Test(
    arguments: [
      ("== 0102", "0102", .holds), ("== 01 02", "0102", .holds), ("== 0x01 0x02", "0102", .holds), ("== 01:02", "0102", .holds),
      ("== 102", "0102", .mistake), ("== 0102", "01", .fails), ("== \"\"", "", .holds), ("== \"12\"", "3132", .holds),
      ("== '12'", "12", .fails),
      ("!= 0102", "0103", .holds), ("!= 0102", "0102", .fails), ("== xyz", "", .mistake), ("== -5", "fb", .mistake),
      ("< 5", "01", .mistake),
      ("as hex < 5", "01", .mistake), ("as utf8 < 5", "01", .mistake), ("as auto in 1..2", "01", .mistake), ("as u8 < x", "01", .mistake),
      ("as u8 == 5", "05", .holds), ("as u8 == 0x05", "05", .holds), ("as u8 == 5 6", "0506", .holds), ("as u8 == 5", "0506", .fails),
      ("as u8 == 256", "00", .mistake), ("as i8 == -1", "ff", .holds), ("as u16le == 1", "0100", .holds), ("as u16be == 1", "0100", .fails),
      ("as u16le == 1", "01", .fails), ("as u16le < 1", "010000", .fails), ("as u8 < 5", "", .fails), ("as u8 <= 5", "0504", .holds),
      ("as u8 > 5", "0605", .fails), ("as u8 >= 5", "0605", .holds), ("as u8 < 5.5", "05", .holds), ("as u8 > -1", "00", .holds),
      ("as u64le < 18446744073709551616", "ffffffffffffffff", .holds), ("as u64le >= 18446744073709551615", "ffffffffffffffff", .holds),
      ("as u64le < 18446744073709551615", "ffffffffffffffff", .fails), ("as f32le == 1.5", "0000c03f", .holds),
      ("as f32le in 1.4..1.6", "0000c03f", .holds), ("as f32le < 1", "0000c07f", .fails), ("as f32le >= 1", "0000c07f", .fails),
      ("as f32le < inf", "0000c03f", .holds), ("as f64be > 1e300", "7fefffffffffffff", .holds), ("as u8 in 5..5", "05", .holds),
      ("as u8 in 6..9", "05", .fails), ("as u8 in 1..4", "05", .fails), ("as u8 in 6..5", "05", .mistake),
      ("as i8 in -5..-1", "fd", .holds), ("as u8 in ..5", "05", .mistake),
      ("as u8 in 1..x", "05", .mistake),
      ("as u8 in 0x01..0x0a", "05", .holds), ("starts 01", "0102", .holds), ("starts 02", "0102", .fails),
      ("starts 010203", "0102", .fails),
      ("starts \"\"", "0102", .mistake), ("ends 02", "0102", .holds), ("ends 0102", "0102", .holds), ("ends 01", "0102", .fails),
      ("contains 02", "010203", .holds), ("contains 0103", "010203", .fails), ("contains \"b\"", "616263", .holds),
      ("contains 1z", "01", .mistake), ("lacks 0103", "010203", .holds), ("lacks 02", "010203", .fails), ("lacks \"\"", "01", .mistake),
      ("as u16le lacks 512", "01000200", .holds), ("as u16le lacks 2", "01000200", .fails), ("as u16le lacks 5", "05", .fails),
      ("as utf8 == abc", "616263", .holds), ("as utf8 == abc", "61626300", .holds), ("as utf8 == ABC", "616263", .fails),
      ("as utf8 starts ab", "616263", .holds), ("as utf8 contains bc", "616263", .holds), ("as base64 == YWJj", "616263", .holds),
      ("as base64 == ===", "616263", .mistake), ("as u16le starts 1", "01000200", .holds), ("as u16le ends 2", "01000200", .holds),
      ("as u16le contains 512", "01000200", .fails), ("matches /^616263$/", "616263", .holds), ("matches /^abc$/", "616263", .fails),
      ("as utf8 matches /^abc$/", "616263", .holds), ("as u16le != 5", "05", .fails), ("as u16le == 5", "05", .fails),
      ("as u8 != 5", "", .fails), ("as utf8 != \"x\"", "ffff", .fails), ("as f32le == 0", "00000080", .holds),
      ("as u16le contains 5", "00050000", .fails), ("as u16le ends 5", "000500", .fails), ("as utf8 ends \"EN\"", "4f50454e00", .holds),
      ("matches /^01ff$/", "01ff", .holds),
      ("matches /^61$/", "61", .holds), ("as utf8 matches /^a$/", "61", .holds), ("as utf8 matches /B/i", "616263", .holds),
      ("as utf8 matches /B/", "616263", .fails),
      ("as u8 matches /^1 2$/", "0102", .holds), ("length == 0", "", .holds), ("length == 2", "0102", .holds),
      ("length != 2", "0102", .fails),
      ("length < 3", "0102", .holds), ("length <= 1", "0102", .fails), ("length > 1", "0102", .holds), ("length >= 3", "0102", .fails),
      ("length in 1..2", "0102", .holds), ("as u16le length == 2", "0102", .holds), ("length == x", "01", .mistake),
      ("is empty", "", .holds),
      ("is empty", "00", .fails), ("is hex", "00", .holds), ("is utf8", "616263", .holds), ("is utf8", "ff", .fails),
      ("is utf8", "c080", .fails),
      ("is text", "6162", .holds), ("is text", "0102", .fails), ("is text", "616200", .holds), ("is u16le", "0102", .holds),
      ("is u16le", "010203", .fails), ("is u16le", "", .fails), ("is f64le", "0102030405060708", .holds), ("as u8 is number", "01", .holds),
      ("is number", "01", .fails), ("is true", "01", .fails), ("as u16le is number", "01", .fails),
    ] as [(String, String, Outcome)])
  func aboutBytes(_ expectation: String, _ hex: String, _ outcome: Outcome) throws {
    #expect(try Self.outcome(expectation, Hex.decode(hex) ?? []) == outcome)
  }

  @Test(
    arguments: [
      ("== 5", "5", .holds), ("== 5.0", "5", .holds), ("== 0x05", "5", .holds), ("== 6", "5", .fails), ("== five", "5", .fails),
      ("!= five", "5", .fails),
      ("!= 6", "5", .holds),
      ("< 6", "5", .holds), ("> 4.5", "5", .holds), ("in 1..5", "5", .holds), ("< x", "5", .mistake), ("== 5", "\"5\"", .holds),
      ("== 05", "\"5\"", .fails), ("< 6", "\"5\"", .fails), ("== a", "\"a\"", .holds), ("== \"a b\"", "\"a b\"", .holds),
      ("== a b", "\"a b\"", .holds),
      ("starts a", "\"abc\"", .holds), ("ends c", "\"abc\"", .holds), ("contains b", "\"abc\"", .holds), ("contains d", "\"abc\"", .fails),
      ("starts 5", "55", .fails), ("matches /^a.c$/", "\"abc\"", .holds), ("matches /5/", "55", .holds), ("length == 3", "\"abc\"", .holds),
      ("length == 2", "[1, 2]", .holds), ("length == 1", "{\"a\": 1}", .holds), ("length == 1", "5", .fails),
      ("contains 2", "[1, 2]", .holds),
      ("contains 3", "[1, 2]", .fails), ("contains b", "[\"a\", \"b\"]", .holds),
      ("lacks c", "[\"a\", \"b\"]", .holds), ("lacks b", "[\"a\", \"b\"]", .fails), ("lacks b", "[1, 2]", .fails),
      ("lacks 3", "[1, 2]", .holds),
      ("lacks d", "\"abc\"", .holds), ("lacks 5", "55", .fails), ("== 1 2", "[1, 2]", .holds), ("< 3", "[1, 2]", .holds),
      ("< 2", "[1, 2]", .fails), ("< 3", "[1, \"x\"]", .fails), ("< 2", "[]", .fails), ("is empty", "[]", .holds),
      ("is empty", "\"\"", .holds),
      ("is empty", "null", .fails),
      ("is null", "null", .holds), ("== null", "null", .holds), ("is true", "true", .holds), ("is true", "false", .fails),
      ("is true", "\"true\"", .fails), ("is null", "\"null\"", .fails),
      ("is false", "false", .holds),
      ("== true", "true", .holds), ("is number", "5", .holds), ("is number", "\"5\"", .fails), ("is text", "\"5\"", .holds),
      ("is text", "5", .fails),
      ("is hex", "\"0aff\"", .holds), ("is hex", "\"xy\"", .fails), ("is u8", "255", .holds), ("is u8", "256", .fails),
      ("is i8", "-128", .holds),
      ("is u8", "null", .fails), ("is f32le", "1.5", .holds),
      ("== 170141183460469231731687303715884105727", "170141183460469231731687303715884105727", .holds),
      ("< 170141183460469231731687303715884105728", "170141183460469231731687303715884105727", .fails),
    ] as [(String, String, Outcome)])
  func aboutFields(_ expectation: String, _ json: String, _ outcome: Outcome) throws {
    #expect(try Self.outcome(expectation, [], field: JSONTree.parse(Array(json.utf8))) == outcome)
  }

  /// For random values, a predicate agrees with a naive implementation of the manual.
  @Test func aRandomPredicate() throws {
    var random = SplitMix64(seed: 11)
    func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    for _ in 0..<20_000 {
      let width = [1, 2, 3, 4, 8][below(5)]
      let (isSigned, isBig) = (below(2) == 0, below(2) == 0)
      let name = (isSigned ? "i" : "u") + "\(width * 8)" + (width == 1 ? "" : isBig ? "be" : "le")
      let bytes = (0..<width * (1 + below(3))).map { _ in [0, 1, 0x7F, 0x80, 0xFF, UInt8(truncatingIfNeeded: random.next())][below(6)] }
      var numbers: [Int128] = []
      for start in stride(from: 0, to: bytes.count, by: width) {
        var number: Int128 = 0
        for index in 0..<width { number = number * 256 + Int128(bytes[start + (isBig ? index : width - 1 - index)]) }
        var modulus: Int128 = 1
        for _ in 0..<width { modulus *= 256 }
        numbers.append(isSigned && number >= modulus / 2 ? number - modulus : number)
      }
      let limit = numbers[below(numbers.count)] + Int128(below(3)) - 1
      let most = limit + Int128(below(1000))
      let sign = ["<", "<=", ">", ">=", "in"][below(5)]
      let holds =
        switch sign {
        case "<": numbers.allSatisfy { $0 < limit }
        case "<=": numbers.allSatisfy { $0 <= limit }
        case ">": numbers.allSatisfy { $0 > limit }
        case ">=": numbers.allSatisfy { $0 >= limit }
        default: numbers.allSatisfy { limit <= $0 && $0 <= most }
        }
      let line = "as \(name) \(sign) \(limit)\(sign == "in" ? "..\(most)" : "")"
      #expect(try Self.outcome(line, bytes) == (holds ? .holds : .fails), "\(line) on \(Hex.encode(bytes))")
      let part = Array(bytes[below(bytes.count)...].prefix(1 + below(bytes.count)))
      let text = Hex.encode(part)
      let places = (0...bytes.count).filter { bytes[$0...].starts(with: part) }
      for (word, holds) in [
        ("contains", !places.isEmpty), ("starts", places.contains(0)), ("ends", places.contains(bytes.count - part.count)),
        ("==", part == bytes),
        ("!=", part != bytes),
      ] {
        #expect(try Self.outcome("\(word) \(text)", bytes) == (holds ? .holds : .fails), "\(word) \(text) on \(Hex.encode(bytes))")
      }
    }
  }
}
