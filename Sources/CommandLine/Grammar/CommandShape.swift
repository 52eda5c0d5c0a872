import ArgumentParser
package import GATT

/// What may stand behind a command's name, as far as completion has to know.
package struct CommandShape: Sendable, Equatable {
  /// What a word is.
  package enum Word: Sendable, Equatable {
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
    /// A value of the setting that is named before it.
    case setting
    case command
    /// A command of the device's file.
    case deviceCommand
    /// `name=value` of that command.
    case deviceParameter
    case free
  }

  /// What is to be done with an attribute decides which may be named.
  package enum AttributeUse: Sendable, Equatable {
    case any, reading, writing, listening
    /// Large things: without responses, where there is something that takes them so.
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
    /// With their dashes.
    package let names: [String]
    package let hint: String
    /// The kind of its value; nil for an option without a value.
    package let value: Word?
    package let isRepeating: Bool

    package init(names: [String], hint: String, value: Word?, isRepeating: Bool) {
      self.names = names
      self.hint = hint
      self.value = value
      self.isRepeating = isRepeating
    }
  }

  let name: String
  let hint: String
  package let options: [Option]
  /// The arguments without names, in their order.
  package let words: [Word]
  /// The last of them may come several times.
  package let lastRepeats: Bool

  /// Whether devices are meant only by addresses without a type.
  package let takesPlainAddresses: Bool

  package init(
    _ name: String, hint: String, options: [Option] = [], words: [Word] = [], lastRepeats: Bool = false, takesPlainAddresses: Bool = false
  ) {
    self.name = name
    self.hint = hint
    self.options = options
    self.words = words
    self.lastRepeats = lastRepeats
    self.takesPlainAddresses = takesPlainAddresses
  }

  package func option(_ name: String) -> Option? { options.first { $0.names.contains(name) } }
}

extension CommandShape {
  /// The shape of a command, as its declaration and its traits say. Takes a millisecond, see `CommandDescription`.
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
    self.init(
      command.commandName, hint: description.hint, options: Self.options(description), words: words,
      lastRepeats: positional.last?.isRepeating ?? false)
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
