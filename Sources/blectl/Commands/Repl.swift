import ArgumentParser
import EventLoop
import Terminal

struct Repl: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "repl", _superCommandName: "blectl",
    abstract: "An interactive session; with --json one for programs.",
    discussion: """
      On a terminal with editing, completion and history. Else commands are read from standard input; with --json one a line, and each is \
      answered by its records and {"event":"done","id":…,"status":…,"peer":…}.
      """)

  @OptionGroup var process: ProcessOptions

  @Argument(help: "Connect this device first.")
  var peer: PeerArgument?

  func run(in context: Context) async throws {
    try await Self.converse(Shell(context.process, timeout: step.timeout), connecting: peer)
  }

  /// With whoever is at standard input.
  /// - Parameter link: the device whose loss ends it, unless it is to be made again.
  @LoopActor
  static func converse(_ shell: Shell, connecting peer: PeerArgument? = nil, endingWith link: Lane? = nil) async throws {
    do {
      if !shell.process.output.style.json, let terminal = InteractiveShell(shell) {
        try await terminal.run(connecting: peer)
      } else {
        try await InputSession(shell).run(connecting: peer, endingWith: link)
      }
    } catch {
      await shell.end()
      throw error
    }
    await shell.end()
  }
}
