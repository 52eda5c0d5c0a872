import ArgumentParser
import GATT

/// What may stand behind a command's name, as far as completion has to know.
struct CommandShape: Sendable, Equatable {
  /// What a word is.
  enum Word: Sendable, Equatable {
    case peer
    /// A device, by nothing but its address or an alias.
    case address
    /// A device of the session.
    case link
    case attribute(AttributeUse)
    /// `@FILE`, or something that nobody can guess.
    case value
    case file
    /// Files whose names end so, and folders.
    case files([String])
    case adapter
    /// `read-back` and such, or `notify:` with an attribute behind it.
    case verification([String])
    case choice([String])
    /// Of the setting that is named before it.
    case setting
    case command
    /// Of the device's file.
    case deviceCommand
    /// `name=value` of that command.
    case deviceParameter
    case free
  }

  /// What is to be done with an attribute decides which may be named.
  enum AttributeUse: Sendable, Equatable {
    case any, reading, writing, listening
    /// Large things: without responses, where there is something that takes them so.
    case sending

    func allows(_ properties: Properties) -> Bool {
      switch self {
      case .any: true
      case .reading: properties.contains(.read)
      case .writing: !properties.isDisjoint(with: [.write, .writeWithoutResponse])
      case .listening: !properties.isDisjoint(with: [.notify, .indicate])
      case .sending: properties.contains(.writeWithoutResponse)
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
  /// For whoever keeps it, see `CommandDescription`. Nil for a name that is none.
  init?(named name: String) {
    guard let command = ShellCommands.type(named: name) else { return nil }
    self.init(name, CommandDescription(of: command))
  }

  init(_ name: String, _ description: CommandDescription) {
    let use = Self.use(name)
    let options = description.options.map {
      Option(names: $0.names, hint: $0.help, value: $0.takesValue ? Self.value($0) : nil, isRepeating: $0.isRepeating)
    }
    let positional = description.arguments.filter(\.names.isEmpty)
    let words: [Word] =
      switch name {
      // What else it takes is for the command line.
      case "connect": [.peer]
      case "run": [.files(["blectl"])]
      case "sim": [.files(["json", "jsonc"])]
      case "-e": [.free, .peer]
      case "help": [.command]
      case "use", "disconnect": [.link]
      case "set": [.choice(ShellSettings.names), .setting]
      default: positional.map { Self.word($0, use) }
      }
    self.init(name, hint: description.hint, options: options, words: words, lastRepeats: positional.last?.isRepeating ?? false)
  }

  private static func use(_ command: String) -> AttributeUse {
    switch command {
    case "read": .reading
    case "write": .writing
    case "send-file", "tune": .sending
    case "notify", "subscribe", "unsubscribe", "wait": .listening
    default: .any
    }
  }

  private static func word(_ argument: CommandDescription.Argument, _ use: AttributeUse) -> Word {
    switch argument.valueName {
    case "peer": .peer
    case let name where name.hasPrefix("attr"): .attribute(use)
    case "value": .value
    case "file", "path": .file
    case "command", "commands": .command
    case "device-command": .deviceCommand
    case "name=value": .deviceParameter
    default: choice(argument)
    }
  }

  private static func value(_ option: CommandDescription.Argument) -> Word {
    if !Set(["--expect", "--fail-on", "--ack"]).isDisjoint(with: option.names) { return .attribute(.listening) }
    if option.names.contains("--write") { return .attribute(.writing) }
    if option.names.contains("--device") { return .files(["json", "jsonc"]) }
    return switch option.valueName {
    case "peer": .peer
    case "address": .address
    case "spec": .adapter
    case "how": .verification(option.values)
    default: choice(option)
    }
  }

  private static func choice(_ argument: CommandDescription.Argument) -> Word {
    argument.isFile ? .file : argument.values.isEmpty ? .free : .choice(argument.values)
  }
}
