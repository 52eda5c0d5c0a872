import Bluetooth
import Text

/// The options of gatttool 5.66, parsed like GLib's GOption. An option with a value takes the next word, or a value after `=`.
/// Letters without a value can share a word. The parser ignores other words, and `--` ends the options.
struct GatttoolOptions: Equatable, Sendable {
  /// The options by their long names.
  enum Name: String, CaseIterable, Sendable {
    case primary, characteristics, charRead = "char-read", charWrite = "char-write", charWriteRequest = "char-write-req", charDesc =
      "char-desc"
    case listen, interactive
    case start, end, uuid
    case handle, value
    case adapter, device, addressType = "addr-type", mtu, psm, securityLevel = "sec-level"
  }

  /// The reason why gatttool does nothing.
  enum Stop: Error, Equatable {
    /// The requested help.
    case help(String)
    /// An error message in gatttool's words, which scripts may check.
    case wrong(String)
  }

  private(set) var flags: Set<Name> = []
  private(set) var texts: [Name: String] = [:]
  private(set) var numbers: [Name: Int] = [:]
  private(set) var uuid: UUID?

  /// The first requested procedure, in gatttool's order.
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

  enum Group: String, CaseIterable, Sendable {
    case main, gatt, params, charReadWrite = "char-read-write"
  }

  struct Entry: Sendable {
    let name: Name
    let letter: Character?
    let kind: Kind
    let group: Group
    /// The name of the value in the help.
    let placeholder: String
    let help: String

    init(_ group: Group, _ name: Name, _ letter: Character?, _ kind: Kind, _ placeholder: String, _ help: String) {
      self.name = name
      self.letter = letter
      self.kind = kind
      self.group = group
      self.placeholder = placeholder
      self.help = help
    }

    func matches(_ word: String) -> Bool { word == name.rawValue || word.hasPrefix(name.rawValue + "=") }

    static let all: [Entry] = [
      Entry(.main, .adapter, "i", .text, "hciX", "Specify local adapter interface"),
      Entry(.main, .device, "b", .text, "MAC", "Specify remote Bluetooth address"),
      Entry(.main, .addressType, "t", .text, "[public | random]", "Set LE address type. Default: public"),
      Entry(.main, .mtu, "m", .number, "MTU", "Specify the MTU size"),
      Entry(.main, .psm, "p", .number, "PSM", "Specify the PSM for GATT/ATT over BR/EDR"),
      Entry(.main, .securityLevel, "l", .text, "[low | medium | high]", "Set security level. Default: low"),
      Entry(.gatt, .primary, nil, .flag, "", "Primary Service Discovery"),
      Entry(.gatt, .characteristics, nil, .flag, "", "Characteristics Discovery"),
      Entry(.gatt, .charRead, nil, .flag, "", "Characteristics Value/Descriptor Read"),
      Entry(.gatt, .charWrite, nil, .flag, "", "Characteristics Value Write Without Response (Write Command)"),
      Entry(.gatt, .charWriteRequest, nil, .flag, "", "Characteristics Value Write (Write Request)"),
      Entry(.gatt, .charDesc, nil, .flag, "", "Characteristics Descriptor Discovery"),
      Entry(.gatt, .listen, nil, .flag, "", "Listen for notifications and indications"),
      Entry(.gatt, .interactive, "I", .flag, "", "Use interactive mode"),
      Entry(.params, .start, "s", .number, "0x0001", "Starting handle(optional)"),
      Entry(.params, .end, "e", .number, "0xffff", "Ending handle(optional)"),
      Entry(.params, .uuid, "u", .uuid, "0x1801", "UUID16 or UUID128(optional)"),
      Entry(.charReadWrite, .handle, "a", .number, "0x0001", "Read/Write characteristic by handle(required)"),
      Entry(.charReadWrite, .value, "n", .text, "0x0001", "Write characteristic value (required for write operation)"),
    ]
  }
}
