import Scripts

/// The commands that the lines of sessions and scripts may use.
@LoopActor
package final class SessionCommands {
  package let set: CommandSet
  /// The word `blectl` and a space before the commands that advice names. Empty in a session.
  package var program = "blectl "
  package private(set) lazy var all = set.inSessions
  private lazy var byName: [String: any LoopCommand.Type] = Dictionary(
    all.flatMap { type in ([type.commandName] + type.configuration.aliases).map { ($0, type) } }, uniquingKeysWith: { first, _ in first })
  /// The cached options of each command, by the command's name.
  private var known: [String: CommandOptions] = [:]

  init(_ set: CommandSet) { self.set = set }

  package func type(named name: String) -> (any LoopCommand.Type)? { byName[name] }

  /// Returns the command that a line names after any options. Nil for an unknown command.
  package func type(of words: [String]) -> (any LoopCommand.Type)? { Arguments.leading(words, set).rest.first.flatMap { byName[$0] } }

  /// Adds advice to the error of an unknown attribute that is the name of a command. Returns any other error unchanged.
  package func explained(_ error: any Error) -> any Error {
    guard case GATTError.invalidSelector(let text, .unknownName(let name)) = error, byName[name] != nil else { return error }
    return Failure(text, .unknownName(name), advice: "Separate commands with a semicolon.")
  }

  /// Returns the failure of a line with an unknown command. `help` says where a script's commands are described. Nil for a session.
  package func unknown(_ words: [String], help: String? = nil) -> Failure {
    let name = words.first ?? ""
    let isOwn = set.names.contains(name)
    if isOwn || name == "blectl" && words.count > 1 && byName[words[1]] == nil || FamiliarWords.ofShell.contains(name) {
      let line = DisplayText.clip((isOwn ? "blectl " : "") + words.map { ShellWords.quoteForShell($0) }.joined(separator: " "), to: 120)
      // At a prompt, ! passes a line to the shell. The text of -e is not a prompt.
      let advice = help ?? (program.isEmpty ? "In a session, put ! before it: !\(line)" : "Type it there: \(line)")
      return Failure(.usage, "\(name) is a command of the shell. \(advice)")
    }
    if help == nil, ScriptParser.words.contains(name) || ScriptParser.foreign[name] != nil {
      return Failure(.usage, "\(DisplayText.quote(name)) is not a command of sessions. For scripts, see blectl-script(5).")
    }
    if let advice = FamiliarWords.advice[name] { return Failure(.usage, "Unknown command \(DisplayText.quote(name)). \(advice)") }
    if name == "history" { return Failure(.usage, "history needs a terminal and its own line.") }
    let names = all.map { $0.commandName }
    let familiar = FamiliarWords.commands[name].flatMap { names.contains($0) ? $0 : nil }
    let begun = names.filter { $0.hasPrefix(name) }
    let nearest = familiar ?? (begun.count == 1 ? begun[0] : SpellingSuggestion.nearest(to: name, among: names))
    let meant = nearest.map { "Did you mean \($0)? " } ?? ""
    return Failure(.usage, "Unknown command \(DisplayText.quote(name)). \(meant)\(help ?? "List the commands: help")")
  }

  package func options(of type: any LoopCommand.Type) -> CommandOptions {
    if let options = known[type.commandName] { return options }
    let options = CommandOptions(of: type)
    known[type.commandName] = options
    return options
  }

  /// Moves the command's name to the start of the words, and a negative value to the end.
  package func commandFirst(_ words: [String]) -> [String] { Arguments.commandFirst(words, set) { [byName] in byName[$0] } }
}
