import CommandLine

package struct Help: SessionCommand {
  static let configuration = CommandConfiguration(named: "help", abstract: "List the commands, or explain one.")
  static let examples = ["help", "help read"]
  static let traits = CommandTraits(completedWords: [.command], turn: .atOnce, scriptRefusal: HelpText.refusal)

  @OptionGroup var process: ProcessOptions
  @Argument(help: "A command") var name: String?

  func run(in context: Context, _ session: SessionLinks) async throws {
    guard let name else {
      let lines = list(context, session.shell)
      try await HelpText(text: lines.joined(separator: "\n")).show(context.output, in: session.shell)
      return
    }
    let known = context.process.commands
    guard let type = known.type(named: name) else { throw known.unknown([name]) }
    try await HelpText(text: HelpPage(of: type, isSession: true).text(isShort: true)).show(context.output, in: session.shell)
  }

  @LoopActor private func list(_ context: Context, _ shell: Shell) -> [String] {
    var commands = context.process.commands.all.map { (name: $0.commandName, what: $0.configuration.abstract) }
    if shell.isTyped { commands += InteractiveShell.ownCommands.map { ($0.name, $0.hint + ".") } }
    let width = context.output.outIsTerminal ? context.output.width : .max
    let isProgram = context.output.style.json
    let more = "Without PEER, commands use the current device: the last one connected, or chosen with use. More: help COMMAND"
    return ProgramHelp.rows(commands) + DisplayText.wrap(more + (isProgram ? "" : ". !COMMAND runs a shell command."), to: width)
  }
}
