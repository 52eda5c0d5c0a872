// SPDX-License-Identifier: Apache-2.0
/// A writer of one record, as a line of JSON or as a tree of values. Fields keep the order in which the caller adds them.
package struct RecordWriter {
  // Encoders of the standard libraries sort or shuffle keys and take ten times as long. A busy scan has thousands of records a second.
  // Closures describe records, and a closure cannot be generic. So this is one type with two results, not a protocol.
  private(set) var bytes: [UInt8] = []
  private var needsComma = false
  /// The values written so far. Nil if the writer produces a line of JSON.
  private var tree: RecordTree?
  /// The form of times.
  package var times = RecordTimes.utc

  /// Starts a record that becomes a line of JSON.
  package init() { bytes = [UInt8](capacity: 384) { $0.append(UInt8(ascii: "{")) } }

  private init(_ tree: RecordTree) { self.tree = tree }

  /// Builds a record with `build` and returns it as a tree of values.
  package static func value(_ build: (inout Self) -> Void) -> JSONTree {
    var times = RecordTimes.utc
    return value(&times, build)
  }

  /// Builds a record with times in another form than UTC.
  package static func value(_ times: inout RecordTimes, _ build: (inout Self) -> Void) -> JSONTree {
    var writer = Self(RecordTree())
    writer.times = times
    build(&writer)
    times = writer.times
    return writer.tree?.value ?? JSONTree(kind: .null, line: 0)
  }

  /// Ends the record and returns it as a line of JSON with a line feed.
  package consuming func finished() -> [UInt8] {
    bytes.append(UInt8(ascii: "}"))
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  package mutating func string(_ key: Text, _ value: String?) {
    self.key(key)
    if let value { text(value) } else { literal("null") }
  }

  package mutating func integer(_ key: Text, _ value: (some BinaryInteger)?) {
    self.key(key)
    literal(value.map { String($0) } ?? "null")
  }

  // For common types, because any other takes ten times as long.

  package mutating func integer(_ key: Text, _ value: Int?) {
    self.key(key)
    if let value { digits(value) } else { literal("null") }
  }

  package mutating func integer(_ key: Text, _ value: UInt16) { integer(key, Int(value)) }

  /// Writes bytes as a string of hex digits.
  package mutating func hex(_ key: Text, _ bytes: [UInt8]) {
    self.key(key)
    quoted { Hex.append(bytes, to: &$0) }
  }

  /// Writes the lowest `bytes` bytes of a number as a string of hex digits, most significant byte first.
  package mutating func hex(_ key: Text, _ number: UInt64, bytes: Int, separator: UInt8? = nil, _ letterCase: Hex.LetterCase = .lower) {
    self.key(key)
    quoted { Hex.append(number, bytes: bytes, separator: separator, letterCase, to: &$0) }
  }

  /// Writes a time as a string (RFC 3339, milliseconds; UTC unless `times` has another form).
  /// - Parameter nanoseconds: Nanoseconds since 1970-01-01T00:00:00Z.
  package mutating func time(_ key: Text, _ nanoseconds: Int64) {
    guard case .utc = times else { return formed(key, nanoseconds) }
    self.key(key)
    quoted { Timestamp.append(nanoseconds, to: &$0) }
  }

  private mutating func formed(_ key: Text, _ nanoseconds: Int64) {
    guard let text = times.text(nanoseconds) else { return }
    self.key(key)
    if case .relative = times { literal(text) } else { self.text(text) }
  }

  package mutating func members(_ members: Members) {
    guard !members.bytes.isEmpty else { return }
    if tree != nil {
      tree?.add(members.values)
      return
    }
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
    bytes.append(contentsOf: members.bytes)
  }

  /// Writes the shortest decimal that parses to the same value. Writes null for NaN and infinity, which JSON cannot represent.
  package mutating func number(_ key: Text, _ value: Double?) {
    self.key(key)
    if let value, value.isFinite { literal(value.description) } else { literal("null") }
  }

  /// Writes a number in JSON's grammar unchanged. The number may have more digits than a binary float can represent.
  package mutating func literal(_ key: Text, _ number: String) {
    self.key(key)
    literal(number)
  }

  package mutating func literals(_ key: Text, _ numbers: [String]) { array(key, numbers) { $0.literal($1) } }

  package mutating func bool(_ key: Text, _ value: Bool?) {
    self.key(key)
    literal(value.map { $0 ? "true" : "false" } ?? "null")
  }

  package mutating func strings(_ key: Text, _ values: [String]) { array(key, values) { $0.text($1) } }

  package mutating func texts(_ key: Text, _ values: [Text]) { array(key, values) { $0.text($1) } }

  package mutating func object(_ key: Text, _ build: (inout Self) -> Void) {
    self.key(key)
    braces(build)
  }

  package mutating func objects<Item>(_ key: Text, _ items: some Sequence<Item>, _ build: (inout Self, Item) -> Void) {
    array(key, items) { json, item in json.braces { build(&$0, item) } }
  }

  private mutating func braces(_ build: (inout Self) -> Void) {
    if tree != nil {
      tree?.openObject()
      build(&self)
      tree?.close()
      return
    }
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
    build(&self)
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  private mutating func array<Item>(_ key: Text, _ items: some Sequence<Item>, _ element: (inout Self, Item) -> Void) {
    self.key(key)
    if tree != nil {
      tree?.openArray()
      for item in items { element(&self, item) }
      tree?.close()
      return
    }
    bytes.append(UInt8(ascii: "["))
    var isFirst = true
    for item in items {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      element(&self, item)
    }
    bytes.append(UInt8(ascii: "]"))
    needsComma = true
  }

  private mutating func key(_ key: Text) {
    if tree != nil {
      tree?.key = key.string
      return
    }
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
    text(key)
    bytes.append(UInt8(ascii: ":"))
  }

  private mutating func text(_ value: Text) {
    if tree != nil {
      tree?.add(.string(value.string))
      return
    }
    switch value.content {
    case .literal(let text): quoted { $0.append(contentsOf: text.utf8) }
    case .text(let text): self.text(text)
    case .hex(let number, let bytes): quoted { Hex.append(number, bytes: bytes, to: &$0) }
    }
  }

  @inline(__always)
  private mutating func quoted(_ append: (inout [UInt8]) -> Void) {
    if tree != nil {
      var text: [UInt8] = []
      append(&text)
      tree?.add(.string(String(decoding: text, as: UTF8.self)))
      return
    }
    bytes.append(UInt8(ascii: "\""))
    append(&bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func digits(_ value: Int) {
    guard value < 0 || value > 9 || tree != nil else { return bytes.append(0x30 &+ UInt8(truncatingIfNeeded: value)) }
    literal(value.description)
  }

  /// Writes `null`, `true`, `false` or a number in JSON's grammar.
  private mutating func literal(_ text: String) {
    guard tree != nil else { return raw(text) }
    switch text {
    case "null": tree?.add(.null)
    case "true", "false": tree?.add(.bool(text == "true"))
    default: tree?.add(.number(text))
    }
  }

  private mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// Writes a string (RFC 8259 §7). Also escapes characters that a terminal may obey: C1 controls, bidi and other format characters, line
  /// and paragraph separators. Writes all other text as unchanged UTF-8.
  private mutating func text(_ value: String) {
    if tree != nil {
      tree?.add(.string(value))
      return
    }
    bytes.append(UInt8(ascii: "\""))
    // Most texts need no escapes; one check suffices for them.
    if Self.isPlain(value.utf8.span) {
      bytes.append(contentsOf: value.utf8)
    } else {
      for scalar in value.unicodeScalars { isSafe(scalar) ? bytes(scalar.utf8) : escape(scalar) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Returns a text as a JSON string, with the escapes of a record.
  static func quoted(_ text: String) -> String {
    var writer = Self()
    writer.bytes = []
    writer.text(text)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Returns whether the bytes are printable ASCII without quotation marks and backslashes.
  static func isPlain(_ bytes: Span<UInt8>) -> Bool {
    // Without branches in the loop, the CPU compares many bytes at a time.
    var others: UInt8 = 0
    for index in bytes.indices {
      let byte = bytes[index]
      others |= byte &- 0x20 < 0x5F ? 0 : 1
      others |= byte == 0x22 ? 1 : 0
      others |= byte == 0x5C ? 1 : 0
    }
    return others == 0
  }

  private func isSafe(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return true }
    return switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }

  private mutating func escape(_ scalar: Unicode.Scalar) {
    for unit in scalar.utf16 {
      raw("\\u")
      Hex.append(UInt64(unit), bytes: 2, to: &bytes)
    }
  }

  private mutating func bytes(_ text: some Sequence<UInt8>) {
    for byte in text {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x0A: raw("\\n")
      case 0x0D: raw("\\r")
      case 0x09: raw("\\t")
      case 0..<0x20, 0x7F:
        raw("\\u00")
        Hex.append(UInt64(byte), bytes: 1, to: &bytes)
      default: bytes.append(byte)
      }
    }
  }

  /// A text that is the key of a member or an element of an array.
  package struct Text: ExpressibleByStringLiteral, Sendable {
    enum Content: Sendable {
      /// A literal that needs no escapes. The writer copies the literal unchecked.
      case literal(String)
      case text(String)
      /// A number, and the count of its lowest bytes that the text has in hex.
      case hex(UInt64, Int)
    }

    let content: Content

    /// Creates a text from a literal, which must be printable ASCII without quotation marks and backslashes.
    package init(stringLiteral literal: String) {
      assert(RecordWriter.isPlain(literal.utf8.span), "to be escaped: \(literal)")
      content = .literal(literal)
    }

    /// Creates a text that may contain any characters.
    package init(_ text: String) { content = .text(text) }

    /// Creates a text of the lowest `bytes` bytes of a number in hex, most significant byte first, two digits each.
    package init(hex number: UInt64, bytes: Int) { content = .hex(number, bytes) }

    var string: String {
      switch content {
      case .literal(let text), .text(let text): text
      case .hex(let number, let bytes): Hex.encode(number, bytes: bytes)
      }
    }
  }

  /// The members of an object, encoded once for use in many records.
  package struct Members: Sendable {
    let bytes: [UInt8]
    let values: JSONTree

    /// The empty list of members, which adds nothing to a record.
    package static let none = Self { _ in }

    package var isEmpty: Bool { bytes.isEmpty }

    package init(_ build: (inout RecordWriter) -> Void) {
      var json = RecordWriter()
      build(&json)
      bytes = Array(json.bytes.dropFirst())
      values = RecordWriter.value(build)
    }
  }
}
