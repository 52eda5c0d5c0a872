import ArgumentParser

/// The command line as completion scripts know it: the options of every command may stand before its name, with a value that looks like
/// a command (`-i sim`). The root that parses declares none of them, for the start's sake.
struct CompletedCommandLine: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: Blectl.configuration.commandName, version: Blectl.version, subcommands: Blectl.configuration.subcommands)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var step: StepOptions

  /// Whether a script is what these arguments ask for.
  static func isWanted(by arguments: [String]) -> Bool {
    arguments.contains { $0 == "--generate-completion-script" || $0.hasPrefix("--generate-completion-script=") }
  }
}
