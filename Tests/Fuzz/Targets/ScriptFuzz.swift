import BluetoothLEText
import Scripts

extension FuzzTarget {
  /// A script, parsed and checked.
  static let script = FuzzTarget(
    "script", seeds: files("Tests/Scripts", [".blectl"]) + files("man/examples", [".blectl"]),
    words: ScriptParser.words + Predicate.words + [
      "within", "every", "of", "as", "field", "${A}", "$A", "\\\n", "\"", "'", "/a*/", "5s", "\0",
    ]
  ) { bytes in
    guard let (statements, mistakes) = try? ScriptParser.parse(bytes, file: "fuzz", settings: ["timeout"]) else { return }
    let program = ScriptCheck.Program(
      command: { command throws(ScriptCheck.CommandMistake) in
        if command.words.count > 9 { throw ScriptCheck.CommandMistake("too many") }
        return .device
      }, errors: ["att"], reasons: [])
    _ = ScriptErrors(mistakes + ScriptCheck.script(statements, file: "fuzz", variables: ["A": "1"], program).mistakes, of: "fuzz")
  }

  /// A regular expression and a text from the same bytes.
  static let expression = FuzzTarget(
    "expression",
    seeds: ["^(a|b)*c{2,5}[^x-z]\\d+?$ aabbcc7", "(?:x+x+)+y xxxxxxxxxxxxxxxxxxxxxxx", "\\x41|[\\d_-]\\b. A9-"].map { Array($0.utf8) },
    words: ["(", ")", "[", "]", "{1,9}", "*", "+?", "|", "\\b", "^", "$", "(?:"]
  ) { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    let half = text.unicodeScalars.count / 2
    guard let expression = try? RegularExpression(String(text.unicodeScalars.prefix(half))) else { return }
    _ = expression.matches(String(text.unicodeScalars.dropFirst(half).prefix(200)))
  }

  /// A predicate (a line of a script) that is applied to its own bytes.
  static let predicate = FuzzTarget(
    "predicate",
    seeds: ["expect as u8 in 1..5", "expect == 0102", "expect as f64be < -1e300", "expect length >= 0x7fffffffffffffff", "expect is utf8"]
      .map { Array($0.utf8) },
    words: Predicate.words + ValueFormat.names + ["as", "..", "-", "0x", "1e309", "nan", "340282366920938463463374607431768211456"]
  ) { bytes in
    guard let statement = (try? ScriptParser.parse(bytes, file: "fuzz", settings: []))?.statements.first,
      case .expectResult(let extraction, let predicate) = statement.kind
    else { return }
    let format = extraction.format?.text.flatMap { try? ValueFormat($0) }
    let value: ScriptValue = format.map { .formatted(Array(bytes.suffix(16)), $0) } ?? .bytes(Array(bytes.suffix(16)))
    _ = try? predicate.verdict(on: value) { word throws(MissingVariable) in word.text ?? "" }
    let field = JSONTree(kind: .number(String(decoding: bytes.suffix(12), as: UTF8.self)), line: 1)
    _ = try? predicate.verdict(on: .field(field)) { word throws(MissingVariable) in word.text ?? "" }
  }
}
