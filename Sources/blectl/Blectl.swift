import ArgumentParser
import Bluetooth
import Text

/// The command line: `blectl [options] COMMAND [options] …`. The commands parse the global options (see `Arguments`). The root declares none,
/// because each costs start-up time.
struct Blectl: ParsableCommand {
  static let version = "0.1.0"

  static let configuration = CommandConfiguration(
    commandName: "blectl",
    abstract: "Scan, read, write and test Bluetooth LE devices, and send files.",
    version: version,
    // `map` converts the elements. Converting the array would look up each conformance.
    subcommands: commands.map { $0 })

  static let commands: [any LoopCommand.Type] = [
    Adapters.self, Scan.self, Connect.self, Services.self, Read.self, Write.self, Notify.self, Call.self, MacFromAdv.self, SendFile.self,
    Tune.self,
    Repl.self, Peers.self, Run.self, Sim.self, Browse.self, Decode.self, Gatttool.self, Doctor.self,
  ]

  /// Parses the words after a command's name, in two thirds of the time that the root needs. Nil for help, version, completion and errors,
  /// which the root handles.
  static func namedCommand(from arguments: [String]) -> (any LoopCommand)? {
    guard let name = arguments.first, let named = command(named: name) else { return nil }
    return (try? named.command(from: Array(arguments.dropFirst()))) ?? nil
  }

  /// Parses the command line.
  static func command(from arguments: [String]) throws -> any ParsableCommand {
    if let command = namedCommand(from: arguments) { return command }
    if arguments.first == Execute.word { return try Execute.parseAsRoot(Array(arguments.dropFirst())) }
    if let wrong = unknownCommand(in: arguments) { throw wrong }
    return try parseAsRoot(arguments)
  }

  static func command(named name: String) -> (any LoopCommand.Type)? {
    name == Execute.word ? Execute.self : commands.first { $0.configuration.commandName == name }
  }

  static var commandNames: [String] { configuration.subcommands.compactMap { $0.configuration.commandName } }

  /// The error for an unknown command or misplaced option. The parser would blame the first option, because the root declares none.
  private static func unknownCommand(in arguments: [String]) -> ValidationError? {
    guard let first = arguments.first else { return nil }
    if first == "help" {
      guard let name = arguments.dropFirst().first(where: { !$0.hasPrefix("-") }), name != "help", !commandNames.contains(name) else {
        return nil
      }
      return noCommand(name)
    }
    if !first.hasPrefix("-") {
      if commandNames.contains(first) { return nil }
      if arguments.count > 1, commandNames.contains(arguments[1]) {
        let words = [arguments[1], first] + arguments.dropFirst(2)
        return ValidationError("The command comes first: blectl \(words.map { ShellWords.quoteForShell($0) }.joined(separator: " "))")
      }
      return misplacedOption(in: arguments.dropFirst()) ?? noCommand(first)
    }
    let standing = ["--version", "-h", "--help", "--experimental-dump-help", "--generate-completion-script"]
    if arguments.contains(where: { word in standing.contains { word == $0 || word.hasPrefix($0 + "=") } }) { return nil }
    return wrongOption(in: arguments) ?? missingCommand
  }

  static var missingCommand: ValidationError { ValidationError("Name a command: \(commandNames.joined(separator: ", ")).") }

  private static func noCommand(_ name: String) -> ValidationError {
    if let advice = FamiliarWords.advice[name] { return ValidationError("Unknown command \(name). \(advice)") }
    let meant = (FamiliarWords.commands[name] ?? Likeness.nearest(to: name, among: commandNames)).map { "Did you mean \($0)?" }
    return ValidationError(
      "Unknown command \(DisplayText.quote(name)). \(meant ?? "The commands are \(commandNames.joined(separator: ", ")).")")
  }

  /// The error for an option before the command that is not global. The word after it is its value, not a command.
  private static func misplacedOption(in words: ArraySlice<String>) -> ValidationError? {
    guard let word = words.first, word.hasPrefix("-"), word.count > 1, wrongOption(in: [word]) != nil,
      !Arguments.namesWithValue.contains(word)
    else { return nil }
    return ValidationError("\(DisplayText.quote(word)) is not a global option. Put it after the command.")
  }

  /// The error in a command line that consists of options only.
  private static func wrongOption(in arguments: [String]) -> ValidationError? {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      if Arguments.namesWithValue.contains(word) {
        if rest.popFirst() == nil { return ValidationError("\(word) needs a value, and then a command.") }
        continue
      }
      let name = String(word.prefix { $0 != "=" })
      let known = Arguments.namesWithValue + ProcessOptions.flags + ["--version", "--help"]
      if known.contains(name) || word.dropFirst().allSatisfy({ "qv".contains($0) }) { continue }
      let meant = word == "-V" ? "--version" : Likeness.nearest(to: name, among: known)
      return ValidationError(
        "Unknown global option \(DisplayText.quote(name))." + (meant.map { " Did you mean \($0)?" } ?? ""))
    }
    return nil
  }
}
