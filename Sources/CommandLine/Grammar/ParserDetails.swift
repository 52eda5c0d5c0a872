// blectl relies on internals of ArgumentParser: two members, and its error messages. Therefore Package.swift pins the minor version.
// ParserDetailsTests fail if one of them changes.

extension CommandConfiguration {
  /// Creates the configuration of a command that parses its own words.
  ///
  /// For the parser, only `-h` asks for help: the check for `--help` takes 5 % of the startup time. `Arguments.shortenHelp` replaces `--help`.
  package init(named name: String, abstract: String, discussion: String = "", aliases: [String] = []) {
    self.init(
      commandName: name, _superCommandName: "blectl", abstract: abstract, discussion: discussion, helpNames: .short, aliases: aliases)
  }
}

extension ParsableArguments {
  /// The parser's description of the command and its arguments. Nil if the parser prints invalid JSON. Takes about 1 ms.
  static var parserDescription: JSONTree? { try? JSONTree.parse(Array(_dumpHelp().utf8))["command"] }
}

/// A mistake in a command line, as reported by the parser.
package struct ParserMistake {
  package enum Kind: Equatable {
    /// A wrong value of `place`, such as `<peer>` or `--mode <mode>`. `choices` lists the valid values, as in `a, b or c`, or is empty.
    case invalidValue(String, place: String, choices: String)
    /// The extra arguments, and the parser's sentence about them.
    case unexpectedArguments([String], String)
    case unknownOption(String)
    case missingArgument(place: String)
    /// The parser's sentence about an option without its value.
    case missingValue(String)
    /// The parser's sentence about any other mistake, such as a `ValidationError`.
    case other(String)
  }

  let kind: Kind
  /// The parser's help for the wrong option or argument. Empty if the parser gives no help.
  let help: String

  /// Creates a mistake from the parser's error.
  /// - Parameters:
  ///   - parsed: The command that parsed the words, which is the root command or a command of a session.
  ///   - command: The command that the words name. Nil for an unknown command.
  init(_ error: any Error, of parsed: any ParsableCommand.Type, _ command: (any ParsableCommand.Type)?) {
    let isOwn = error is ValidationError
    let sentence = parsed.message(for: error)
    let whole = (isOwn ? command ?? parsed : parsed).fullMessage(for: error)
    let rest = whole.dropFirst(min(whole.count, "Error: ".count + sentence.count + 1))
    help = rest.hasPrefix("Help:") ? String(rest.dropFirst(5).prefix { $0 != "\n" }).trimmed : ""
    kind = isOwn ? .other(sentence) : Self.kind(sentence)
  }

  private static func kind(_ sentence: String) -> Kind {
    if let (value, place, choices) = invalidValue(sentence) { return .invalidValue(value, place: place, choices: choices) }
    if let option = sentence.after("Unknown option '") { return .unknownOption(String(option.prefix { $0 != "'" })) }
    if let place = sentence.after("Missing expected argument '") { return .missingArgument(place: String(place.prefix { $0 != "'" })) }
    if sentence.hasPrefix("Missing ") { return .missingValue(sentence) }
    if let argument = sentence.after("Unexpected argument '") { return .unexpectedArguments([String(argument.dropLast())], sentence) }
    if sentence.drop(while: \.isNumber).hasPrefix(" unexpected arguments: '") {
      let parts = sentence.split(separator: "'", omittingEmptySubsequences: false)
      return .unexpectedArguments(parts.enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }, sentence)
    }
    return .other(sentence.replacing("'", with: "\""))
  }

  /// Extracts value, place and choices from `The value 'V' is invalid for '--option <name>'. Please provide one of 'a', 'b' or 'c'.` Nil
  /// for another sentence.
  private static func invalidValue(_ sentence: String) -> (value: String, place: String, choices: String)? {
    let separator = "' is invalid for '"
    guard let text = sentence.after("The value '"), let middle = text.ranges(of: separator).last else { return nil }
    let place = String(text[middle.upperBound...].prefix { $0 != "'" })
    let choices = text[middle.upperBound...].dropFirst(place.count + 1)
    let list = String(choices).after(". Please provide one of ") ?? ""
    return (String(text[..<middle.lowerBound]), place, String(list.filter { $0 != "'" && $0 != "." }))
  }
}
