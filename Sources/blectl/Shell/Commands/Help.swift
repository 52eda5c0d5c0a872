import ArgumentParser
import Terminal
import Text

struct Help: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "help", _superCommandName: "blectl", abstract: "List the commands, or say all about one.")
  static let turn = ShellTurn.atOnce

  @OptionGroup var process: ProcessOptions
  @OptionGroup var step: StepOptions

  @Argument(help: "A command.")
  var name: String?

  var usesNames: Bool { false }

  func run(in context: Context) async throws {
    guard let name else {
      let width = ShellCommands.names.map(\.count).max() ?? 0
      var lines = ShellCommands.all.map { type in
        let name = type.configuration.commandName ?? ""
        return name + String(repeating: " ", count: width + 2 - name.count) + type.configuration.abstract
      }
      lines.append(
        "PEER may be left out: then the device that was connected last is meant. help COMMAND says more; !COMMAND is for the shell.")
      try await HelpText(text: lines.joined(separator: "\n")).show(context.output)
      return
    }
    guard let type = ShellCommands.type(named: name) else { throw ShellCommands.unknown(name) }
    try await HelpText(text: type.helpMessage()).show(context.output)
  }
}
