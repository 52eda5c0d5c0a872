import ArgumentParser
import Bluetooth
import GATT
import LinuxIO
import Operations
import Text

/// What is wrong with a command line: one sentence, and how the command is used. The parser's own messages get their words here, and only
/// here: it names the value and the option or argument, and its help says what that takes.
struct UsageText {
  let sentence: String
  /// `Usage: …`, and where to read more.
  let usage: String

  /// - Parameters:
  ///   - arguments: the words of the command line, the command's name first.
  ///   - type: the command of a session; nil on the command line.
  init(_ error: any Error, _ arguments: [String], of type: (any ParsableCommand.Type)? = nil) {
    let command = type ?? Blectl.command(named: arguments.first ?? "")
    let root: any ParsableCommand.Type = type ?? Blectl.self
    // What was found out before the parser's turn is about that command all the same.
    let whole = error is ValidationError ? (command ?? root).fullMessage(for: error) : root.fullMessage(for: error)
    let reported = root.message(for: error)
    usage =
      command.map { "Usage: \(HelpPage(of: $0, isSession: false).usage)\n  See 'blectl \($0.configuration.commandName ?? "") -h'." }
      ?? "Usage: blectl [<options>] <command> [<arguments>]\n  See 'blectl -h'."
    let rest = whole.dropFirst(min(whole.count, "Error: ".count + reported.count + 1))
    let help = rest.hasPrefix("Help:") ? String(rest.dropFirst(5).prefix { $0 != "\n" }).trimmed : ""
    // The parser reports missing and wrong arguments before an unknown option, which is the likelier mistake.
    let unknown = error is ValidationError ? nil : Self.unknownOption(arguments, command)
    let message = unknown.map { "Unknown option '\($0)'" } ?? reported
    let words =
      Self.deviceFirst(message, arguments, command, isSession: type != nil)
      ?? Self.answer(message, arguments, command) ?? (command == Write.self ? Self.quotedValue(message, arguments) : nil)
    // A line feed in what was typed must not make two lines.
    sentence = DisplayText.visible((words ?? Self.words(message, help, command)).replacing("\n", with: " "))
  }

  /// Returns the first option that `command` does not have.
  private static func unknownOption(_ arguments: [String], _ command: (any ParsableCommand.Type)?) -> String? {
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

  /// Advises to put the PEER first. Returns nil if no later word is a PEER.
  private static func deviceFirst(
    _ message: String, _ arguments: [String], _ command: (any ParsableCommand.Type)?, isSession: Bool
  ) -> String? {
    let options = command.map { CommandDescription(of: $0).options.filter(\.takesValue).flatMap(\.names) } ?? []
    func isPeer(_ index: Int) -> Bool {
      let word = arguments[index]
      if index > 0, options.contains(arguments[index - 1]) { return false }
      // The VALUE of a write may have six bytes, with colons between them.
      if case .address(_, nil)? = PeerSelector(word) { return command != Write.self }
      let isName = command != Write.self && !word.hasPrefix("-") && PeerArgument.mistake(in: word) == nil
      return PeerSelector(word) != nil || isName && (try? Selector(word, abbreviating: false)) == nil
    }
    let wrong: String? =
      if let (value, place, _) = invalidValue(message), place == "<peer>" { value } else {
        message.contains("nexpected argument") ? PeerArgument.current.description : nil
      }
    guard let wrong, let index = arguments.firstIndex(of: wrong),
      let place = arguments.indices[(index + 1)...].first(where: isPeer)
    else { return nil }
    var words = arguments
    let peer = words.remove(at: place)
    if wrong == PeerArgument.current.description { words.remove(at: index) }
    words.insert(peer, at: index)
    return "The device comes first: \(isSession ? "" : "blectl ")\(words.map { ShellWords.quoteForShell($0) }.joined(separator: " "))"
  }

  /// `--wait ff01` and `wait ff01 567b`: how to wait for an answer. Returns nil for other mistakes.
  private static func answer(_ message: String, _ arguments: [String], _ command: (any ParsableCommand.Type)?) -> String? {
    if command == WaitForValue.self, let value = message.after("Unexpected argument '")?.prefix(while: { $0 != "'" }) {
      let attribute = arguments.dropFirst().first { $0 != PeerArgument.current.description } ?? ""
      return "Write the first bytes of the value after =: wait \(DisplayText.escape("\(attribute)=\(value)"))"
    }
    if command == SendFile.self, message.contains("<file>"), let file = arguments.last, InputFile.exists(file) {
      return "\(DisplayText.quote(file)) is a file. The attribute comes before it: send-file PEER ATTR \(DisplayText.escape(file))"
    }
    guard command == Write.self, message.contains("nexpected argument"), let index = arguments.firstIndex(of: "--wait"),
      index + 1 < arguments.count, message.contains("'\(arguments[index + 1])'")
    else { return nil }
    let answer = DisplayText.clip(ShellWords.quoteForShell(arguments[index + 1]), to: 60)
    return "--wait waits for the device and takes no value. To wait for an answer: --expect \(answer)"
  }

  /// What to do about a VALUE of several words without quotes; nil for other mistakes.
  private static func quotedValue(_ message: String, _ arguments: [String]) -> String? {
    guard message.contains("nexpected argument") else { return nil }
    let extra = message.split(separator: "'", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }.map {
      String($0.element)
    }
    let begin = arguments.indices.last { arguments[$0...].starts(with: extra) }
    guard !extra.isEmpty, let begin, begin > 0, !arguments[begin - 1].hasPrefix("-") else { return nil }
    let value = ([arguments[begin - 1]] + extra).joined(separator: " ")
    return "write takes one VALUE. Put it in quotes: \(DisplayText.clip(ShellWords.quoteForShell(value), to: 60))"
  }

  private static func words(_ message: String, _ help: String, _ command: (any ParsableCommand.Type)?) -> String {
    if let (value, place, choices) = invalidValue(message) {
      let said = "Invalid \(name(of: place)) \(DisplayText.quote(value))"
      let takes = kind(of: place) ?? (choices.isEmpty ? taken(help) : "Use \(choices).")
      guard let hint = hint(value, for: place) else { return takes.isEmpty ? "\(said)." : "\(said). \(takes)" }
      let isSentence = hint.first?.isUppercase ?? false
      return "\(said)\(isSentence ? "." : ":") \(hint)\(hint.hasSuffix("?") || hint.hasSuffix(".") ? "" : ".")"
        + (place == "<peer>" ? " A PEER is: \(PeerOptions.forms)." : "")
    }
    if let option = message.after("Unknown option '") {
      let name = String(option.prefix { $0 != "'" })
      if let advice = FamiliarWords.advice[name] { return "Unknown option \(name). \(advice)" }
      let known = command.map { Arguments.options(of: $0).map(\.name) } ?? []
      let familiar = FamiliarWords.options[name].flatMap { known.contains(String($0.prefix { $0 != " " })) ? $0 : nil }
      let meant =
        familiar ?? known.first { $0 == "-\(name)" || name.hasPrefix("--") && $0.hasSuffix(name.dropFirst()) }
        ?? (name.hasPrefix("--") ? Likeness.nearest(to: name, among: known) : nil)
      return "Unknown option \(DisplayText.escape(name))." + (meant.map { " Did you mean \($0)?" } ?? "")
    }
    if let missing = message.after("Missing expected argument '") {
      return "Missing \(name(of: String(missing.prefix { $0 != "'" }))). \(taken(help))".trimmed
    }
    if message.hasPrefix("Missing"), !help.isEmpty { return "\(message.filter { $0 != "'" }). \(taken(help))" }
    // The parser makes lines of a list.
    return message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  /// `PEER` for `<peer>`, `--chunk` for `--chunk <n>`.
  private static func name(of place: String) -> String {
    guard place.hasPrefix("<") else { return String(place.prefix { $0 != " " }) }
    return String(place.filter { !"<>. ".contains($0) }.uppercased().prefix { $0 != "[" })
  }

  /// The help of an option or argument as a sentence: `It takes: Bytes per segment, 1-512 (default: auto).`
  private static func taken(_ help: String) -> String {
    let text = help.firstRange(of: ">  ").map { String(help[$0.upperBound...]) } ?? help
    return text.isEmpty ? "" : "It takes: \(text)".asSentence
  }

  /// The kinds of values that several options take.
  private static func kind(of place: String) -> String? {
    switch place.split(separator: "<").last?.prefix(while: { $0 != ">" }) {
    case "seconds": "Use seconds, or a time with its unit: 5, 0.5, 500ms, 2s, 1m."
    case "ms": "Use milliseconds, or a time with its unit: 20, 20ms, 1s."
    default: nil
    }
  }

  /// The parts of `The value 'V' is invalid for '--option <name>'. Please provide one of 'a', 'b' or 'c'.`
  private static func invalidValue(_ message: String) -> (value: String, place: String, choices: String)? {
    let separator = "' is invalid for '"
    guard let text = message.after("The value '"), let middle = text.ranges(of: separator).last else { return nil }
    let place = String(text[middle.upperBound...].prefix { $0 != "'" })
    let choices = text[middle.upperBound...].dropFirst(place.count + 1)
    let list = String(choices).after(". Please provide one of ") ?? ""
    return (String(text[..<middle.lowerBound]), place, String(list.filter { $0 != "'" && $0 != "." }))
  }

  /// What was probably meant.
  private static func hint(_ value: String, for place: String) -> String? {
    switch place {
    case "<peer>": PeerArgument.mistake(in: value)
    case let place where place.hasPrefix("--as "): ValueFormat.suggestion(for: value)
    case let place where place.hasPrefix("--service "): ServiceArgument.hint(value)
    case let place where place.hasPrefix("--manufacturer "): ManufacturerArgument.hint(value)
    case let place where place.hasPrefix("<attr[=") || place.hasPrefix("--expect ") || place.hasPrefix("--fail-on "):
      PatternArgument.hint(value)
    case let place where place.hasPrefix("--write "): AssignmentArgument.hint(value)
    default: nil
    }
  }
}

extension ManufacturerArgument {
  fileprivate static func hint(_ text: String) -> String? {
    if let data = text.firstIndex(of: ":").map({ text[text.index(after: $0)...] }) {
      do { _ = try Hex.parse(String(data)) } catch {
        return error == .notHex ? "\(error) \(DisplayText.quote(String(data)))" : "\(error)"
      }
    }
    let companies = AssignedNumbers.companies(named: String(text.prefix { $0 != ":" }))
    if companies.isEmpty {
      let meant = AssignedNumbers.companyNamed(like: String(text.prefix { $0 != ":" })).map { "Did you mean \($0)?" }
      return meant ?? "the Bluetooth SIG knows no company with this name. Use an identifier (004c, 0x004c) or a name (apple)"
    }
    guard companies.count > 1 else { return nil }
    let list = companies.prefix(8).map {
      "\(Hex.encode($0)) \(AssignedNumbers.company($0) ?? "")"
    }
    return "\(companies.count) companies match: \(list.joined(separator: ", "))\(companies.count > 8 ? ", …" : "")"
  }
}
