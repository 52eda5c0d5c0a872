/// The options and arguments of a command, from the parser's dump of its help. Creating a description takes a millisecond.
package struct CommandDescription {
  struct Argument {
    /// The option names with their hyphens. Empty for a positional argument.
    let names: [String]
    /// The option name with two hyphens. Nil for a positional argument.
    var longName: String? { names.first { $0.hasPrefix("--") } }
    let valueName: String
    let takesValue: Bool
    let isRepeating: Bool
    let isOptional: Bool
    /// Whether the help shows the argument.
    let isShown: Bool
    /// The title of the argument's group in the help. Empty for an argument without a group.
    let section: String
    /// The argument's help on one line.
    let help: String
    /// The part of the help that only `--help` shows.
    let discussion: String
    /// The values that the argument accepts. Empty if the parser lists no values.
    let values: [String]
    let isFile: Bool
    /// The permitted file name extensions of the argument. Empty if any file is valid.
    let endings: [String]
  }

  /// The options and positional arguments, in the order of their declarations.
  let arguments: [Argument]

  package init(of command: any ParsableArguments.Type) {
    let dump = command.parserDescription
    let declared = if case .array(let items)? = dump?["arguments"]?.kind { items.map(Self.argument) } else { [Argument]() }
    // The parser knows the options for records in every command.
    let isWithout = (command as? any LoopCommand.Type).map { !$0.traits.printsRecords } ?? false
    arguments = declared.filter { !isWithout || !$0.isOfRecords }
  }

  var options: [Argument] { arguments.filter { !$0.names.isEmpty } }

  private static func argument(_ item: JSONTree) -> Argument {
    let kind = item["kind"]?.string
    func has(_ key: String) -> Bool { if case .bool(true)? = item[key]?.kind { true } else { false } }
    let completion = item["completionKind"]
    var names: [String] = []
    if kind != "positional", case .array(let all)? = item["names"]?.kind {
      names = all.compactMap { name in name["name"]?.string.map { (name["kind"]?.string == "short" ? "-" : "--") + $0 } }
    }
    // The parser does not know --help, see Arguments.shortenHelp.
    if names == ["-h"] { names.append("--help") }
    func strings(_ tree: JSONTree?) -> [String] { if case .array(let items)? = tree?.kind { items.compactMap(\.string) } else { [] } }
    return Argument(
      names: names, valueName: item["valueName"]?.string?.lowercased() ?? "", takesValue: kind == "option", isRepeating: has("isRepeating"),
      isOptional: has("isOptional"), isShown: has("shouldDisplay"), section: item["sectionTitle"]?.string ?? "",
      help: item["abstract"]?.string ?? "", discussion: item["discussion"]?.string ?? "",
      values: strings(completion?["list"]?["values"] ?? item["allValues"]), isFile: completion?["file"] != nil,
      endings: strings(completion?["file"]?["extensions"]))
  }
}
