// SPDX-License-Identifier: Apache-2.0
/// A JSON value (RFC 8259). The parser also accepts comments (`//` and `/* */`), a comma after the last item, and `0x` numbers.
/// The tree keeps the line of every value and the order of members. Duplicate keys are errors.
package struct JSONTree: Sendable {
  package indirect enum Kind: Sendable {
    case null
    case bool(Bool)
    /// A number, as the digits in the text.
    case number(String)
    case string(String)
    case array([JSONTree])
    case object([(key: String, value: JSONTree)])
  }

  package let kind: Kind
  /// The line on which the value starts, from 1.
  package let line: Int
  /// The position of the value's first byte in its line, from 1.
  package let column: Int

  package struct Failure: Error, Equatable {
    package let line: Int
    package let column: Int
    package let reason: String
  }

  package init(kind: Kind, line: Int, column: Int = 1) { (self.kind, self.line, self.column) = (kind, line, column) }

  /// The maximum depth of nested arrays and objects, which bounds the recursion of the parser.
  static let maximumDepth = 32

  /// Parses a text that consists of one value.
  package static func parse(_ bytes: [UInt8]) throws(Failure) -> JSONTree {
    var parser = Parser(bytes)
    return try parser.whole()
  }

  /// The value of a key. Nil if the tree is not an object with that key.
  package subscript(key: String) -> JSONTree? {
    guard case .object(let members) = kind else { return nil }
    return members.first { $0.key == key }?.value
  }

  /// The text of a string value. Nil for other kinds of values.
  package var string: String? { if case .string(let text) = kind { text } else { nil } }

  /// The value of a decimal integer. Nil for other kinds of values, and for numbers that do not fit `Int`.
  package var integer: Int? { if case .number(let text) = kind { Int(text) } else { nil } }

  /// Returns an error at the place of the value.
  package func failure(_ reason: String) -> Failure { Failure(line: line, column: column, reason: reason) }

  /// The name of the value's kind with its article, for error messages: `a number`.
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
  /// The index in `bytes` of the current line's first byte.
  private var lineStart = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    // Some editors write a byte order mark.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private var column: Int { position - lineStart + 1 }

  private func failure(_ reason: String) -> JSONTree.Failure { JSONTree.Failure(line: line, column: column, reason: reason) }

  private func unexpected(_ wanted: String) -> JSONTree.Failure {
    guard let current else { return failure("Expected \(wanted), found the end of the file") }
    let shown = (0x21...0x7E).contains(current) ? "\"\(Character(UnicodeScalar(current)))\"" : "byte 0x\(String(current, radix: 16))"
    return failure("Expected \(wanted), found \(shown)")
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
          while let byte = self.current, byte != 0x0A { advance() }
        } else if bytes[position + 1] == 0x2A {
          let start = (line, column)
          position += 2
          while !(self.current == 0x2A && position + 1 < bytes.count && bytes[position + 1] == 0x2F) {
            guard self.current != nil else { throw JSONTree.Failure(line: start.0, column: start.1, reason: "Unterminated comment") }
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
    guard depth <= JSONTree.maximumDepth else { throw failure("More than \(JSONTree.maximumDepth) nested levels") }
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
          throw failure("Invalid value \(DisplayText.quote(word)): strings need double quotes")
        }
        return tree(.number(word))
      }
    }
  }

  /// Reads a word of letters, digits and the characters `+`, `-`, `.` and `_`.
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
      guard take("]") else { throw unexpected(#""," or "]""#) }
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
      guard keys.insert(key).inserted else { throw failure("Duplicate key \(DisplayText.quote(key))") }
      try skipSpace()
      guard take(":") else { throw unexpected(#"":""#) }
      try skipSpace()
      members.append((key, try value(depth: depth + 1)))
      try skipSpace()
      if take(",") { continue }
      guard take("}") else { throw unexpected(#""," or "}""#) }
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
        guard let string = String(validating: text, as: UTF8.self) else { throw failure("The string is not valid UTF-8") }
        return string
      case 0x5C:
        advance()
        text += try escape()
      case 0x00..<0x20: throw failure(current == 0x0A ? "Unterminated string at the end of the line" : "Control character in a string")
      default:
        text.append(current)
        advance()
      }
    }
    throw failure("Unterminated string")
  }

  private mutating func escape() throws(JSONTree.Failure) -> [UInt8] {
    guard let letter = current else { throw failure("Unterminated string") }
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
        guard current == 0x75 else { throw failure("Unpaired surrogate in a \\u escape") }
        position += 1
        let low = try codeUnit()
        guard (0xDC00..<0xE000).contains(low) else { throw failure("Unpaired surrogate in a \\u escape") }
        code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let scalar = UnicodeScalar(code) else { throw failure("Unpaired surrogate in a \\u escape") }
      return Array(String(Character(scalar)).utf8)
    default: throw failure("Unknown escape in a string: use \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX")
    }
  }

  private mutating func codeUnit() throws(JSONTree.Failure) -> UInt32 {
    guard position + 4 <= bytes.count, let code = Hex.number(String(decoding: bytes[position..<position + 4], as: UTF8.self)) else {
      throw failure("The escape \\u needs four hex digits")
    }
    position += 4
    return UInt32(truncatingIfNeeded: code)
  }
}
