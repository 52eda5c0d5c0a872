/// JSON (RFC 8259) with what people who write it by hand want: comments (`//` and `/* */`), a comma after the last item, `0x` numbers.
/// Not Foundation's decoder, because every entry keeps its line for the errors, objects keep their order, and keys given twice are found.
package struct JSONTree: Sendable {
  package indirect enum Kind: Sendable {
    case null
    case bool(Bool)
    /// As written.
    case number(String)
    case string(String)
    case array([JSONTree])
    case object([(key: String, value: JSONTree)])
  }

  package let kind: Kind
  /// Counted from 1.
  package let line: Int
  /// Octets from the beginning of the line, from 1.
  package let column: Int

  package struct Failure: Error {
    package let line: Int
    package let column: Int
    package let reason: String
  }

  package init(kind: Kind, line: Int, column: Int = 1) {
    self.kind = kind
    self.line = line
    self.column = column
  }

  /// Deeper nesting is refused: nothing here needs it, and the parser is recursive.
  static let maximumDepth = 32

  /// The one value that the text is.
  package static func parse(_ bytes: [UInt8]) throws(Failure) -> JSONTree {
    var parser = Parser(bytes)
    return try parser.whole()
  }

  /// The value of a key, when this is an object that has it.
  package subscript(key: String) -> JSONTree? {
    guard case .object(let members) = kind else { return nil }
    return members.first { $0.key == key }?.value
  }

  /// The text, when this is a string.
  package var string: String? { if case .string(let text) = kind { text } else { nil } }

  /// The number, when this is a whole one in decimal digits that fits.
  package var integer: Int? { if case .number(let text) = kind { Int(text) } else { nil } }

  /// What sort of value it is, for errors.
  package var noun: String {
    switch kind {
    case .null: "null"
    case .bool: "true or false"
    case .number: "a number"
    case .string: "a string"
    case .array: "a list"
    case .object: "an object"
    }
  }
}

private struct Parser {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1
  /// Where the line begins.
  private var lineStart = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    // A byte order mark is what some editors put in front.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private var column: Int { position - lineStart + 1 }

  private func failure(_ reason: String) -> JSONTree.Failure { JSONTree.Failure(line: line, column: column, reason: reason) }

  private func unexpected(_ wanted: String) -> JSONTree.Failure {
    guard let current else { return failure("the file ends where \(wanted) should be") }
    let shown = (0x21...0x7E).contains(current) ? "'\(Character(UnicodeScalar(current)))'" : "octet 0x\(String(current, radix: 16))"
    return failure("\(shown) where \(wanted) should be")
  }

  private mutating func advance() {
    position += 1
    if bytes[position - 1] == 0x0A { (line, lineStart) = (line + 1, position) }
  }

  private mutating func take(_ character: Character) -> Bool {
    guard let current, current == character.asciiValue else { return false }
    advance()
    return true
  }

  private mutating func skipSpace() throws(JSONTree.Failure) {
    while let current {
      switch current {
      case 0x20, 0x09, 0x0A, 0x0D: advance()
      case 0x2F:
        guard position + 1 < bytes.count else { throw unexpected("a value") }
        if bytes[position + 1] == 0x2F {
          while let octet = self.current, octet != 0x0A { advance() }
        } else if bytes[position + 1] == 0x2A {
          let start = (line, column)
          position += 2
          while !(self.current == 0x2A && position + 1 < bytes.count && bytes[position + 1] == 0x2F) {
            guard self.current != nil else { throw JSONTree.Failure(line: start.0, column: start.1, reason: "a comment that does not end") }
            advance()
          }
          position += 2
        } else {
          throw unexpected("a value")
        }
      default: return
      }
    }
  }

  mutating func whole() throws(JSONTree.Failure) -> JSONTree {
    try skipSpace()
    let value = try value(depth: 1)
    try skipSpace()
    guard current == nil else { throw unexpected("the end of the file") }
    return value
  }

  private mutating func value(depth: Int) throws(JSONTree.Failure) -> JSONTree {
    guard depth <= JSONTree.maximumDepth else { throw failure("nested deeper than \(JSONTree.maximumDepth) levels") }
    let start = (line: line, column: column)
    func tree(_ kind: JSONTree.Kind) -> JSONTree { JSONTree(kind: kind, line: start.line, column: start.column) }
    switch current {
    case 0x7B: return tree(.object(try object(depth: depth)))
    case 0x5B: return tree(.array(try array(depth: depth)))
    case 0x22: return tree(.string(try string()))
    default:
      let word = word()
      switch word {
      case "": throw unexpected("a value")
      case "null": return tree(.null)
      case "true": return tree(.bool(true))
      case "false": return tree(.bool(false))
      default:
        guard let first = word.utf8.first, (0x30...0x39).contains(first) || first == 0x2D || first == 0x2B else {
          throw failure("\(DisplayText.quote(word)) is not a value: strings need double quotes")
        }
        return tree(.number(word))
      }
    }
  }

  /// Letters, digits and what else numbers are made of.
  private mutating func word() -> String {
    let start = position
    while let current {
      switch current {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E, 0x5F: position += 1
      default: return String(decoding: bytes[start..<position], as: UTF8.self)
      }
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func array(depth: Int) throws(JSONTree.Failure) -> [JSONTree] {
    advance()
    var items: [JSONTree] = []
    while true {
      try skipSpace()
      if take("]") { return items }
      items.append(try value(depth: depth + 1))
      try skipSpace()
      if take(",") { continue }
      guard take("]") else { throw unexpected("',' or ']'") }
      return items
    }
  }

  private mutating func object(depth: Int) throws(JSONTree.Failure) -> [(key: String, value: JSONTree)] {
    advance()
    var members: [(key: String, value: JSONTree)] = []
    var keys: Set<String> = []
    while true {
      try skipSpace()
      if take("}") { return members }
      guard current == 0x22 else { throw unexpected("a key in double quotes") }
      let key = try string()
      guard keys.insert(key).inserted else { throw failure("the key \(DisplayText.quote(key)) is given twice") }
      try skipSpace()
      guard take(":") else { throw unexpected("':'") }
      try skipSpace()
      members.append((key, try value(depth: depth + 1)))
      try skipSpace()
      if take(",") { continue }
      guard take("}") else { throw unexpected("',' or '}'") }
      return members
    }
  }

  private mutating func string() throws(JSONTree.Failure) -> String {
    advance()
    var text: [UInt8] = []
    while let current {
      switch current {
      case 0x22:
        advance()
        guard let string = String(validating: text, as: UTF8.self) else { throw failure("a string that is not UTF-8") }
        return string
      case 0x5C:
        advance()
        text += try escape()
      case 0x00..<0x20: throw failure(current == 0x0A ? "a string that does not end on its line" : "a control character in a string")
      default:
        text.append(current)
        advance()
      }
    }
    throw failure("a string that does not end")
  }

  private mutating func escape() throws(JSONTree.Failure) -> [UInt8] {
    guard let letter = current else { throw failure("a string that does not end") }
    position += 1
    switch letter {
    case 0x22, 0x5C, 0x2F: return [letter]
    case 0x62: return [0x08]
    case 0x66: return [0x0C]
    case 0x6E: return [0x0A]
    case 0x72: return [0x0D]
    case 0x74: return [0x09]
    case 0x75:
      var code = try codeUnit()
      if (0xD800..<0xDC00).contains(code), current == 0x5C {
        position += 1
        guard current == 0x75 else { throw failure("half of a surrogate pair") }
        position += 1
        let low = try codeUnit()
        guard (0xDC00..<0xE000).contains(low) else { throw failure("half of a surrogate pair") }
        code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let scalar = UnicodeScalar(code) else { throw failure("half of a surrogate pair") }
      return Array(String(Character(scalar)).utf8)
    default: throw failure("an unknown escape in a string: there are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX")
    }
  }

  private mutating func codeUnit() throws(JSONTree.Failure) -> UInt32 {
    guard position + 4 <= bytes.count, let code = Hex.number(String(decoding: bytes[position..<position + 4], as: UTF8.self)) else {
      throw failure("\\u needs four hex digits")
    }
    position += 4
    return UInt32(truncatingIfNeeded: code)
  }
}
