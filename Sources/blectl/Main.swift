import BluetoothLELinux
import CommandLine
import Gatttool
import Program

@main
enum Main {
  private static let environment = ThisProcess.environment()
  private static var commands: CommandSet { Blectl.commands }

  static func main() {
    ThisProcess.prepare()
    NamesFile.use { Configuration(environment: environment) }
    if CompletionRequest.isAsked(by: CommandLine.arguments) {
      Capabilities.drop()
      CompletionRequest(CommandLine.arguments)?.run(commands, environment)
      ThisProcess.exit(0)
    }
    let arguments = Arguments.commandFirst(Arguments.orSession(Array(CommandLine.arguments.dropFirst()), commands), commands)
    let command: any ParsableCommand
    do {
      try Arguments.refuseBytes()
      if let gatttool = try Gatttool.command(of: CommandLine.arguments, commands) {
        command = gatttool
      } else {
        try Arguments.refuseRepeated(arguments, commands)
        if let named = try commands.namedCommand(from: arguments) {
          ThisProcess.exit(Program.run(named, commands, environment: environment))
        }
        command = try commands.command(from: arguments)
      }
    } catch {
      Capabilities.drop()
      ThisProcess.exit(Program.reportUsage(error, arguments: arguments, commands))
    }
    guard let command = command as? any LoopCommand else { ThisProcess.exit(help(command, arguments)) }
    ThisProcess.exit(Program.run(command, commands, environment: environment))
  }

  /// Runs a command that needs no event loop, such as `help`, and returns the exit code.
  private static func help(_ command: any ParsableCommand, _ arguments: [String]) -> Int32 {
    Capabilities.drop()
    var command = command
    do {
      try command.run()
      return 0
    } catch {
      return Program.reportUsage(error, arguments: arguments, commands)
    }
  }
}
