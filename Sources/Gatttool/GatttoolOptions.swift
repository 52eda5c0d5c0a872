import BluetoothLE

/// The options of gatttool 5.66, parsed as GLib's GOption does. An option takes its value from the next word or after `=`. Letters without
/// a value can share a word. The parser ignores other words, and `--` ends the options.
struct GatttoolOptions: Equatable, Sendable {
  /// An option of gatttool. The raw value is the long name without hyphens.
  enum Name: String, CaseIterable, Sendable {
    case primary, characteristics, charRead = "char-read", charWrite = "char-write", charWriteRequest = "char-write-req", charDesc =
      "char-desc"
    case listen, interactive
    case start, end, uuid
    case handle, value
    case adapter, device, addressType = "addr-type", mtu, psm, securityLevel = "sec-level"
  }

  /// The reason why gatttool runs no procedure.
  enum Stop: Error, Equatable {
    /// The text of the help that the user requested.
    case help(String)
    /// An error message in the same words as gatttool's.
    case wrong(String)
  }

  private(set) var flags: Set<Name> = []
  private(set) var texts: [Name: String] = [:]
  private(set) var numbers: [Name: Int] = [:]
  private(set) var uuid: UUID?

  /// The procedure to run. If the user requested several, gatttool's own order decides. Nil if the user requested none.
  var procedure: Name? { [.primary, .characteristics, .charRead, .charWrite, .charWriteRequest, .charDesc].first { flags.contains($0) } }
  var addressType: AddressType { texts[.addressType] == "random" ? .random : .public }
  var isOverClassic: Bool { numbers[.psm] ?? 0 != 0 }

  init(_ words: [String]) throws(Stop) {
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" { return }
      if word.hasPrefix("--") {
        try takeLong(String(word.dropFirst(2)), &rest)
      } else if word.hasPrefix("-"), word.utf8.count > 1 {
        try takeLetters(word, &rest)
      }
    }
  }

  private mutating func takeLong(_ word: String, _ rest: inout ArraySlice<String>) throws(Stop) {
    if let help = GatttoolHelp.text(askedBy: word) { throw .help(help) }
    var found = Entry.all.first { $0.matches(word) }
    var text = word
    // An option may have its group as a prefix, as in `--gatt-primary`. The prefix may be shortened.
    if found == nil, let dash = word.firstIndex(of: "-"), word.distance(from: word.startIndex, to: dash) > 2 {
      let (group, name) = (word[..<dash], String(word[word.index(after: dash)...]))
      found = Entry.all.first { $0.group != .main && $0.group.rawValue.hasPrefix(group) && $0.matches(name) }
      text = name
    }
    guard let entry = found else { throw .wrong("Unknown option --\(word)") }
    let given = text.firstIndex(of: "=").map { String(text[text.index(after: $0)...]) }
    if entry.kind == .flag {
      flags.insert(entry.name)
    } else if let given {
      try take(given, entry, as: "--\(entry.name.rawValue)")
    } else {
      try take(try Self.value(of: entry, as: "--\(entry.name.rawValue)", from: &rest), entry, as: "--\(entry.name.rawValue)")
    }
  }

  private mutating func takeLetters(_ word: String, _ rest: inout ArraySlice<String>) throws(Stop) {
    var hasValue = false
    for letter in word.dropFirst() {
      if letter == "h" || letter == "?" { throw .help(GatttoolHelp.text) }
      guard let entry = Entry.all.first(where: { $0.letter == letter }) else { throw .wrong("Unknown option \(word)") }
      if entry.kind == .flag {
        flags.insert(entry.name)
        continue
      }
      // A word of letters can have only one value.
      if hasValue { throw .wrong("Error parsing option -\(letter)") }
      hasValue = true
      try take(try Self.value(of: entry, as: "-\(letter)", from: &rest), entry, as: "-\(letter)")
    }
  }

  private static func value(of entry: Entry, as option: String, from rest: inout ArraySlice<String>) throws(Stop) -> String? {
    if entry.kind == .uuid { return rest.first?.hasPrefix("-") ?? true ? nil : rest.popFirst() }
    guard let value = rest.popFirst() else { throw .wrong("Missing argument for \(option)") }
    return value
  }

  private mutating func take(_ value: String?, _ entry: Entry, as option: String) throws(Stop) {
    let value = value ?? ""
    switch entry.kind {
    case .flag: break
    case .text: texts[entry.name] = value
    case .number:
      let number = CNumber(value, base: nil)
      // In any locale, gatttool prints these quotation marks as question marks.
      guard number.isWhole else { throw .wrong("Cannot parse integer value ?\(value)? for \(option)") }
      guard let read = number.value, Int32(exactly: read) != nil else {
        throw .wrong("Integer value ?\(value)? for \(option) out of range")
      }
      numbers[entry.name] = read
    case .uuid:
      guard let uuid = GatttoolValue.uuid(value) else { throw .wrong("Error parsing option \(option)") }
      self.uuid = uuid
    }
  }
}

extension GatttoolOptions {
  enum Kind: Sendable { case flag, text, number, uuid }

  enum Group: String, CaseIterable, Sendable { case main, gatt, params, charReadWrite = "char-read-write" }

  struct Entry: Sendable {
    let name: Name
    let letter: Character?
    let kind: Kind
    let group: Group
    /// The placeholder of the option's value in the help, such as `MAC`. Empty for a flag.
    let placeholder: String
    let help: String

    init(_ group: Group, _ name: Name, _ letter: Character?, _ kind: Kind, _ placeholder: String, _ help: String) {
      (self.name, self.letter, self.kind, self.group, self.placeholder, self.help) = (name, letter, kind, group, placeholder, help)
    }

    func matches(_ word: String) -> Bool { word == name.rawValue || word.hasPrefix(name.rawValue + "=") }
  }
}

/// The help texts of gatttool, in exactly the same words.
enum GatttoolHelp {
  private static let usage = "Usage:\n  gatttool [OPTION?]\n"

  /// The help that `-h` prints.
  static var text: String { page([help, application]) }

  /// Returns the help that an option requests. Nil for any other option.
  /// - Parameter word: The name of the option without its hyphens.
  static func text(askedBy word: String) -> String? {
    switch word {
    case "help": text
    case "help-all": page([help, section(.gatt), section(.params), section(.charReadWrite), application])
    case "help-gatt": page([section(.gatt, with: "interactive")])
    case "help-params": page([section(.params)])
    case "help-char-read-write": page([section(.charReadWrite)])
    default: nil
    }
  }

  private static func page(_ sections: [String]) -> String { ([usage] + sections).map { $0 + "\n" }.joined() }

  private static func title(_ group: GatttoolOptions.Group) -> String {
    switch group {
    case .main: "Application Options:"
    case .gatt: "GATT commands"
    case .params: "Primary Services/Characteristics arguments"
    case .charReadWrite: "Characteristics Value/Descriptor Read/Write arguments"
    }
  }

  private static var help: String {
    var lines = ["Help Options:", line("-h, --help", "Show help options"), line("--help-all", "Show all help options")]
    for group in GatttoolOptions.Group.allCases where group != .main {
      lines.append(line("--help-\(group.rawValue)", "Show all \(title(group))"))
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private static var application: String {
    section(.main) + GatttoolOptions.Entry.all.filter { $0.name == .interactive }.map(line).joined()
  }

  /// Returns the help for a group of options, with its title.
  /// - Parameter extra: The name of an application option to include in the group. Nil for none.
  private static func section(_ group: GatttoolOptions.Group, with extra: String? = nil) -> String {
    let entries = GatttoolOptions.Entry.all.filter { $0.group == group && ($0.name != .interactive || extra == $0.name.rawValue) }
    return title(group) + "\n" + entries.map(line).joined()
  }

  private static func line(_ entry: GatttoolOptions.Entry) -> String {
    let letter = entry.letter.map { "-\($0), " } ?? ""
    return line("\(letter)--\(entry.name.rawValue)" + (entry.placeholder.isEmpty ? "" : "=\(entry.placeholder)"), entry.help) + "\n"
  }

  private static func line(_ option: String, _ text: String) -> String {
    "  " + option + String(repeating: " ", count: max(1, 42 - option.count)) + text
  }
}

/// The parser of gatttool's values. Like gatttool, it accepts almost any text.
enum GatttoolValue {
  /// Parses two hex digits per byte. Ignores the part of a pair after an invalid digit, and a last digit without a pair.
  static func bytes(_ text: String) -> [UInt8] {
    let all = Array(text.utf8)
    return stride(from: 0, to: all.count - 1, by: 2).map { index in
      UInt8(truncatingIfNeeded: CNumber(String(decoding: all[index...index + 1], as: UTF8.self), base: 16).value ?? 0)
    }
  }

  /// Parses a UUID of 4 or 8 hex digits, with or without `0x`, or of 36 characters. Nil for an invalid UUID.
  static func uuid(_ text: String) -> UUID? {
    switch text.utf8.count {
    case 4, 6: number(text).map { UUID(UInt32($0 & 0xFFFF)) }
    case 8, 10: number(text).map { UUID(UInt32($0 & 0xFFFF_FFFF)) }
    case 36: UUID(text)
    default: nil
    }
  }

  private static func number(_ text: String) -> Int? {
    let number = CNumber(text, base: 16)
    return number.isWhole ? number.value : nil
  }

  /// Parses a hex handle, with or without `0x`. Empty text is 0. Nil if invalid or negative. The caller uses the lower 16 bits.
  static func handle(_ text: String) -> Int? {
    if text.isEmpty { return 0 }
    let number = CNumber(text, base: 16)
    guard number.isWhole, let value = number.value else { return nil }
    let handle = Int(Int32(truncatingIfNeeded: value))
    return handle < 0 ? nil : handle
  }
}
