// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// A JSON value with its place in a file, and methods that check and convert the value. Every error names the file, line and path.
package struct FileEntry: Sendable {
  package let file: String
  /// The path of the entry in the file, such as `[1].services[0].uuid`. Empty for the whole file.
  package let path: String
  package let tree: JSONTree

  package init(file: String, path: String, tree: JSONTree) {
    self.file = file
    self.path = path
    self.tree = tree
  }

  /// Parses a whole file: JSON with comments, at most `limit` bytes.
  package init(parsing bytes: [UInt8], name: String, limit: Int) throws(FileEntryError) {
    guard bytes.count <= limit else {
      throw FileEntryError(file: name, reason: "The file is too long: \(bytes.count) bytes (maximum \(limit)).")
    }
    do { self.init(file: name, path: "", tree: try JSONTree.parse(bytes)) } catch {
      throw FileEntryError(file: name, line: error.line, column: error.column, reason: error.reason)
    }
  }

  package func error(_ reason: String) -> FileEntryError {
    FileEntryError(file: file, line: tree.line, column: tree.column, path: path, reason: reason)
  }

  func unknownKey(_ keys: [String], _ advice: String = "") -> FileEntryError {
    error("Unknown key. Use \(keys.joined(separator: ", ")).\(advice)")
  }

  /// The advice for a computed part in an initial or other literal value.
  private static let literal = " Only reactions, timers and on_connect compute values."

  func mismatch(_ wanted: String) -> FileEntryError { error("Expected \(wanted), found \(tree.noun)") }

  // MARK: Scalars

  package func string() throws(FileEntryError) -> String {
    guard case .string(let text) = tree.kind else { throw mismatch("a string") }
    return text
  }

  package func bool() throws(FileEntryError) -> Bool {
    guard case .bool(let value) = tree.kind else { throw mismatch("true or false") }
    return value
  }

  /// Reads a whole number in `range`: decimal (`18`), hex (`0x12`), or a string with a hex number (`"0x0012"`).
  package func integer(_ range: ClosedRange<Int>) throws(FileEntryError) -> Int {
    let text: String
    switch tree.kind {
    case .number(let number): text = number
    case .string(let string) where string.hasPrefix("0x"): text = string
    default: throw mismatch("a number")
    }
    let negative = text.hasPrefix("-")
    let digits = negative ? text.dropFirst() : text[...]
    let isHex = digits.hasPrefix("0x") || digits.hasPrefix("0X")
    let magnitude = isHex ? Hex.number(digits.dropFirst(2)).flatMap { Int(exactly: $0) } : Self.decimal(digits)
    guard let magnitude else { throw error("\(DisplayText.quote(text)) is not a whole number, or is too large.") }
    let value = negative ? -magnitude : magnitude
    guard range.contains(value) else { throw error("\(value) is not in \(range.lowerBound)…\(range.upperBound).") }
    return value
  }

  private static func decimal(_ digits: Substring) -> Int? {
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(digits)
  }

  package func milliseconds(_ range: ClosedRange<Int>) throws(FileEntryError) -> Duration { .milliseconds(try integer(range)) }

  package func uuid() throws(FileEntryError) -> UUID {
    let text = try string()
    guard let uuid = UUID(text) else {
      throw error("Invalid UUID \(DisplayText.quote(text)). Use ffe0, 0000ffe0 or 0000ffe0-0000-1000-8000-00805f9b34fb.")
    }
    return uuid
  }

  /// Reads a string that is a raw value of `T`.
  /// - Parameter advice: The error message for any other string.
  package func choice<T: RawRepresentable<String>>(_ advice: String) throws(FileEntryError) -> T {
    guard let value = T(rawValue: try string()) else { throw error(advice) }
    return value
  }

  package func checksum() throws(FileEntryError) -> Checksum {
    let name = try string()
    guard let checksum = Checksum(name) else {
      throw error("Unknown checksum \(DisplayText.quote(name)). Use \(Checksum.names(like: name)).")
    }
    return checksum
  }

  package func handle() throws(FileEntryError) -> AttributeHandle { AttributeHandle(clamping: try integer(1...0xFFFF)) }

  // MARK: Lists and objects

  package func list() throws(FileEntryError) -> [FileEntry] {
    guard case .array(let items) = tree.kind else { throw mismatch("a list") }
    return items.enumerated().map { FileEntry(file: file, path: "\(path)[\($0)]", tree: $1) }
  }

  /// Reads the members of an object in the order of the file, with any keys.
  package func members() throws(FileEntryError) -> [(key: String, entry: FileEntry)] {
    guard case .object(let members) = tree.kind else { throw mismatch("an object") }
    return members.map { key, value in
      let name = DisplayText.clip(DisplayText.escape(key), to: 60)
      return (key, FileEntry(file: file, path: path.isEmpty ? name : "\(path).\(name)", tree: value))
    }
  }

  /// Reads the members of an object. Throws if the object has a key that is not in `keys`.
  /// Ignores the key `$schema` of the whole file, which names the file's JSON Schema for editors.
  package func object(_ keys: [String]) throws(FileEntryError) -> [String: FileEntry] {
    var result: [String: FileEntry] = [:]
    for (key, entry) in try members() where !(key == "$schema" && path.isEmpty) {
      guard keys.contains(key) else { throw entry.unknownKey(keys) }
      result[key] = entry
    }
    return result
  }

  /// The allowed keys of an object in the order of error messages, each with a function that stores the key's value in a `Target`.
  package typealias Keys<Target> = KeyValuePairs<String, @Sendable (inout Target, FileEntry) throws -> Void>

  /// Reads the members of an object in the order of `keys` and stores them in `target`. Throws for a key that is not in `keys`.
  package func read<Target>(_ keys: Keys<Target>, into target: inout Target) throws(FileEntryError) -> [String: FileEntry] {
    let fields = try object(keys.map(\.key))
    for (key, store) in keys {
      guard let value = fields[key] else { continue }
      do { try store(&target, value) } catch { throw error as? FileEntryError ?? value.error("\(error)") }
    }
    return fields
  }

  /// Reads an object with exactly one member. Throws if the key of the member is not in `keys`.
  package func single(of keys: [String], _ advice: String = "") throws(FileEntryError) -> (key: String, entry: FileEntry) {
    let members = try members()
    guard let first = members.first, members.count == 1 else {
      throw error("Expected an object with one key: \(keys.joined(separator: ", ")).")
    }
    guard keys.contains(first.key) else { throw first.entry.unknownKey(keys, advice) }
    return first
  }

  package var isObject: Bool { if case .object = tree.kind { true } else { false } }
  package var isList: Bool { if case .array = tree.kind { true } else { false } }
  package var isNumber: Bool { if case .number = tree.kind { true } else { false } }

  /// Reads the items of a list. Throws if the list has more than 256 items.
  package func bounded() throws(FileEntryError) -> [FileEntry] {
    let items = try list()
    guard items.count <= 256 else { throw error("Too many items: \(items.count) (maximum 256).") }
    return items
  }

  /// Reads an object whose keys are names that the file defines, with at most `limit` members.
  package func namedMembers(limit: Int) throws(FileEntryError) -> [(key: String, entry: FileEntry)] {
    let members = try members()
    guard members.count <= limit else { throw error("Too many entries: \(members.count) (maximum \(limit)).") }
    for (key, entry) in members where !(1...64).contains(key.utf8.count) { throw entry.error("A name has 1 to 64 bytes.") }
    return members
  }

  /// The kinds of an object. `name` is the key that identifies a kind, and `takes` lists the other keys that the kind allows.
  package typealias Kinds = [(name: String, takes: [String])]

  /// Reads an object in which exactly one key is the name of a kind in `kinds`.
  /// - Parameter common: The keys that every kind allows.
  package func kind(of kinds: Kinds, _ noun: String, with common: [String]) throws(FileEntryError) -> Kind {
    let members = try members()
    let names = kinds.map(\.name)
    let known = Set(names + common + kinds.flatMap(\.takes))
    for (key, entry) in members where !known.contains(key) {
      let others = (common + kinds.flatMap(\.takes)).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
      throw entry.unknownKey(names, others.isEmpty ? "" : " Beside one of them: \(others.joined(separator: ", ")).")
    }
    let found = members.filter { names.contains($0.key) }
    guard let first = found.first, found.count == 1 else {
      throw error("Expected exactly one key of \(noun): \(names.joined(separator: ", ")).")
    }
    let allowed = common + kinds.filter { $0.name == first.key }.flatMap(\.takes)
    var fields: [String: FileEntry] = [:]
    for (key, entry) in members where key != first.key {
      guard allowed.contains(key) else { throw entry.error("\"\(first.key)\" takes no \"\(key)\".") }
      fields[key] = entry
    }
    return Kind(name: first.key, entry: first.entry, fields: fields)
  }

  package struct Kind: Sendable {
    package let name: String
    package let entry: FileEntry
    /// The entries of all keys except `name`.
    package let fields: [String: FileEntry]
  }

  // MARK: Bytes

  /// Reads a literal value of at most `limit` bytes: a string of hex digits, `{"FORMAT": …}`, or a list of such parts.
  package func bytes(limit: Int) throws(FileEntryError) -> [UInt8] {
    var bytes: [UInt8] = []
    for part in isList ? try list() : [self] { bytes += try part.part() }
    guard bytes.count <= limit else { throw error("Too long: \(bytes.count) bytes (maximum \(limit)).") }
    return bytes
  }

  private func part() throws(FileEntryError) -> [UInt8] {
    guard isObject else { return try hex() }
    let (key, entry) = try single(of: ValueFormat.names, Self.literal)
    if entry.isObject { throw entry.error("Expected a string or a number, found an object.\(Self.literal)") }
    return try entry.typed(key)
  }

  package func hex() throws(FileEntryError) -> [UInt8] {
    if case .number(let text) = tree.kind, let number = UInt16(text) {
      throw error("Expected a string, found a number. For a number: {\"\(number < 256 ? "u8" : "u16le")\": \(number)}")
    }
    let text = try string()
    do { return try Hex.parse(text) } catch let problem {
      throw error(
        problem == .notHex
          ? "\(problem) \(DisplayText.quote(text)). To write text: {\"utf8\": \"…\"}" : "\(problem)")
    }
  }

  /// Encodes the entry in a value format, such as `5` in `u16le` or `"text"` in `utf8`. Encodes each item of a list in turn.
  package func typed(_ format: String) throws(FileEntryError) -> [UInt8] {
    var bytes: [UInt8] = []
    for item in isList ? try list() : [self] {
      let text: String
      switch item.tree.kind {
      case .string(let string): text = string
      case .number(let number): text = number
      default: throw item.mismatch("a string or a number")
      }
      do { bytes += try ValueFormat(format).parse(text) } catch { throw item.error(error.description) }
    }
    return bytes
  }
}

extension FileEntry {
  /// Reads text that messages show: one printable line of 1 to `limit` bytes.
  func words(limit: Int = 256) throws(FileEntryError) -> String {
    let text = try string()
    guard (1...limit).contains(text.utf8.count), DisplayText.escape(text) == text.replacing("\\", with: "\\\\") else {
      throw error("Expected printable text of 1 to \(limit) bytes.")
    }
    return text
  }

  /// Checks a name that users type, such as `level` in `level=5`. A name has 1 to 64 letters, digits, `_` and `-`.
  func checkName(_ name: String) throws(FileEntryError) {
    let isPlain = name.utf8.allSatisfy {
      switch $0 {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D: true
      default: false
      }
    }
    guard isPlain, (1...64).contains(name.utf8.count), name.first != "-" else {
      throw error("Invalid name \(DisplayText.quote(name)). Use up to 64 letters, digits, _ and -.")
    }
  }

  func name() throws(FileEntryError) -> String {
    let name = try string()
    try checkName(name)
    return name
  }

  /// Reads a decimal number. Throws if the number is not in `range`.
  package func decimal(in range: ClosedRange<Double>) throws(FileEntryError) -> Double {
    let number = try decimal()
    guard range.contains(number) else { throw error("\(number) is not in \(range.lowerBound)…\(range.upperBound).") }
    return number
  }

  /// Reads a finite decimal number of any size.
  func decimal() throws(FileEntryError) -> Double {
    guard case .number(let text) = tree.kind else { throw mismatch("a number") }
    if let whole = NumberField.integer(text) { return Double(whole) }
    guard text.utf8.count <= 64, let number = Double(text), number.isFinite else {
      throw error("\(DisplayText.quote(text)) is not a number, or is too large.")
    }
    return number
  }

  /// Reads a value that fits the field, in the forms of `Frame.Field.parse`.
  package func value(of field: Frame.Field) throws(FileEntryError) -> DeviceValue {
    let value = try literal(of: field)
    do { return try field.canonical(value) } catch { throw self.error(error.description) }
  }

  private func literal(of field: Frame.Field) throws(FileEntryError) -> DeviceValue {
    switch (tree.kind, field) {
    case (.string(let text), _), (.number(let text), .number), (.number(let text), .bit):
      do { return try field.parse(text) } catch { throw self.error(error.description) }
    case (.array, .list(let list)): return .list(try items(of: list))
    default: throw error("The value of \(field.name) cannot be \(tree.noun).")
    }
  }

  private func items(of list: Frame.ListField) throws(FileEntryError) -> [DeviceValue] {
    var values: [DeviceValue] = []
    for item in try bounded() {
      switch list.item {
      case .number(let field): values.append(try item.value(of: .number(field)))
      case .group(let pieces): values.append(.object(try item.members(of: pieces.flatMap(Frame.fields))))
      }
    }
    return values
  }

  private func members(of fields: [Frame.Field]) throws(FileEntryError) -> [NamedValue] {
    let members = try object(fields.map(\.name))
    var values: [NamedValue] = []
    for field in fields {
      guard let member = members[field.name] else { throw error("Missing \(field.name).") }
      values.append(NamedValue(field.name, try member.value(of: field)))
    }
    return values
  }
}

extension FieldFault: CustomStringConvertible {
  /// The error message, which starts with the name of the field.
  package var description: String {
    func choice(_ names: [String]) -> String { names.isEmpty ? "" : " Use \(names.joined(separator: ", "))." }
    return switch reason {
    case .missing: "\(field): Missing value."
    case .notANumber: "\(field): Expected a number."
    case .noNumber(let text): "\(field): \(DisplayText.quote(text)) is not a number."
    case .notWhole(let text): "\(field): \(text) is not a whole number."
    case .betweenSteps(let text, let nearest): "\(field): \(text) cannot be sent. The nearest value is \(nearest)."
    case .outOfRange(let text, let range?): "\(field): \(text) is out of range (\(range))."
    case .outOfRange(let text, nil): "\(field): \(text) does not fit."
    case .unknownName(let text, let names): "\(field): Unknown value \(DisplayText.quote(text)).\(choice(names))"
    case .notHex(let text): "\(field): Invalid hex \(DisplayText.quote(text))"
    case .oddDigits(let error): "\(field): \(error)"
    case .notText: "\(field): Expected text."
    case .notBytes: "\(field): Expected bytes."
    case .notAList: "\(field): Expected a list."
    case .wrongLength(let count, let allowed, let unit): "\(field): Expected \(allowed) \(unit.rawValue), found \(count)."
    case .tooLong(let count, let allowed, let unit): "\(field): Too long: \(count) \(unit.rawValue) (maximum \(allowed))."
    }
  }
}
