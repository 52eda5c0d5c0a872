/// The help of the program itself, which `blectl -h` and `blectl --help` print.
package enum ProgramHelp {
  /// The commands that only the long help lists, because the short one fits 24 lines.
  private static let rare = ["unpair", "bonds", "config", "alias", "firmware", "clone", "peripheral", "advertise"]

  static func text(_ commands: CommandSet, isShort: Bool) -> String {
    let overview = "OVERVIEW: \(commands.root.configuration.abstract)"
    let all = isShort ? commands.commandLine.filter { !rare.contains($0.commandName) } : commands.commandLine + [commands.option]
    // Without a title, the short help fits 24 lines.
    let list = (isShort ? [] : ["COMMANDS:"]) + rows(all.map { ($0.commandName, $0.configuration.abstract) })
    let usage = "USAGE: blectl [<options>] <command> [<arguments>]"
    let more = "More: blectl COMMAND -h, \(isShort ? "blectl --help (all commands, completion), " : "")man blectl"
    // A command that takes all global options.
    let complete = all.first { $0.traits.printsRecords && $0.unusedOptions.isEmpty }
    let lines = { DisplayText.wrap($0, to: HelpPage.width) }
    guard !isShort else { return (lines(overview) + [usage] + list + lines(more)).joined(separator: "\n") }
    return [
      [overview], [usage], list,
      ["DEVICES (PEER):"] + rows(devices), ["ATTRIBUTES (ATTR):"] + rows(attributes),
      HelpPage(of: complete ?? commands.standard, isSession: false).globalOptions, ["EXIT STATUS:"] + exits,
      ["EXAMPLES:"] + examples.map { "  \($0)" },
      ["COMPLETION (bash; for zsh and fish: man blectl):", "  source <(blectl --generate-completion-script bash)"],
      [more],
    ].map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
  }

  package static func rows(_ rows: [(String, String)]) -> [String] {
    let column = 2 + (rows.map(\.0.count).max() ?? 0)
    return rows.flatMap { label, text in
      let lines = DisplayText.wrap(text, to: HelpPage.width - column - 2)
      let heads = [label] + Array(repeating: "", count: max(0, lines.count - 1))
      return zip(heads, lines).map { "  \($0)\(String(repeating: " ", count: column - $0.count))\($1)" }
    }
  }
}
