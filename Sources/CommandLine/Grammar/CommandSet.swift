package import ArgumentParser
import EventLoop
package import Terminal
import Text

/// The commands of the program. `Blectl` lists them. All other code receives this value.
package struct CommandSet: Sendable {
  /// The root command, which parses help, version and completion scripts. Its configuration lists `commandLine`.
  let root: any ParsableCommand.Type
  /// The commands of the command line, in the order of the help.
  package let commandLine: [any LoopCommand.Type]
  /// The command whose name is an option: `-e`.
  let option: any LoopCommand.Type
  /// The default command on a terminal.
  let standard: any LoopCommand.Type
  /// The commands that exist only in sessions.
  let sessionOnly: [any LoopCommand.Type]
  /// The factory of the recorder of `--record`. Throws `FileError` for an unwritable file.
  let recorder: @LoopActor @Sendable (_ path: String, Output, SessionCommands) throws -> any CommandRecorder
  /// The function that returns the requested completion script. Nil without such an option.
  let completionScript: @Sendable (_ arguments: [String]) -> String?

  /// Returns a command of the command line.
  package func type(named name: String) -> (any LoopCommand.Type)? {
    name == option.commandName ? option : commandLine.first { $0.configuration.commandName == name }
  }

  var names: [String] { commandLine.map { $0.commandName } }

  /// The commands that exist in sessions.
  var inSessions: [any LoopCommand.Type] { commandLine.filter { $0.traits.runsInSessions } + sessionOnly }

  package func isInSessions(_ name: String) -> Bool {
    inSessions.contains { $0.commandName == name || $0.configuration.aliases.contains(name) }
  }

  // MARK: Parsing

  /// Parses the words of the command line, which start with the command's name.
  package func command(from arguments: [String]) throws -> any ParsableCommand {
    if let command = try namedCommand(from: arguments) { return command }
    if arguments.first == option.commandName { return try option.parseAsRoot(Array(arguments.dropFirst())) }
    if let wrong = unknownCommand(in: arguments) { throw wrong }
    return try root.parseAsRoot(arguments)
  }

  /// Parses the words after a command's name, a third faster than the root command. Nil for help, version, completion and errors, which the
  /// root command handles.
  package func namedCommand(from arguments: [String]) throws -> (any LoopCommand)? {
    guard let name = arguments.first, let named = type(named: name),
      let command = (try? named.command(from: Array(arguments.dropFirst()))) ?? nil
    else { return nil }
    try command.check(arguments, self, isSession: false)
    return command
  }

  // MARK: Mistakes

  package var missingCommand: ValidationError { ValidationError("Name a command: \(names.joined(separator: ", ")).") }

  package init(
    root: any ParsableCommand.Type, commandLine: [any LoopCommand.Type], option: any LoopCommand.Type, standard: any LoopCommand.Type,
    sessionOnly: [any LoopCommand.Type],
    recorder: @escaping @LoopActor @Sendable (_ path: String, Output, SessionCommands) throws -> any CommandRecorder,
    completionScript: @escaping @Sendable (_ arguments: [String]) -> String?
  ) {
    self.root = root
    self.commandLine = commandLine
    self.option = option
    self.standard = standard
    self.sessionOnly = sessionOnly
    self.recorder = recorder
    self.completionScript = completionScript
  }

  /// Returns the error for an unknown command or misplaced option. The parser would blame the first option.
  private func unknownCommand(in arguments: [String]) -> ValidationError? {
    guard let first = arguments.first else { return nil }
    if first == "help" {
      guard let name = arguments.dropFirst().first(where: { !$0.hasPrefix("-") }), name != "help", !names.contains(name) else { return nil }
      return noCommand(name)
    }
    if !first.hasPrefix("-") {
      if names.contains(first) { return nil }
      if arguments.count > 1, names.contains(arguments[1]) {
        let words = [arguments[1], first] + arguments.dropFirst(2)
        return ValidationError("The command comes first: blectl \(words.map { ShellWords.quoteForShell($0) }.joined(separator: " "))")
      }
      return misplacedOption(in: arguments.dropFirst()) ?? noCommand(first)
    }
    if arguments.contains(where: { word in Arguments.ofRoot.contains { word == $0 || word.hasPrefix($0 + "=") } }) { return nil }
    return wrongOption(in: arguments) ?? missingCommand
  }

  private func noCommand(_ name: String) -> ValidationError {
    if let advice = FamiliarWords.advice[name] { return ValidationError("Unknown command \(name). \(advice)") }
    let meant = (FamiliarWords.commands[name] ?? SpellingSuggestion.nearest(to: name, among: names)).map { "Did you mean \($0)?" }
    return ValidationError("Unknown command \(DisplayText.quote(name)). \(meant ?? "The commands are \(names.joined(separator: ", ")).")")
  }

  /// Returns the error for a non-global option before the command. The next word is its value, not a command.
  private func misplacedOption(in words: ArraySlice<String>) -> ValidationError? {
    guard let word = words.first, word.hasPrefix("-"), word.count > 1, wrongOption(in: [word]) != nil,
      !ProcessOptions.namesWithValue.contains(word)
    else { return nil }
    return ValidationError("\(DisplayText.quote(word)) is not a global option. Put it after the command.")
  }

  /// Returns the error in a command line of options only.
  private func wrongOption(in arguments: [String]) -> ValidationError? {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      if ProcessOptions.namesWithValue.contains(word) {
        if rest.popFirst() == nil { return ValidationError("\(word) needs a value, and then a command.") }
        continue
      }
      let name = String(word.prefix { $0 != "=" })
      let known = ProcessOptions.namesWithValue + ProcessOptions.flags + ["--version", "--help"]
      if known.contains(name) || word.dropFirst().allSatisfy({ "qv".contains($0) }) { continue }
      let meant = word == "-V" ? "--version" : SpellingSuggestion.nearest(to: name, among: known)
      return ValidationError("Unknown global option \(DisplayText.quote(name))." + (meant.map { " Did you mean \($0)?" } ?? ""))
    }
    return nil
  }
}
