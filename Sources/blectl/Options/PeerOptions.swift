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
  func checkOrder(_ command: String, _ attributes: [String]) throws {
    guard let device = attributes.first(where: { ($0.contains(":") || $0.hasPrefix("@")) && PeerArgument(form: $0) != nil }) else { return }
    let others = attributes.filter { $0 != device }
    let words = [command, device] + (peer == .current ? [] : [peer.description.after("name:") ?? peer.description]) + others
    throw ValidationError("The device comes first: \(words.map { ShellWords.quoteForShell($0) }.joined(separator: " "))")
  }

  /// Those that take no value.
  static let flags = ["--first", "--unique"] + LinkOptions.flags

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
