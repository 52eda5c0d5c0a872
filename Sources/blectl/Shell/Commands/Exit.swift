import ArgumentParser

struct Exit: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "exit", _superCommandName: "blectl", abstract: "End the session. Also: quit.",
    discussion: "Commands after it are not run, also in a file.")
  static let examples = ["read 2a19; exit", "write ff02 1b9901; wait ff01; exit"]
  static let unusedOptions = ["--timeout"]
  static let turn = ShellTurn.atOnce
  /// As people say it too.
  static let otherName = "quit"

  @OptionGroup(title: HelpPage.globalTitle) var process: ProcessOptions

  @Argument(help: ArgumentHelp("Nothing", visibility: .private))
  var words: [String] = []

  var usesNames: Bool { false }

  func validate() throws {
    if !words.isEmpty { throw ValidationError("exit takes no argument. The first command that failed decides the exit status.") }
  }

  func run(in context: Context) async throws { context.shell?.exit() }
}
