import ArgumentParser
import Text

/// The PEER argument, how to choose among several matches, and how to connect.
struct PeerOptions: ParsableArguments {
  static let forms = "Address, name, name:GLOB, mac:MAC, service:UUID, @last or @ALIAS"

  @Argument(help: ArgumentHelp(stringLiteral: Self.forms))
  var peer: PeerArgument

  @OptionGroup(title: HelpPage.connectionTitle) var choice: ChoiceOptions

  @OptionGroup(title: HelpPage.connectionTitle) var link: LinkOptions

  /// - Throws: ValidationError if one of the attributes is a device.
  static func checkOrder(_ words: [String], of type: any LoopCommand.Type, _ attributes: [String], isSession: Bool) throws {
    let device = attributes.first { ($0.contains(":") || $0.hasPrefix("@")) && PeerArgument(form: $0) != nil }
    guard let index = device.flatMap({ words.lastIndex(of: $0) }),
      let first = CommandOptions(of: type).firstArgument(in: Array(words.dropFirst()))
    else { return }
    throw ValidationError(UsageText.deviceFirst(words, moving: index, to: first + 1, isSession: isSession))
  }

  var target: Target { Target(peer: peer, takesFirst: choice.first, demandsOne: choice.unique, link: link) }
}

/// Options that choose among several matching devices.
struct ChoiceOptions: ParsableArguments {
  @Flag(help: "Use the first match (default: the strongest)")
  var first = false

  @Flag(help: "Fail if several devices match (exit 2)")
  var unique = false

  func validate() throws {
    if first, unique { throw ValidationError("--first and --unique exclude each other.") }
  }
}
