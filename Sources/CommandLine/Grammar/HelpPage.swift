/// The help of one command. `-h` prints the command's own options and examples. `--help` prints everything.
package struct HelpPage {
  package static let connectionTitle = "Connection options"
  package static let globalTitle = "Global options"
  /// The columns of the help: those of a narrow terminal, otherwise 80.
  static let width = min(80, max(40, Output.outputWidth ?? 80))

  private let type: any LoopCommand.Type
  private let isSession: Bool
  private let arguments: [CommandDescription.Argument]

  /// Creates the help of a command. In a session, PEER is optional, and the help omits options of the process such as `--adapter`.
  package init(of type: any LoopCommand.Type, isSession: Bool) {
    self.type = type
    self.isSession = isSession
    let refused =
      type.unusedOptions + ["--help"] + (isSession ? ProcessOptions.ofSession + ["--trace-secrets", "--color", "--version"] : [])
    arguments = CommandDescription(of: type).arguments.filter { $0.isShown && Set($0.names).isDisjoint(with: refused) }
  }

  /// The usage line, such as `blectl read [<options>] <peer> <attribute> ...`.
  var usage: String {
    let words = arguments.filter(\.names.isEmpty).map { argument in
      let word = "<\(argument.valueName)>" + (argument.isRepeating ? " ..." : "")
      return argument.isOptional || isSession && argument.valueName == "peer" && type.takesPeer ? "[\(word)]" : word
    }
    let name = type.commandName
    let required = arguments.filter { !$0.names.isEmpty && !$0.isOptional }.map { "\($0.names.last ?? "") <\($0.valueName)>" }
    return ([isSession ? name : "blectl \(name)", "[<options>]"] + required + words).joined(separator: " ")
  }

  var globalOptions: [String] { section(Self.globalTitle, arguments.filter { Self.title($0) == Self.globalTitle }, isShort: false) }

  package func text(isShort: Bool) -> String {
    let configuration = type.configuration
    var parts = [DisplayText.wrap("OVERVIEW: \(configuration.abstract)", to: Self.width)]
    if !isShort, !configuration.discussion.isEmpty { parts.append(Self.paragraphs(configuration.discussion)) }
    parts.append(DisplayText.wrap("USAGE: \(usage)", to: Self.width))
    var titles: [String] = []
    for argument in arguments where !titles.contains(Self.title(argument)) { titles.append(Self.title(argument)) }
    // Own options come before shared options.
    let shared = [Self.connectionTitle, Self.globalTitle].filter(titles.contains)
    let own = ["Arguments", "Options"] + titles.filter { $0 != "Arguments" && $0 != "Options" && !shared.contains($0) }
    for title in own + (isShort ? [] : shared) {
      let listed = arguments.filter { Self.title($0) == title && !(isShort && type.traits.help.rareOptions.contains($0.longName ?? "")) }
      if !listed.isEmpty || title == Self.globalTitle { parts.append(section(title, listed, isShort: isShort)) }
    }
    var examples = type.examples
    // Session examples: the command line's, without `blectl -i sim`.
    if isSession {
      examples = examples.filter { !$0.contains(" > ") }
        .compactMap { $0.after("blectl -i sim ") ?? ($0.hasPrefix("blectl") || $0.contains("| ") ? nil : $0) }
    }
    if !examples.isEmpty { parts.append(["EXAMPLES:"] + examples.map { "  \($0)" }) }
    if isShort { parts.append(["All options: \(isSession ? "" : "blectl ")\(type.commandName) --help"]) }
    return parts.map { $0.joined(separator: "\n") }.joined(separator: isShort ? "\n" : "\n\n")
  }

  private static func title(_ argument: CommandDescription.Argument) -> String {
    argument.section.isEmpty ? argument.names.isEmpty ? "Arguments" : "Options" : argument.section
  }

  /// Wraps a text to lines of at most 80 columns. Keeps lines that start with a space unchanged.
  static func paragraphs(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
      line.isEmpty || line.hasPrefix(" ") ? [String(line)] : DisplayText.wrap(String(line), to: width)
    }
  }

  private func section(_ title: String, _ arguments: [CommandDescription.Argument], isShort: Bool) -> [String] {
    var rows = arguments.map { argument in
      let more = isShort || argument.discussion.isEmpty ? "" : (argument.discussion.hasPrefix("(") ? " " : ". ") + argument.discussion
      let label = [Self.label(argument), type.traits.help.flagArguments[argument.longName ?? ""]].compactMap(\.self).joined(separator: " ")
      return (label, argument.help + more)
    }
    if title == Self.globalTitle {
      if !isSession { rows.append(("--version", "Print the version; -v also the commit and libraries")) }
      rows.append(("-h, --help", "Print a summary (-h) or everything (--help)"))
    }
    let column = 4 + (rows.map(\.0.count).filter { $0 <= 25 }.max() ?? 0)
    // Short help omits arguments, which USAGE shows.
    return (isShort && title == "Arguments" ? [] : ["\(title.uppercased()):"])
      + rows.flatMap { label, text in
        let indented = String(repeating: " ", count: column)
        let head = "  \(label)" + String(repeating: " ", count: max(2, column - label.count - 2))
        if isShort, head.count + text.count <= Self.width { return [head + text] }
        let lines = DisplayText.wrap(text, to: Self.width - column)
        guard head.count > column else { return [head + (lines.first ?? "")] + lines.dropFirst().map { indented + $0 } }
        return ["  \(label)"] + lines.map { indented + $0 }
      }
  }

  private static func label(_ argument: CommandDescription.Argument) -> String {
    argument.names.isEmpty
      ? "<\(argument.valueName)>" : argument.names.joined(separator: ", ") + (argument.takesValue ? " <\(argument.valueName)>" : "")
  }
}
