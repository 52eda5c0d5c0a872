import ArgumentParser
import GATT
import Text

/// What may stand behind a command's name, as far as completion has to know.
struct CommandShape: Sendable, Equatable {
  /// What a word is.
  enum Word: Sendable, Equatable {
    case peer
    case attribute(AttributeUse)
    /// `@FILE`, or something that nobody can guess.
    case value
    case file
    case choice([String])
    case command
    case free
  }

  /// What is to be done with an attribute decides which may be named.
  enum AttributeUse: Sendable, Equatable {
    case any, reading, writing, listening

    func allows(_ properties: Properties) -> Bool {
      switch self {
      case .any: true
      case .reading: properties.contains(.read)
      case .writing: !properties.isDisjoint(with: [.write, .writeWithoutResponse])
      case .listening: !properties.isDisjoint(with: [.notify, .indicate])
      }
    }
  }

  struct Option: Sendable, Equatable {
    /// With their dashes.
    let names: [String]
    let hint: String
    /// Nil: it takes none.
    let value: Word?
    let isRepeating: Bool
  }

  let name: String
  let hint: String
  let options: [Option]
  /// The arguments without names, in their order.
  let words: [Word]
  /// The last of them may come several times.
  let lastRepeats: Bool

  init(_ name: String, hint: String, options: [Option] = [], words: [Word] = [], lastRepeats: Bool = false) {
    self.name = name
    self.hint = hint
    self.options = options
    self.words = words
    self.lastRepeats = lastRepeats
  }

  func option(_ name: String) -> Option? { options.first { $0.names.contains(name) } }
}

extension CommandShape {
  /// Asking the parser takes a millisecond: for whoever keeps it. Nil for a name that is none.
  init?(named name: String) {
    guard let command = ShellCommands.type(named: name), let dump = try? JSONTree.parse(Array(command._dumpHelp().utf8))["command"] else {
      return nil
    }
    self.init(name, dump: dump)
  }

  /// - Parameter dump: what the argument parser says of one command.
  init(_ name: String, dump: JSONTree) {
    let use = Self.use(name)
    var options: [Option] = []
    var words: [Word] = []
    var repeats = false
    if case .array(let items)? = dump["arguments"]?.kind {
      for item in items {
        let isRepeating = if case .bool(true)? = item["isRepeating"]?.kind { true } else { false }
        if item["kind"]?.string == "positional" {
          words.append(Self.word(item, use))
          repeats = isRepeating
        } else if let names = Self.names(item) {
          let takesValue = item["kind"]?.string == "option"
          options.append(
            Option(names: names, hint: Self.sentence(item), value: takesValue ? Self.value(item, names) : nil, isRepeating: isRepeating))
        }
      }
    }
    switch name {
    // What else it takes is for the command line.
    case "connect": words = [.peer]
    case "help": words = [.command]
    case "set": words = [words.first ?? .free, .choice(["on", "off", "default"] + ValueFormat.names)]
    default: break
    }
    self.init(name, hint: Self.sentence(dump), options: options, words: words, lastRepeats: repeats)
  }

  private static func use(_ command: String) -> AttributeUse {
    switch command {
    case "read": .reading
    case "write", "send-file", "tune": .writing
    case "notify", "subscribe", "unsubscribe", "wait": .listening
    default: .any
    }
  }

  private static func names(_ item: JSONTree) -> [String]? {
    guard case .array(let names)? = item["names"]?.kind else { return nil }
    return names.compactMap { name in name["name"]?.string.map { (name["kind"]?.string == "short" ? "-" : "--") + $0 } }
  }

  private static func word(_ item: JSONTree, _ use: AttributeUse) -> Word {
    switch item["valueName"]?.string?.lowercased() ?? "" {
    case "peer": .peer
    case let name where name.hasPrefix("attr"): .attribute(use)
    case "value": .value
    case "file", "path": .file
    case "command", "commands": .command
    default: choices(item) ?? .free
    }
  }

  private static func value(_ item: JSONTree, _ names: [String]) -> Word {
    if names.contains("--expect") || names.contains("--fail-on") || names.contains("--ack") { return .attribute(.listening) }
    if names.contains("--write") { return .attribute(.writing) }
    if item["completionKind"]?["file"] != nil { return .file }
    return choices(item) ?? .free
  }

  private static func choices(_ item: JSONTree) -> Word? {
    if item["completionKind"]?["file"] != nil { return .file }
    guard case .array(let values)? = (item["completionKind"]?["list"]?["values"] ?? item["allValues"])?.kind else { return nil }
    let texts = values.compactMap(\.string)
    return texts.isEmpty ? nil : .choice(texts)
  }

  /// The first one of what the help says.
  private static func sentence(_ item: JSONTree) -> String {
    let text = item["abstract"]?.string ?? ""
    return String(text.prefix { $0 != "." && $0 != "\n" })
  }
}
