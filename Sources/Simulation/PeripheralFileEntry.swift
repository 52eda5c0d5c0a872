import ATT
import Bluetooth
import Text

/// One value of the file with its place, and the checked ways to read it. Every error names the file, the line and the path of the entry.
struct FileEntry {
  let file: String
  /// `[1].services[0].uuid`; empty for the whole.
  let path: String
  let tree: JSONTree

  func error(_ reason: String) -> PeripheralFileError {
    PeripheralFileError(file: file, line: tree.line, path: path, reason: reason)
  }

  private func mismatch(_ wanted: String) -> PeripheralFileError { error("\(tree.noun) where \(wanted) should be") }

  // MARK: Scalars

  func string() throws(PeripheralFileError) -> String {
    guard case .string(let text) = tree.kind else { throw mismatch("a string") }
    return text
  }

  func bool() throws(PeripheralFileError) -> Bool {
    guard case .bool(let value) = tree.kind else { throw mismatch("true or false") }
    return value
  }

  /// A decimal or 0x number, or the latter as a string (`"0x0012"`).
  func integer(_ range: ClosedRange<Int>) throws(PeripheralFileError) -> Int {
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
    guard let magnitude else { throw error("\(DisplayText.quote(text)) is not a whole number of a sensible size") }
    let value = negative ? -magnitude : magnitude
    guard range.contains(value) else { throw error("\(value) is not in \(range.lowerBound)…\(range.upperBound)") }
    return value
  }

  private static func decimal(_ digits: Substring) -> Int? {
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(digits)
  }

  func milliseconds(_ range: ClosedRange<Int>) throws(PeripheralFileError) -> Duration { .milliseconds(try integer(range)) }

  func uuid() throws(PeripheralFileError) -> UUID {
    let text = try string()
    guard let uuid = UUID(text) else {
      throw error("\(DisplayText.quote(text)) is not a UUID: ffe0, 0000ffe0 or 0000ffe0-0000-1000-8000-00805f9b34fb")
    }
    return uuid
  }

  func handle() throws(PeripheralFileError) -> AttributeHandle { AttributeHandle(clamping: try integer(1...0xFFFF)) }

  // MARK: Lists and objects

  func list() throws(PeripheralFileError) -> [FileEntry] {
    guard case .array(let items) = tree.kind else { throw mismatch("a list") }
    var entries: [FileEntry] = []
    for (index, item) in items.enumerated() { entries.append(FileEntry(file: file, path: "\(path)[\(index)]", tree: item)) }
    return entries
  }

  /// The members in the order of the file, whatever their keys.
  func members() throws(PeripheralFileError) -> [(key: String, entry: FileEntry)] {
    guard case .object(let members) = tree.kind else { throw mismatch("an object") }
    var entries: [(key: String, entry: FileEntry)] = []
    for (key, value) in members {
      let name = DisplayText.clip(DisplayText.escape(key), to: 60)
      entries.append((key, FileEntry(file: file, path: path.isEmpty ? name : "\(path).\(name)", tree: value)))
    }
    return entries
  }

  /// The members of an object that may have these keys only.
  func object(_ keys: [String]) throws(PeripheralFileError) -> [String: FileEntry] {
    var result: [String: FileEntry] = [:]
    for (key, entry) in try members() {
      guard keys.contains(key) else { throw entry.error("unknown key; there are \(keys.joined(separator: ", "))") }
      result[key] = entry
    }
    return result
  }

  /// The one member of an object, which says what it is by its key.
  func single(of keys: [String]) throws(PeripheralFileError) -> (key: String, entry: FileEntry) {
    let members = try members()
    guard let first = members.first, members.count == 1 else {
      throw error("an object with one key: one of \(keys.joined(separator: ", "))")
    }
    guard keys.contains(first.key) else { throw first.entry.error("unknown key; there are \(keys.joined(separator: ", "))") }
    return first
  }

  var isObject: Bool {
    if case .object = tree.kind { return true }
    return false
  }

  var isList: Bool {
    if case .array = tree.kind { return true }
    return false
  }

  var isNumber: Bool {
    if case .number = tree.kind { return true }
    return false
  }

  /// The items of a list that may be long, but not endless.
  func bounded() throws(PeripheralFileError) -> [FileEntry] {
    let items = try list()
    guard items.count <= 256 else { throw error("\(items.count) items: at most 256 are allowed") }
    return items
  }

  /// The members of an object whose keys are names that the file gives.
  func namedMembers(limit: Int) throws(PeripheralFileError) -> [(key: String, entry: FileEntry)] {
    let members = try members()
    guard members.count <= limit else { throw error("\(members.count) of them: at most \(limit) are allowed") }
    for (key, entry) in members where !(1...64).contains(key.utf8.count) { throw entry.error("a name has 1 to 64 octets") }
    return members
  }

  /// An object that says what it is by one of `kinds`; other keys say more about it.
  /// - Parameter takes: the keys that each kind takes beside its own.
  func kind(of kinds: [String], _ noun: String, takes: (String) -> [String]) throws(PeripheralFileError) -> Kind {
    let members = try members()
    let others = Set(kinds.flatMap(takes))
    for (key, entry) in members where !kinds.contains(key) && !others.contains(key) {
      throw entry.error("unknown key; there are \(kinds.joined(separator: ", "))")
    }
    let found = members.filter { kinds.contains($0.key) }
    guard let first = found.first, found.count == 1 else {
      throw error("\(noun) has exactly one of \(kinds.joined(separator: ", "))")
    }
    var fields: [String: FileEntry] = [:]
    for (key, entry) in members where key != first.key {
      guard takes(first.key).contains(key) else { throw entry.error("\(first.key) takes no \(key)") }
      fields[key] = entry
    }
    return Kind(name: first.key, entry: first.entry, fields: fields)
  }

  struct Kind {
    let name: String
    let entry: FileEntry
    /// The other keys.
    let fields: [String: FileEntry]
  }

  // MARK: Octets

  /// A literal value: a string of hex digits, `{"FORMAT": …}`, or a list of such parts.
  func octets(limit: Int) throws(PeripheralFileError) -> [UInt8] {
    var octets: [UInt8] = []
    for part in isList ? try list() : [self] { octets += try part.part() }
    guard octets.count <= limit else { throw error("\(octets.count) octets: at most \(limit) are allowed") }
    return octets
  }

  private func part() throws(PeripheralFileError) -> [UInt8] {
    guard isObject else { return try hex() }
    let (key, entry) = try single(of: ValueFormat.names)
    return try entry.typed(key)
  }

  func hex() throws(PeripheralFileError) -> [UInt8] {
    let text = try string()
    guard let octets = Hex.decode(text) else {
      throw error("\(DisplayText.quote(text)) is not hex: digits 0-9 a-f, as in \"0100\" or \"01 00\"; text is {\"utf8\": \"…\"}")
    }
    return octets
  }

  /// The value of `{"u16le": 5}`, `{"utf8": "text"}`; several numbers may be given as a list.
  func typed(_ format: String) throws(PeripheralFileError) -> [UInt8] {
    var octets: [UInt8] = []
    for item in isList ? try list() : [self] {
      let text: String
      switch item.tree.kind {
      case .string(let string): text = string
      case .number(let number): text = number
      default: throw item.mismatch("a string or a number")
      }
      do { octets += try ValueFormat(format).parse(text) } catch { throw item.error(error.description) }
    }
    return octets
  }
}
