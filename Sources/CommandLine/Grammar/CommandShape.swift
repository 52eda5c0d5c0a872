import ArgumentParser
package import GATT

/// The words that may follow a command's name, for completion.
package struct CommandShape: Sendable, Equatable {
  /// The kind of an argument or option value.
  package enum Word: Sendable, Equatable {
    case peer
    /// A device, by address or alias only.
    case address
    /// A device of the session.
    case link
    case attribute(AttributeUse)
    /// A value without completion, or `@FILE`.
    case value
    case file
    /// Files with these extensions, and folders.
    case files([String])
    case adapter
    /// A choice such as `read-back`, or `notify:` followed by an attribute.
    case verification([String])
    case choice([String])
    /// A value of the preceding setting.
    case setting
    case command
    /// A command in the device file.
    case deviceCommand
    /// A `name=value` parameter of a command in the device file.
    case deviceParameter
    case free
  }

  /// The use of an attribute, which decides which attributes match.
  package enum AttributeUse: Sendable, Equatable {
    case any, reading, writing, listening
    /// Large transfers, which need Write Without Response.
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
    /// The kind of the option's value. Nil for an option without a value.
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
  /// The positional arguments in their order.
  package let words: [Word]
  /// Whether the last positional argument repeats.
  package let lastRepeats: Bool

  /// Whether the user names devices only by addresses without a type.
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
  /// Creates the shape from a command's declaration and traits. Takes a millisecond, see `CommandDescription`.
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
