import ArgumentParser
import LinuxIO
import Text

/// What is done to the words of the command line before the parser sees them.
enum Arguments {
  /// Moves global options that stand before the command's name behind it, where the command's own parser takes them:
  /// `-i sim --json scan --count 1` → `scan -i sim --json --count 1`; and a value that begins with a minus sign to where it is no option.
  static func commandFirst(_ arguments: [String]) -> [String] {
    let (leading, rest) = leading(arguments)
    let answered = ["--version", "--help", "-h", "--generate-completion-script"]
    guard let command = rest.first, !leading.contains(where: answered.contains) else { return arguments }
    let words = leading + rest.dropFirst()
    return [command] + (command == Write.configuration.commandName ? valueLast(words) : words)
  }

  /// The options that stand before the command's name, with their values, and the rest.
  static func leading(_ arguments: [String]) -> (options: [String], rest: ArraySlice<String>) {
    var leading: [String] = []
    var rest = arguments[...]
    while let word = rest.first, word.hasPrefix("-"), word != "-", word != "--", word != Execute.word {
      rest = rest.dropFirst()
      leading.append(word)
      if namesWithValue.contains(word), let value = rest.first {
        leading.append(value)
        rest = rest.dropFirst()
      }
    }
    return (leading, rest)
  }

  /// Without a command it is a session, where somebody sits at a terminal.
  static func orSession(_ arguments: [String]) -> [String] {
    guard StandardInput.isTerminal, StandardInput.outputIsTerminal, withoutCommand(arguments) else { return arguments }
    return [Repl.configuration.commandName ?? ""] + arguments
  }

  /// Nothing but options that every command has.
  private static func withoutCommand(_ arguments: [String]) -> Bool {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      if namesWithValue.contains(word) {
        rest = rest.dropFirst()
      } else if !ProcessOptions.flags.contains(word), !namesWithValue.contains(where: { word.hasPrefix($0 + "=") }),
        word.first != "-" || !word.dropFirst().allSatisfy({ "qv".contains($0) })
      {
        return false
      }
    }
    return true
  }

  static var namesWithValue: [String] { ProcessOptions.namesWithValue }

  /// `write PEER ATTR -5 --as i8` → `write PEER ATTR --as i8 -- -5`: VALUE is the last argument, and no option begins with a digit.
  static func valueLast(_ words: [String]) -> [String] {
    guard !words.contains("--"), let index = words.indices.last(where: { isNegative(words[$0]) && !isValue($0, in: words) }) else {
      return words
    }
    return words[..<index] + words[(index + 1)...] + ["--", words[index]]
  }

  /// `-5`, `-0x10`, `-1,-2`, `-.5`, `-inf`.
  private static func isNegative(_ word: String) -> Bool {
    guard word.utf8.first == UInt8(ascii: "-"), let next = word.utf8.dropFirst().first else { return false }
    return (0x30...0x39).contains(next) || next == UInt8(ascii: ".") || word == "-inf"
  }

  /// Whether the option before it takes the word as its value.
  private static func isValue(_ index: Int, in words: [String]) -> Bool {
    guard index > 0 else { return false }
    let before = words[index - 1]
    guard before.hasPrefix("-"), before != "-", !isNegative(before), !before.contains("=") else { return false }
    return !(before.hasPrefix("--") ? Write.flags.contains(before) : !namesWithValue.contains(before))
  }

  // MARK: What cannot be meant

  /// - Throws: ValidationError for an argument that is not UTF-8: another text would be taken for it, and sent.
  static func refuseOctets() throws {
    guard let index = ThisProcess.argumentThatIsNoText() else { return }
    throw ValidationError(
      "Argument \(index), \(DisplayText.quote(CommandLine.arguments[index])), is not UTF-8. Give bytes in hex, or as @FILE.")
  }

  /// - Throws: ValidationError for an option that takes one value and was given two, of which the parser would take the last. The parser's
  ///   description of the command is asked only when a name occurs twice.
  static func refuseRepeated(_ arguments: [String], of type: (any ParsableCommand.Type)? = nil) throws {
    if arguments.first == Execute.word, arguments.dropFirst().prefix(while: { $0 != "--" }).contains(Execute.word) {
      throw ValidationError("-e is given twice. Put ; between the commands, as in -e 'read 2a19; read 2a00'.")
    }
    // No set: its first use costs more than looking through so few.
    var seen: [String] = []
    var twice: [String] = []
    for word in arguments.prefix(while: { $0 != "--" }) where word.utf8.first == UInt8(ascii: "-") && word.utf8.count > 1 {
      let name = long(word.hasPrefix("--") ? String(word.prefix { $0 != "=" }) : String(word.prefix(2)))
      if seen.contains(name) { twice.append(name) } else { seen.append(name) }
    }
    guard !twice.isEmpty, let command = type ?? Blectl.command(named: arguments.first ?? "") else { return }
    let repeated = twice.first { name in
      options(of: command).contains { $0.name == name && $0.takesOneValue }
    }
    if let repeated { throw ValidationError("\(repeated) is given twice. It takes one value.") }
  }

  /// The long name of an option that has a short one and takes a value; any other as it is.
  private static func long(_ name: String) -> String {
    switch name {
    case "-i": "--adapter"
    case "-t": "--timeout"
    case "-n": "--count"
    case "-d": "--duration"
    default: name
    }
  }

  static func options(of command: any ParsableCommand.Type) -> [(name: String, takesOneValue: Bool)] {
    CommandDescription(of: command).options.compactMap { option in
      option.names.first { $0.hasPrefix("--") }.map { ($0, option.takesValue && !option.isRepeating) }
    }
  }
}
