import CommandLine

package struct Repl: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "repl", abstract: "Start a session, interactive or for programs (--json).",
    discussion: """
      On a terminal, you edit lines with completion and history. Otherwise blectl reads one command per line from standard input.

      With --json, a line is a command or {"id":1,"command":"read name:Band-7 2a19 -t 5"}. blectl answers with records of this id, then with {"event":"done","id":1,"status":0}, or with another status and an error. -t limits each wait of a command. Commands for different devices run in parallel. Name the device in each command (name:Band-7, an address, @ALIAS), or use connect.
      """)
  static let examples = [
    "echo read battery_level | blectl -i sim repl Band-7", "echo read name:Band-7 2a19 -t 5 | blectl -i sim repl --json",
  ]
  static let traits = CommandTraits(runsInSessions: false, isSession: true)

  @OptionGroup var process: ProcessOptions
  @Argument(help: "Connect to this device first") var peer: PeerArgument?

  var isShared: Bool { process.json }

  func run(in context: Context) async throws { try await Self.converse(Shell(context.process, timeout: step.timeout), connecting: peer) }

  /// Runs a session with the user or the program at standard input. Connects to `peer` first, unless `peer` is nil.
  /// - Parameter link: The device whose loss ends the session, unless the session restores lost connections. Nil for no such device.
  @LoopActor
  static func converse(_ shell: Shell, connecting peer: PeerArgument? = nil, endingWith link: SessionDevice? = nil) async throws {
    // From here on, the user or the program can type what advice names.
    shell.process.commands.program = ""
    shell.process.output.showPrompt(for: shell.process.commands.set.atPrompt)
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
