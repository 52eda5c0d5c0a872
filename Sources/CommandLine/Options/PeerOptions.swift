/// The PEER argument, with the options that choose among several matches and the options for the connection.
package struct PeerOptions: ParsableArguments {
  static let forms = "Address, name, name:GLOB, mac:MAC, service:UUID, @last or @ALIAS"
  /// The forms as part of a sentence.
  static let sentence = "an address, a name, name:GLOB, mac:MAC, service:UUID, @last or @ALIAS"

  @Argument(help: ArgumentHelp(stringLiteral: Self.forms)) package var peer: PeerArgument
  @OptionGroup package var choice: ChoiceOptions
  @OptionGroup package var link: LinkOptions

  package init() {}

  /// Creates the options for a device that the words do not name as PEER.
  package init(_ peer: PeerArgument, _ choice: ChoiceOptions, _ link: LinkOptions) {
    (self.peer, self.choice, self.link) = (peer, choice, link)
  }

  /// Checks that the device precedes the attributes.
  /// - Throws: `ValidationError` if one of the attributes is a device.
  package static func checkOrder(_ words: [String], of type: any LoopCommand.Type, _ attributes: [String], isSession: Bool) throws {
    if isSession, let name = attributes.first(where: isName), attributes.contains(where: { (try? Selector($0)) != nil }) {
      let rest = words.dropFirst().filter { $0 != name }.map(ShellWords.quote).joined(separator: " ")
      throw ValidationError(
        "Unknown attribute \(DisplayText.quote(name)). If it is a device: \(words[0]) \(ShellWords.quote("name:\(name)")) \(rest)")
    }
    let device = attributes.first { ($0.contains(":") || $0.hasPrefix("@")) && PeerArgument(form: $0) != nil }
    guard let index = device.flatMap({ words.lastIndex(of: $0) }),
      let first = CommandOptions(of: type).firstArgument(in: Array(words.dropFirst()))
    else { return }
    throw ValidationError(UsageText.deviceFirst(words, moving: index, to: first + 1, isSession: isSession))
  }

  /// Whether a word looks like the name of a device rather than an attribute, such as `Band-7`.
  private static func isName(_ word: String) -> Bool {
    (try? Selector(word)) == nil && word.contains { $0.isUppercase || $0 == "-" } && !word.contains { "/:@".contains($0) }
  }
}

/// The options that choose among several matching devices.
package struct ChoiceOptions: OptionSection {
  package static let title = HelpPage.connectionTitle

  @Flag(help: "Use the first match (default: the strongest)") package var first = false
  @Flag(help: "Fail if several devices match (exit 2)") package var unique = false

  package init() {}

  package func validate() throws { if first, unique { throw ValidationError("--first and --unique exclude each other.") } }
}
