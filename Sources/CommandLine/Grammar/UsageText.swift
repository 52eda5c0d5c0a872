import Scripts

/// The error message for a mistake in a command line, with the usage line of the command.
package struct UsageText {
  package let sentence: String
  /// The usage line, and the `blectl … -h` command that shows the help.
  let usage: String

  /// Creates the message for an error of the parser.
  /// - Parameters:
  ///   - arguments: The words as typed, starting with the command's name.
  ///   - type: The command of a session. Nil on the command line.
  ///   - place: The index in `arguments` at which the user omitted PEER, so that a session used its current device. Nil otherwise.
  package init(
    _ error: any Error, _ arguments: [String], _ commands: CommandSet, of type: (any LoopCommand.Type)? = nil,
    withoutPeerAt place: Int? = nil
  ) {
    let command = type ?? commands.type(named: arguments.first ?? "")
    let mistake = ParserMistake(error, of: type ?? commands.root, command)
    usage =
      command.map { "Usage: \(HelpPage(of: $0, isSession: false).usage)\n  Help: blectl \($0.commandName) -h" }
      ?? "Usage: blectl [<options>] <command> [<arguments>]\n  Help: blectl -h"
    // The parser reports missing and wrong arguments before an unknown option, which is the likelier mistake.
    let unknown = error is ValidationError ? nil : Self.unknownOption(arguments, command)
    let kind = unknown.map { .unknownOption($0) } ?? mistake.kind
    // The first argument of -e is not a device.
    let isOfDevice = command?.commandName != commands.option.commandName
    let isSession = type != nil && isOfDevice
    let words =
      (type == nil || !isOfDevice ? Self.partedAdapter(Array(CommandLine.arguments.dropFirst())) : nil)
      ?? (isOfDevice ? Self.deviceFirst(kind, arguments, command, isSession: isSession, place) : nil)
      ?? command?.advice(on: kind, in: arguments) ?? Self.corrected(arguments, commands, of: isSession ? type : nil, place)
      ?? Self.behindDevice(kind, arguments, command, commands, isSession: isSession)
      ?? Self.words(kind, mistake.help, command, arguments, commands)
    // A line feed in the user's words must not split the sentence.
    let message = DisplayText.visible(words.replacing("\n", with: " ")).asMessage(of: "blectl")
    sentence = isSession ? message.atPrompt(of: "blectl", commands.atPrompt) : message
  }

  /// Returns the first option that `command` does not have. Nil if `command` has all options.
  private static func unknownOption(_ arguments: [String], _ command: (any LoopCommand.Type)?) -> String? {
    guard let command else { return nil }
    let options = CommandDescription(of: command).options
    let known = options.flatMap(\.names) + ["--help", "--version", "-h"]
    var isValue = false
    for word in arguments.dropFirst().prefix(while: { $0 != "--" }) {
      let name = String(word.prefix { $0 != "=" })
      let isOption = name.hasPrefix("--") || name.utf8.count == 2 && name.hasPrefix("-") && name.last?.isLetter == true
      if isOption || known.contains("-\(name)"), !isValue, !known.contains(name) { return name }
      isValue = options.contains { $0.takesValue && $0.names.contains(word) }
    }
    return nil
  }

  /// Returns advice to put the PEER first, if the parser found another word in its place. Nil if no later word is a PEER.
  private static func deviceFirst(
    _ mistake: ParserMistake.Kind, _ arguments: [String], _ command: (any LoopCommand.Type)?, isSession: Bool, _ place: Int?
  ) -> String? {
    let index: Int? =
      switch mistake {
      case .invalidValue(let value, place: "<peer>", choices: _): arguments.firstIndex(of: value)
      case .unexpectedArguments: place
      default: nil
      }
    guard let command, let index else { return nil }
    if PeerArgument.prefixes.contains("\(arguments[index]):"), index + 1 < arguments.count {
      let words = arguments[..<index] + ["\(arguments[index]):\(arguments[index + 1])"] + arguments[(index + 2)...]
      return "Write the device as one word: \(commandLine(Array(words), isSession: isSession))"
    }
    let options = CommandDescription(of: command).options.filter(\.takesValue).flatMap(\.names)
    func isPeer(_ index: Int) -> Bool {
      let word = arguments[index]
      if index > 0, options.contains(arguments[index - 1]) { return false }
      // A VALUE may have six bytes separated by colons.
      if case .address(_, nil)? = PeerSelector(word) { return !command.traits.takesValue }
      // Hex and the words before it are a value.
      let isName =
        !command.traits.takesValue && !word.hasPrefix("-") && PeerArgument.mistake(in: word) == nil && Hex.decode(word) == nil
        && !Predicate.words.contains(word)
      return PeerSelector(word) != nil || isName && (try? Selector(word, abbreviating: false)) == nil
    }
    guard let found = arguments.indices[(place ?? index + 1)...].first(where: isPeer) else { return nil }
    return deviceFirst(arguments, moving: found, to: index, isSession: isSession)
  }

  /// Explains an adapter in two words, as in `-i replay FILE`. Nil without one.
  static func partedAdapter(_ words: [String]) -> String? {
    guard let index = words.firstIndex(where: { $0 == "-i" || $0 == "--adapter" }), index + 2 < words.count,
      let adapter = AdapterSpec.joined(words[index + 1], words[index + 2])
    else { return nil }
    let others = Array(words[..<index] + words[(index + 3)...])
    return "Write the adapter as one word: "
      + commandLine(["-i", adapter] + (others.contains { !$0.hasPrefix("-") } ? others : others + ["scan"]), isSession: false)
  }

  /// Returns the line that the user means, if one small change makes the words a valid line. Returns nil otherwise.
  private static func corrected(_ words: [String], _ commands: CommandSet, of type: (any LoopCommand.Type)?, _ place: Int?) -> String? {
    func isValid(_ words: [String]) -> Bool {
      let (rest, index) = (Array(words.dropFirst()), place.map { $0 - 1 })
      let line: (any LoopCommand)? =
        if let type { (try? type.command(from: rest, currentDeviceAt: index)) ?? nil } else { try? commands.command(from: words) }
      return (try? line?.checkForScript(quoted: [])) != nil
    }
    func isByte(_ word: String) -> Bool { word.utf8.count == 2 && Hex.number(word) != nil }
    func parts(_ word: String) -> [String] {
      if word.contains(" ") { return word.split(separator: " ").map { String($0) } }
      let parts = word.split(maxSplits: 1) { ":=".contains($0) }.map { String($0) }
      let isJoined = PeerArgument(form: word) == nil && PeerArgument.mistake(in: word) == nil
      return isJoined && parts.contains { (try? Selector($0, abbreviating: false)) != nil } ? parts : [word]
    }
    func follows(_ option: String, _ index: Int) -> Bool { index > 0 && words[index - 1].hasPrefix(option) }
    guard let first = words.first, !words.contains("") else { return nil }
    // The value of an option stays as it is.
    var lines = [words.indices.flatMap { follows("-", $0) ? [words[$0]] : parts(words[$0]) }, words.filter { $0 != "=" }]
    lines.append([first.lowercased()] + words.dropFirst())
    lines.append(words.map { $0.hasPrefix("--") ? String($0.prefix { $0 != "=" }) : $0 })
    lines.append(words.indices.filter { Double(words[$0]) == nil || !follows("--", $0) }.map { words[$0] })
    lines.append(words.indices.filter { words[$0] != "--mac" }.map { follows("--mac", $0) ? "mac:\(words[$0])" : words[$0] })
    if FamiliarWords.commands[first] != nil { lines.append(Array(words.dropFirst())) }
    let plain = words.filter { !Predicate.words.contains($0) }
    for index in plain.indices.dropLast()
    where Hex.decode(plain[index + 1]) != nil && (try? Selector(plain[index], abbreviating: false)) != nil {
      lines.append(plain[..<index] + ["\(plain[index])=\(plain[index + 1])"] + plain[(index + 2)...])
    }
    if let start = words.indices.dropFirst().first(where: { words.count - $0 > 5 && words[$0..<$0 + 6].allSatisfy(isByte) }) {
      lines.append(words[..<start] + [words[start..<start + 6].joined(separator: ":")] + words[(start + 6)...])
    }
    if let index = words.firstIndex(of: "-e"), index > 0, commands.commandLine.contains(where: { $0.commandName == first }) {
      let device = index > 1 ? Array(words[1..<index]) : ["PEER"]
      lines.append(Array(words[index...].prefix(2)) + device + words[index...].dropFirst(2))
    }
    return lines.first { $0 != words && isValid($0) }.map { "Invalid arguments. Did you mean: \(commandLine($0, isSession: false))" }
  }

  package static func deviceFirst(_ words: [String], moving index: Int, to place: Int, isSession: Bool) -> String {
    var words = words
    words.insert(words.remove(at: index), at: place)
    return "Put the device first: \(commandLine(words, isSession: isSession))"
  }

  /// Explains words after a device that the command does not take: a command, an adapter, an attribute, or the rest of a name with spaces.
  private static func behindDevice(
    _ mistake: ParserMistake.Kind, _ words: [String], _ command: (any LoopCommand.Type)?, _ commands: CommandSet, isSession: Bool
  ) -> String? {
    switch mistake {
    case .unexpectedArguments, .invalidValue(_, place: "<input>", choices: _): break
    default: return nil
    }
    guard let command else { return nil }
    let options = CommandOptions(of: command)
    let typed = options.arguments(in: Array(words.dropFirst()))
    let first = CommandDescription(of: command).arguments.first { $0.names.isEmpty }
    guard options.takesOnlyPeer, first?.valueName == "peer", typed.count > 1, Int(typed[1]) == nil, PeerArgument(form: typed[1]) == nil
    else { return nil }
    let (device, rest) = (typed[0], Array(typed.dropFirst()))
    if commands.isInSessions(rest[0]) {
      let line = rest.map { ShellWords.quote($0) }.joined(separator: " ")
      return isSession
        ? "Separate commands with ;: \(commandLine(Array(words.prefix { $0 != rest[0] }), isSession: true)); \(line)"
        : "To run commands on one connection: \(commandLine(["-e", line, device], isSession: false))"
    }
    if AdapterSpec.isPlain(rest[0]) {
      return "An adapter needs -i: \(commandLine(words.flatMap { $0 == rest[0] ? ["-i", $0] : [$0] }, isSession: isSession))"
    }
    if (try? Selector(rest[0], abbreviating: false)) != nil {
      return "\(command.commandName) takes no attribute. To read one: \(commandLine(["read"] + typed, isSession: isSession))"
    }
    let name = typed.joined(separator: " ")
    let others = words.dropFirst().filter { !typed.contains($0) }
    return "Put a name with spaces in quotes: \(commandLine([command.commandName, name] + others, isSession: isSession))"
  }

  /// Explains an unknown format of values.
  static func unknownFormat(_ text: String) -> String {
    "Unknown format \(DisplayText.quote(text)). \(ValueFormat.suggestion(for: text) ?? "Formats: \(FamiliarWords.forms["format"] ?? "")")"
  }

  private static func commandLine(_ words: [String], isSession: Bool) -> String {
    "\(isSession ? "" : "blectl ")\(words.map { ShellWords.quoteForShell($0) }.joined(separator: " "))"
  }

  private static func words(
    _ mistake: ParserMistake.Kind, _ help: String, _ command: (any LoopCommand.Type)?, _ arguments: [String], _ commands: CommandSet
  ) -> String {
    switch mistake {
    case .invalidValue(let value, let place, let choices):
      let shown = DisplayText.quote(value)
      if place.hasPrefix("--as ") { return unknownFormat(value) }
      guard let hint = hint(value, for: place) ?? command?.hint(value, for: place) else {
        let isTime = place == "--time <form>" && (try? TimeText.seconds(value)) != nil
        return "\(name(of: place)) needs \(form(place, help, choices)), not \(shown)."
          + (isTime ? " For a time limit: --duration \(DisplayText.escape(value))" : "")
      }
      let isSentence = hint.first?.isUppercase ?? false
      return "Invalid \(name(of: place)) \(shown)\(isSentence ? "." : ":") \(hint.asSentence)"
        + (place == "<peer>" ? " A device is \(PeerOptions.sentence)." : "")
    case .unknownOption(let name): return "Unknown option \(DisplayText.escape(name)). \(meant(name, command, commands) ?? "")".trimmed
    case .missingArgument("<peer>"): return "Name the device: \(PeerOptions.sentence)."
    case .missingArgument(let place) where place.hasPrefix("<attr"):
      return "Missing ATTRIBUTE: a handle (0x0012), a UUID (2a19) or a name (battery_level)."
    case .missingArgument(let place):
      // Without any argument, the parser gives no help.
      let known = command.flatMap { CommandDescription(of: $0).arguments.first { place.hasPrefix($0.longName ?? "<\($0.valueName)>") } }
      return "Missing \(name(of: place)): \(form(place, help.isEmpty ? known?.help ?? "" : help, ""))."
    case .missingValue(let sentence):
      guard let name = sentence.split(separator: "'").dropFirst().first else { return sentence }
      let option = String(name.prefix { $0 != " " })
      let known = command.flatMap { CommandDescription(of: $0).options.first { $0.names.contains(option) } }
      return "\(option) needs \(known.map { form("\(option) <\($0.valueName)>", $0.help, "") } ?? "a value")".asSentence
    case .unexpectedArguments(let extra, _):
      let known = command.map { CommandDescription(of: $0).options.compactMap(\.longName) } ?? []
      let option = arguments.dropFirst().map { "--\($0)" }.first(where: known.contains)
      return "Unexpected argument\(extra.count == 1 ? "" : "s") \(extra.map(DisplayText.quote).joined(separator: ", "))."
        + (option.map { " Did you mean \($0)?" } ?? "")
    case .other(let sentence):
      // The parser prints lists on several lines.
      return sentence.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
  }

  /// Returns a sentence about the option that the user may mean, or the commands that take this one. Nil without a guess.
  private static func meant(_ name: String, _ command: (any LoopCommand.Type)?, _ commands: CommandSet) -> String? {
    if command?.takesPeer ?? false, FamiliarWords.ofDevice.contains(name) { return FamiliarWords.advice["-b"] }
    let known = command.map { CommandDescription(of: $0).options.compactMap(\.longName) } ?? []
    let familiar = FamiliarWords.options[name].flatMap { known.contains(String($0.prefix { $0 != " " })) ? $0 : nil }
    let advice = familiar == nil ? FamiliarWords.advice[name] : nil
    if let advice = command.flatMap({ FamiliarWords.advice["\($0.commandName) \(name)"] }) ?? advice { return advice }
    let near = familiar ?? known.first { $0 == "-\(name)" || name.hasPrefix("--") && $0.hasSuffix(name.dropFirst()) }
    if let near { return "Did you mean \(near)?" }
    let takers = commands.commandLine.filter { CommandDescription(of: $0).options.contains { $0.longName == name } }.map { $0.commandName }
    if !takers.isEmpty { return "It belongs to \(takers.joined(separator: ", "))." }
    return name.hasPrefix("--") ? SpellingSuggestion.nearest(to: name, among: known).map { "Did you mean \($0)?" } : nil
  }

  /// Shortens a placeholder of the parser: `<peer>` to `PEER`, and `--chunk <n>` to `--chunk`.
  private static func name(of place: String) -> String {
    guard place.hasPrefix("<") else { return String(place.prefix { $0 != " " }) }
    return String(place.filter { !"<>. ".contains($0) }.uppercased().prefix { $0 != "[" })
  }

  /// Returns the form of an option's or argument's values for a sentence, such as `auto or a whole number from 1 to 512`.
  /// Without a form for the placeholder, the help has it, perhaps after a colon.
  private static func form(_ place: String, _ help: String, _ choices: String) -> String {
    if !choices.isEmpty { return choices }
    var text = help.firstRange(of: ">  ").map { String(help[$0.upperBound...]) } ?? help
    let placeholder = String(place.split(separator: "<").last?.prefix { $0 != ">" } ?? "")
    if placeholder == "n", place.hasPrefix("-") {
      let range = text.split { " ,;".contains($0) }.map { $0.split(separator: "-") }.first { $0.count == 2 && Int($0[0]) != nil }
      let numbers = "a whole number" + (range.map { " from \($0[0]) to \($0[1])" } ?? "")
      return text.contains("auto") ? "auto or \(numbers)" : numbers
    }
    if place.hasPrefix("-") || placeholder == "seconds", let form = FamiliarWords.forms[placeholder] { return form }
    for end in [" (default", " (0:", "; repeatable", ", for --"] {
      text = text.firstRange(of: end).map { String(text[..<$0.lowerBound]) } ?? text
    }
    if place.hasPrefix("-") { text = text.ranges(of: ": ").last.map { String(text[$0.upperBound...]) } ?? text }
    let isWord = text.dropFirst().first.map { $0.isLowercase || $0 == " " } ?? false
    return text.isEmpty ? "another value" : isWord ? text.prefix(1).lowercased() + text.dropFirst() : text
  }

  /// Explains a wrong PEER. Nil for another argument or without an explanation.
  private static func hint(_ value: String, for place: String) -> String? { place == "<peer>" ? PeerArgument.mistake(in: value) : nil }
}
