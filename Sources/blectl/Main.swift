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
    let arguments = commands.arranged(Array(CommandLine.arguments.dropFirst()))
    do {
      try Arguments.refuseBytes()
      let command = try Gatttool.command(of: CommandLine.arguments, commands) ?? commands.command(from: arguments)
      ThisProcess.exit(Program.run(command, commands, environment: environment))
    } catch {
      Capabilities.drop()
      ThisProcess.exit(Program.reportUsage(error, arguments: arguments, commands))
    }
  }
}
