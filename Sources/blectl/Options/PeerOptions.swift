import ArgumentParser

/// The PEER argument, how to choose among several matches, and how to connect.
struct PeerOptions: ParsableArguments {
  static let forms = "AA:BB:CC:DD:EE:FF[/public|/random], NAME or name:GLOB, mac:MAC-in-advertisement, service:UUID, @last or @ALIAS."

  @Argument(help: ArgumentHelp(stringLiteral: Self.forms))
  var peer: PeerArgument

  @OptionGroup var choice: ChoiceOptions

  @OptionGroup var link: LinkOptions

  /// Those that take no value.
  static let flags = ["--first", "--unique"] + LinkOptions.flags

  var target: Target { Target(peer: peer, takesFirst: choice.first, demandsOne: choice.unique, link: link) }
}

/// Options that choose among several matching devices.
struct ChoiceOptions: ParsableArguments {
  @Flag(help: "Take the first match instead of the strongest.")
  var first = false

  @Flag(help: "Refuse to choose when several match.")
  var unique = false

  func validate() throws {
    if first, unique { throw ValidationError("--first and --unique exclude each other.") }
  }
}
