import ArgumentParser
import EventLoop
import Terminal
import Text

struct Help: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "help", _superCommandName: "blectl", abstract: "List the commands, or say all about one.")
  static let turn = ShellTurn.atOnce

  @OptionGroup var process: ProcessOptions

  @Argument(help: "A command.")
  var name: String?

  var usesNames: Bool { false }

  func run(in context: Context) async throws {
    guard let name else {
      let lines = list(context)
      try await HelpText(text: lines.joined(separator: "\n")).show(context.output)
      return
    }
    guard let type = ShellCommands.type(named: name) else { throw ShellCommands.unknown(name) }
    try await HelpText(text: type.helpMessage()).show(context.output)
  }

  @LoopActor
  private func list(_ context: Context) -> [String] {
    let isTyped = context.shell?.isTyped ?? false
    var commands = ShellCommands.all.map { (name: $0.configuration.commandName ?? "", what: $0.configuration.abstract) }
    if isTyped { commands += InteractiveShell.ownCommands.map { ($0.name, $0.hint + ".") } }
    let column = (commands.map(\.name.count).max() ?? 0) + 2
    let width = context.output.outIsTerminal ? context.output.width : .max
    let lines = commands.flatMap { name, what in
      DisplayText.wrap(what, to: max(20, width - column)).enumerated().map { index, line in
        (index == 0 ? name : "").padding(column) + line
      }
    }
    let isProgram = context.output.style.json
    let more = "PEER may be left out: then the current device is meant, which was connected last or named by use. help COMMAND says more"
    return lines + DisplayText.wrap(more + (isProgram ? "." : "; !COMMAND is for the shell."), to: width)
  }
}

extension String {
  fileprivate func padding(_ count: Int) -> String { self + String(repeating: " ", count: max(0, count - self.count)) }
}
