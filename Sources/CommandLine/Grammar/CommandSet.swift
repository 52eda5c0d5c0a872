import BluetoothLELinux

/// The list of blectl's commands, which parses command lines.
package struct CommandSet: Sendable {
  /// The root command, which parses `--help`, `--version` and the options for completion scripts.
  let root: any ParsableCommand.Type
  /// The commands of the command line, in the order of the help.
  package let commandLine: [any LoopCommand.Type]
  /// The command `-e`, whose name is an option.
  let option: any LoopCommand.Type
  /// The command that runs on a terminal if the user names none.
  let standard: any LoopCommand.Type
  /// The commands that exist only in sessions.
  let sessionOnly: [any LoopCommand.Type]
  /// A function that creates the recorder of `--record`. Throws `FileError` for an unwritable file.
  let recorder: @LoopActor @Sendable (_ path: String, Output, SessionCommands) throws -> any CommandRecorder
  /// A function that returns the requested completion script. Returns nil if the arguments request none.
  let completionScript: @Sendable (_ arguments: [String]) -> String?

  /// Returns the command of the command line with this name. Nil for an unknown name.
  package func type(named name: String) -> (any LoopCommand.Type)? {
    name == option.commandName ? option : commandLine.first { $0.configuration.commandName == name }
  }

  package var version: String { root.configuration.version }

  var names: [String] { commandLine.map { $0.commandName } }

  /// The commands that a session accepts.
  var inSessions: [any LoopCommand.Type] { commandLine.filter { $0.traits.runsInSessions } + sessionOnly }
  /// The names of all commands, and whether a session has them.
  package var atPrompt: [String: Bool] {
    let inSessions = Set(inSessions.map { $0.commandName })
    return Dictionary((commandLine + sessionOnly).map { ($0.commandName, inSessions.contains($0.commandName)) }) { $0 || $1 }
  }

  package func isInSessions(_ name: String) -> Bool {
    inSessions.contains { $0.commandName == name || $0.configuration.aliases.contains(name) }
  }

  // MARK: Parsing

  /// Returns the words in the parser's order: the command's name, which is `repl` for only global options on a terminal, then the others.
  package func arranged(_ typed: [String]) -> [String] {
    let isBare = StandardInput.isTerminal && StandardInput.outputIsTerminal && !Self.asksRoot(typed) && wrongOption(in: typed) == nil
    return Arguments.commandFirst(isBare ? [standard.commandName] + typed : typed, self)
  }

  private static func asksRoot(_ words: [String], beyondHelp: Bool = false) -> Bool {
    words.prefix { $0 != "--" }.contains { word in
      Arguments.ofRoot.contains { (word == $0 || word.hasPrefix($0 + "=")) && !(beyondHelp && ["--help", "-h"].contains(word)) }
    }
  }

  /// Parses the words of the command line in the order of `arranged`.
  /// - Throws: The error of the parser or of a check, also for help and the version.
  package func command(from arguments: [String]) throws -> any LoopCommand {
    let isOption = arguments.first == option.commandName
    if isOption, arguments.dropFirst().prefix(while: { $0 != "--" }).contains(option.commandName) {
      throw ValidationError("-e is given twice. Put ; between the commands, as in -e 'read 2a19; read 2a00'.")
    }
    var words = Array(arguments.dropFirst())
    if let type = arguments.first.flatMap({ type(named: $0) }), isOption || !Self.asksRoot(words, beyondHelp: true),
      let command = try type.command(from: words)
    {
      try command.check(arguments, self, isSession: false)
      return command
    }
    if let wrong = unknownCommand(in: arguments) { throw wrong }
    Arguments.shortenHelp(&words)
    var other = try root.parseAsRoot(arguments.prefix(1) + words)
    try other.run()
    throw missingCommand
  }

  // MARK: Mistakes

  package var missingCommand: ValidationError { ValidationError("Name a command: \(names.joined(separator: ", ")).") }

  package init(
    root: any ParsableCommand.Type, commandLine: [any LoopCommand.Type], option: any LoopCommand.Type, standard: any LoopCommand.Type,
    sessionOnly: [any LoopCommand.Type],
    recorder: @escaping @LoopActor @Sendable (_ path: String, Output, SessionCommands) throws -> any CommandRecorder,
    completionScript: @escaping @Sendable (_ arguments: [String]) -> String?
  ) {
    (self.root, self.commandLine, self.option, self.standard) = (root, commandLine, option, standard)
    (self.sessionOnly, self.recorder, self.completionScript) = (sessionOnly, recorder, completionScript)
  }

  /// Returns the error for an unknown command or a misplaced option. Nil if the words contain neither.
  private func unknownCommand(in arguments: [String]) -> ValidationError? {
    guard let first = arguments.first else { return nil }
    if first == "help" {
      guard let name = arguments.dropFirst().first(where: { !$0.hasPrefix("-") }), name != "help", !names.contains(name) else { return nil }
      return noCommand(name)
    }
    if !first.hasPrefix("-") {
      if names.contains(first) { return nil }
      if arguments.count > 1, names.contains(arguments[1]), FamiliarWords.advice[first] == nil {
        let isAdapter = AdapterSpec.isPlain(first)
        let words = (isAdapter ? ["-i", first, arguments[1]] : [arguments[1], first]) + arguments.dropFirst(2)
        return ValidationError("The \(isAdapter ? "adapter needs -i" : "command comes first"): \(Self.line(words))")
      }
      return misplacedOption(in: Array(CommandLine.arguments.dropFirst())) ?? noCommand(first, Array(arguments.dropFirst()))
    }
    if Self.asksRoot(arguments) { return nil }
    return wrongOption(in: arguments) ?? missingCommand
  }

  private func noCommand(_ name: String, _ words: [String] = []) -> ValidationError {
    let (leading, rest) = Arguments.leading(words, self)
    if let advice = FamiliarWords.advice(on: name, leading.isEmpty ? rest.first : nil) {
      return ValidationError("Unknown command \(DisplayText.quote(name)). \(advice)")
    }
    let familiar = FamiliarWords.commands[name]
    if let familiar, sessionOnly.contains(where: { $0.commandName == name }) {
      return ValidationError("\(name) is a command of sessions. Use: \(Self.line([familiar] + words))")
    }
    if let type = sessionOnly.first(where: { $0.commandName == name || $0.configuration.aliases.contains(name) }) {
      return ValidationError(
        "\(name) is a command of sessions. To start one: blectl repl. To run only this: \(Self.executing([name] + rest, type))")
    }
    let meant = (familiar ?? SpellingSuggestion.nearest(to: name, among: names)).map { "Did you mean \($0)?" }
    if meant == nil, let line = Self.line(forDevice: name, Array(rest)) {
      return ValidationError("Unknown command \(DisplayText.quote(name)). If it is a device: \(line)")
    }
    return ValidationError("Unknown command \(DisplayText.quote(name)). \(meant ?? "The commands are \(names.joined(separator: ", ")).")")
  }

  /// Returns the command line that runs one command of a session: `blectl -e 'wait ff01' Band-7` for `wait Band-7 ff01`.
  private static func executing(_ words: [String], _ type: any LoopCommand.Type) -> String {
    var (words, device) = (words, type.takesPeer ? "PEER" : "")
    let arguments = type.takesPeer ? CommandOptions(of: type).arguments(in: Array(words.dropFirst())) : []
    if let found = arguments.first(where: { !$0.contains("=") && Int($0) == nil && PeerArgument(argument: $0) != nil }) {
      words.removeAll { $0 == found }
      device = ShellWords.quoteForShell(found)
    }
    let line = words.map { ShellWords.quoteForShell($0) }.joined(separator: " ")
    return "blectl -e \(DisplayText.clip(ShellWords.quoteForShell(line), to: 60)) \(DisplayText.clip(device, to: 60))".trimmed
  }

  /// Returns the command line for words that start with a device. Nil if the first word looks like a command.
  private static func line(forDevice name: String, _ rest: [String]) -> String? {
    let isDevice =
      PeerArgument(form: name) != nil || PeerArgument.mistake(in: name) == nil && name.contains { !$0.isLowercase && $0 != "_" }
    guard isDevice else { return nil }
    let isAttribute = rest.first.map { (try? Selector($0, abbreviating: false)) != nil } ?? false
    return isAttribute ? line(["read", name] + rest) : line(["connect", ([name] + rest).joined(separator: " ")])
  }

  private static func line(_ words: [String]) -> String {
    "blectl " + DisplayText.clip(words.map { ShellWords.quoteForShell($0) }.joined(separator: " "), to: 160)
  }

  /// Returns the error for a non-global option before the command, with the line that the user may mean. Nil without such an option.
  /// - Parameter typed: The words in the order in which the user typed them.
  private func misplacedOption(in typed: [String]) -> ValidationError? {
    var (global, others, rest) = ([String](), [String](), typed[...])
    while let word = rest.first, !names.contains(word) {
      rest = rest.dropFirst()
      if ProcessOptions.namesWithValue.contains(word) {
        global += [word] + rest.prefix(1)
        rest = rest.dropFirst()
      } else if word.hasPrefix("-"), wrongOption(in: [word]) == nil {
        global.append(word)
      } else {
        others.append(word)
      }
    }
    let isFirst = others.first.map { $0.hasPrefix("-") && $0.count > 1 } ?? false
    guard let place = others.firstIndex(of: option.commandName) ?? (isFirst ? 0 : nil) else { return nil }
    let (name, next) = (others[place], place + 1 < others.count ? others[place + 1] : nil)
    if typed.contains(where: FamiliarWords.ofGatttool.contains) {
      return ValidationError("\(DisplayText.quote(name)) is an option of gatttool. Use: \(Self.line(["gatttool"] + typed))")
    }
    if name == option.commandName {
      let words = others[place...].prefix(2) + others[..<place] + others[place...].dropFirst(2)
      return ValidationError("The commands come before the device: \(Self.line(global + words + rest))")
    }
    if FamiliarWords.ofExecute.contains(name), let next {
      let device = others.dropFirst(place + 2).first ?? "PEER"
      return ValidationError("Unknown option \(DisplayText.quote(name)). Use: \(Self.line(global + ["-e", next, device]))")
    }
    if let advice = FamiliarWords.advice(on: String(name.drop { $0 == "-" }), next) {
      return ValidationError("Unknown option \(DisplayText.quote(name)). \(advice)")
    }
    guard let command = rest.first.flatMap({ type(named: $0) }) else {
      let hyphens = names.contains(String(name.drop { $0 == "-" })) ? "Leave out the hyphens." : "Put it after the command."
      let advice = FamiliarWords.advice[name] ?? hyphens
      return ValidationError("\(DisplayText.quote(name)) is not a global option. \(advice)")
    }
    let isKnown = CommandDescription(of: command).options.contains { $0.names.contains(name) }
    if !isKnown, FamiliarWords.ofDevice.contains(name) { others.remove(at: place) }
    return ValidationError(
      "\(DisplayText.quote(name)) is not a global option. Use: \(Self.line(global + rest.prefix(1) + others + rest.dropFirst()))")
  }

  /// Returns the error for the first option that is not global or lacks its value. Nil if all words are global options.
  private func wrongOption(in arguments: [String]) -> ValidationError? {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      if ProcessOptions.namesWithValue.contains(word) {
        if rest.popFirst() == nil { return ValidationError("\(word) needs a value, and then a command.") }
        continue
      }
      let name = String(word.prefix { $0 != "=" })
      let known = ProcessOptions.namesWithValue + ProcessOptions.flags + ["--version", "--help", "-h"]
      if known.contains(name) || word.dropFirst().allSatisfy({ "qv".contains($0) }) { continue }
      let meant = word == "-V" ? "--version" : SpellingSuggestion.nearest(to: name, among: known)
      return ValidationError("Unknown global option \(DisplayText.quote(name))." + (meant.map { " Did you mean \($0)?" } ?? ""))
    }
    return nil
  }
}
