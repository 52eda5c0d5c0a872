import ArgumentParser

struct Exit: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "exit", _superCommandName: "blectl",
    abstract: "End the session, as the end of its input does. Also: quit.",
    discussion: "What stands behind it, in a file as well, is not run.")
  static let turn = ShellTurn.atOnce
  /// As people say it too.
  static let otherName = "quit"

  @OptionGroup var process: ProcessOptions

  @Argument(help: ArgumentHelp("Nothing.", visibility: .private))
  var words: [String] = []

  var usesNames: Bool { false }

  func validate() throws {
    if !words.isEmpty { throw ValidationError("exit stands alone: the status of a session is that of the first command that failed.") }
  }

  func run(in context: Context) async throws { context.shell?.exit() }
}
