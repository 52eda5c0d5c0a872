import ArgumentParser
import Glibc

@main
enum Main {
  static func main() {
    // A reader that goes away is an error of write(2) here, not a signal in the middle of an open link.
    signal(SIGPIPE, SIG_IGN)
    holdStandardDescriptors()
    let arguments = Arguments.commandFirst(Array(CommandLine.arguments.dropFirst()))
    let command: any ParsableCommand
    do { command = try Blectl.command(from: arguments) } catch { exit(Program.reportUsage(error, arguments: arguments)) }
    guard let command = command as? any LoopCommand else {
      exit(help(command, arguments))
    }
    exit(Program.run(command, environment: Arguments.environment()))
  }

  /// A standard descriptor that the caller closed would be given to the next file or socket that is opened, and results or messages would
  /// go there. What is put in its place fails (EBADF) when it is read or written, as the closed one would.
  private static func holdStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// `help` and such run by themselves; `blectl` alone has nothing to do yet.
  private static func help(_ command: any ParsableCommand, _ arguments: [String]) -> Int32 {
    var command = command
    do {
      if command is Blectl { throw ValidationError("Name a command.") }
      try command.run()
      return 0
    } catch {
      return Program.reportUsage(error, arguments: arguments)
    }
  }
}
