import CommandLine

package struct Exit: SessionCommand {
  static let configuration = CommandConfiguration(
    named: "exit", abstract: "End the session. Also: quit.",
    discussion: "blectl ignores later commands, even in a file.", aliases: ["quit"])
  static let examples = ["read 2a19; exit", "write ff02 1b9901; wait ff01; exit"]
  static let traits = CommandTraits(turn: .atOnce, scriptRefusal: "A script ends with its last line. Remove this command.")

  @OptionGroup var process: ProcessOptions
  @Argument(help: ArgumentHelp("Nothing", visibility: .private)) var words: [String] = []

  func validate() throws {
    if !words.isEmpty { throw ValidationError("exit takes no argument. The first command that failed determines the exit status.") }
  }

  func run(in context: Context, _ session: SessionLinks) async throws { session.shell.exit() }
}
