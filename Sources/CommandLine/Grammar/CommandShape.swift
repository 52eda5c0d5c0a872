/// The words that may follow a command's name, for completion.
package struct CommandShape: Sendable, Equatable {
  /// The kind of an argument or option value.
  package enum Word: Sendable, Equatable {
    case peer
    /// A device that the user may name only by address or alias.
    case address
    /// A device to which the session has a connection.
    case link
    case attribute(AttributeUse)
    /// A value. Completion offers only the file of `@FILE`.
    case value
    case file
    /// A file with one of these extensions, or a folder.
    case files([String])
    case adapter
    /// A value of `--verify`, which is one of these choices or `notify:` followed by an attribute.
    case verification([String])
    case choice([String])
    /// The words of the session command `peripheral`, which depend on the words before.
    case peripheral
    /// A value of the setting that the previous word names.
    case setting
    case command
    /// The name of a command in the device file.
    case deviceCommand
    /// A `name=value` parameter of a command in the device file.
    case deviceParameter
    case free
  }

  /// The purpose for which a command takes an attribute. Completion offers only attributes with suitable properties.
  package enum AttributeUse: Sendable, Equatable {
    case any, reading, writing, listening
    /// Large transfers, which need the property Write Without Response.
    case sending

    package func allows(_ properties: Properties) -> Bool {
      switch self {
      case .any: true
      case .reading: properties.contains(.read)
      case .writing: !properties.isDisjoint(with: [.write, .writeWithoutResponse])
      case .listening: !properties.isDisjoint(with: [.notify, .indicate])
      case .sending: properties.contains(.writeWithoutResponse)
      }
    }
  }

  package struct Option: Sendable, Equatable {
    /// The option's names with their hyphens.
    package let names: [String]
    package let hint: String
    /// The kind of the option's value. Nil for a flag.
    package let value: Word?
    package let isRepeating: Bool

    package init(names: [String], hint: String, value: Word?, isRepeating: Bool) {
      (self.names, self.hint, self.value, self.isRepeating) = (names, hint, value, isRepeating)
    }
  }

  package let options: [Option]
  /// The kinds of the positional arguments, from the first to the last.
  package let words: [Word]
  /// Whether the user may give the last positional argument more than once.
  package let lastRepeats: Bool

  /// Whether the command accepts a device only by its address without a type.
  package let takesPlainAddresses: Bool

  package init(options: [Option] = [], words: [Word] = [], lastRepeats: Bool = false, takesPlainAddresses: Bool = false) {
    (self.options, self.words, self.lastRepeats, self.takesPlainAddresses) = (options, words, lastRepeats, takesPlainAddresses)
  }

  package func option(_ name: String) -> Option? { options.first { $0.names.contains(name) } }
}

extension CommandShape {
  /// Derives the shape from a command's declaration and traits. Takes about 1 ms.
  package init(of command: any LoopCommand.Type) {
    if let shape = command.ownShape {
      self = shape
      return
    }
    let description = CommandDescription(of: command)
    let traits = command.traits
    let positional = description.arguments.filter(\.names.isEmpty)
    var words = traits.completedWords ?? positional.filter { $0.values != ["-"] }.map { Self.word($0, traits.attributeUse) }
    if [.chooses, .disconnects].contains(traits.deviceChange) { words[0] = .link }
    self.init(options: Self.options(description), words: words, lastRepeats: positional.last?.isRepeating ?? false)
  }

  package static func options(_ description: CommandDescription) -> [Option] {
    description.options.map {
      Option(names: $0.names, hint: $0.help, value: $0.takesValue ? value($0) : nil, isRepeating: $0.isRepeating)
    }
  }

  private static func word(_ argument: CommandDescription.Argument, _ use: AttributeUse) -> Word {
    switch argument.valueName {
    case "peer": .peer
    case let name where name.hasPrefix("attr"): .attribute(use)
    case "value": .value
    case "command": .command
    case "device-command": .deviceCommand
    case "name=value": .deviceParameter
    default: choice(argument)
    }
  }

  private static func value(_ option: CommandDescription.Argument) -> Word {
    switch option.valueName {
    case "attr[=hex]": .attribute(.listening)
    case "attr=hex": .attribute(.writing)
    case "peer": .peer
    case "address": .address
    case "spec": .adapter
    case "how": .verification(option.values)
    default: choice(option)
    }
  }

  private static func choice(_ argument: CommandDescription.Argument) -> Word {
    if argument.isFile { return argument.endings.isEmpty ? .file : .files(argument.endings) }
    return argument.values.isEmpty ? .free : .choice(argument.values)
  }
}
