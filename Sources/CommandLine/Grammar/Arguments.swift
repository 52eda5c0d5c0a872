import BluetoothLELinux

/// Functions that rearrange and check the words of a command line before the parser reads them.
package enum Arguments {
  /// Moves global options after the command's name, and a negative value to the end. For example, `-i sim --json scan --count 1` becomes
  /// `scan -i sim --json --count 1`.
  /// - Parameter type: Returns the command with a name, or nil. Without the parameter, these are the commands of the command line.
  package static func commandFirst(
    _ arguments: [String], _ commands: CommandSet, type: ((String) -> (any LoopCommand.Type)?)? = nil
  ) -> [String] {
    let (leading, rest) = leading(arguments, commands)
    guard let command = rest.first, !leading.contains(where: ofRoot.contains) else { return arguments }
    return [command] + valueLast(leading + rest.dropFirst()) { (type ?? commands.type)(command) }
  }

  /// Replaces `--help` by `-h`, the only name that the parser of a command knows.
  static func shortenHelp(_ words: inout [String]) {
    if let index = words.prefix(while: { $0 != "--" }).firstIndex(of: "--help") { words[index] = "-h" }
  }

  /// The options that the root command parses for every command.
  static let ofRoot = ["--version", "--help", "-h", "--generate-completion-script", "--experimental-dump-help"]

  /// Returns the options and option values before the command's name, and the remaining words.
  package static func leading(_ arguments: [String], _ commands: CommandSet) -> (options: [String], rest: ArraySlice<String>) {
    var leading: [String] = []
    var rest = arguments[...]
    while let word = rest.first, word.hasPrefix("-"), word != "-", word != "--", word != commands.option.commandName {
      rest = rest.dropFirst()
      leading.append(word)
      if ProcessOptions.namesWithValue.contains(word), let value = rest.first {
        leading.append(value)
        rest = rest.dropFirst()
      }
    }
    return (leading, rest)
  }

  /// Moves a negative value to the end. For example, `PEER ATTR -5 --as i8` becomes `PEER ATTR --as i8 -- -5`. Calls `type` only if a word
  /// looks like a negative value.
  private static func valueLast(_ words: [String], of type: () -> (any LoopCommand.Type)?) -> [String] {
    guard words.contains(where: isNegative), !words.contains("--"), let type = type(), type.traits.takesValue else { return words }
    let options = CommandOptions(of: type)
    let value = words.indices.last { isNegative(words[$0]) && !($0 > 0 && options.takesValue(words[$0 - 1])) }
    guard let value else { return words }
    return words[..<value] + words[(value + 1)...] + ["--", words[value]]
  }

  /// Returns whether a word looks like a negative value, such as `-5`, `-0x10`, `-1,-2`, `-.5` or `-inf`.
  private static func isNegative(_ word: String) -> Bool {
    guard word.utf8.first == UInt8(ascii: "-"), let next = word.utf8.dropFirst().first else { return false }
    return (0x30...0x39).contains(next) || next == UInt8(ascii: ".") || word == "-inf"
  }

  // MARK: Mistakes

  /// Checks that all arguments of the program are UTF-8.
  /// - Throws: `ValidationError` that names the first argument that is not UTF-8.
  package static func refuseBytes() throws {
    guard let index = ThisProcess.argumentThatIsNoText() else { return }
    throw ValidationError(
      "Argument \(index), \(DisplayText.quote(CommandLine.arguments[index])), is not UTF-8. Give bytes in hex, or as @FILE.")
  }

  /// Refuses a repeated option that takes only one value, and an unquoted template. Describes the command only if an option occurs twice.
  /// - Throws: `ValidationError` that names the option.
  static func refuseRepeated(_ arguments: [String], of command: any LoopCommand.Type) throws {
    if let index = arguments.firstIndex(of: "--format"), case let words = arguments[(index + 1)...],
      case let template = words.prefix(1) + words.dropFirst().prefix(while: { $0.hasPrefix("{") && $0.hasSuffix("}") }), template.count > 1
    {
      throw ValidationError("Quote the template: --format \(ShellWords.quoteForShell(template.joined(separator: " ")))")
    }
    // An array, because the first use of a set costs more than searching a few words.
    var seen: [String] = []
    var twice: [String] = []
    for word in arguments.prefix(while: { $0 != "--" }) where word.utf8.first == UInt8(ascii: "-") && word.utf8.count > 1 {
      let name = long(word.hasPrefix("--") ? String(word.prefix { $0 != "=" }) : String(word.prefix(2)))
      if seen.contains(name) { twice.append(name) } else { seen.append(name) }
    }
    guard !twice.isEmpty else { return }
    let options = CommandDescription(of: command).options.filter { $0.takesValue && !$0.isRepeating }
    if let repeated = twice.first(where: { name in options.contains { $0.longName == name } }) {
      throw ValidationError("\(repeated) is given twice. It takes one value.")
    }
  }

  /// Returns the long name of a global option with a value, or of `-n` or `-d`. Returns other names unchanged.
  private static func long(_ name: String) -> String {
    switch name {
    case "-i": "--adapter"
    case "-t": "--timeout"
    case "-n": "--count"
    case "-d": "--duration"
    default: name
    }
  }
}
