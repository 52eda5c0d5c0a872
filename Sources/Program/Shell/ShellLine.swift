package import CommandLine

/// One line of a session, parsed as a command line is.
package struct ShellLine {
  /// The words of the line, with the command's name first and a negative value last.
  package let words: [String]
  /// The parsed command, with the session's defaults for options that the user omitted.
  package var command: any LoopCommand
  /// Whether the words name a PEER.
  package let namesPeer: Bool

  package var name: String { words.first ?? "" }
  /// Whether the command uses the current device of the session.
  package var isAboutCurrent: Bool { command.isAboutCurrent }
  /// Whether the command makes a bond, without which the link cannot have the level that other commands demand.
  package var pairs: Bool { type(of: command).commandName == "pair" }

  /// Parses the words of a line.
  /// - Parameter typed: The words of the line, at least one.
  /// - Throws: Failure(.usage) for an invalid line; HelpText if the line asks for help.
  @LoopActor
  package init(_ typed: [String], _ settings: ShellSettings, _ commands: SessionCommands) throws {
    words = commands.commandFirst(typed)
    guard let type = commands.type(named: words.first ?? "") else { throw commands.unknown(words) }
    let rest = Array(words.dropFirst())
    let peerIndex = type.takesPeer ? commands.options(of: type).omittedPeer(in: rest) : nil
    namesPeer = type.takesPeer && peerIndex == nil
    do {
      guard var command = try type.command(from: rest, currentDeviceAt: peerIndex) else { throw HelpText(type, rest) }
      try command.check(words, commands.set, isSession: true)
      command.take(settings)
      self.command = command
    } catch {
      if error is Failure || error is HelpText { throw error }
      if type.exitCode(for: error) == .success {
        throw rest.contains("--version") ? HelpText(text: type.fullMessage(for: error)) : HelpText(type, rest)
      }
      throw Failure(.usage, UsageText(error, words, commands.set, of: type, withoutPeerAt: peerIndex.map { $0 + 1 }).sentence)
    }
  }

  /// Replaces the PEER of the command.
  package mutating func use(_ device: PeerArgument) { command.use(device) }
}

/// The help that a line asks for, such as `read -h`.
package struct HelpText: Error {
  let text: String

  /// The message for a script that asks for help.
  package static let refusal = "help does not work in scripts."

  init(text: String) { self.text = text }

  init(_ type: any LoopCommand.Type, _ words: [String]) {
    text = HelpPage(of: type, isSession: true).text(isShort: words.contains("-h") && !words.contains("--help"))
  }

  @LoopActor func show(_ output: Output, in shell: Shell) async throws {
    if !output.style.json, let pager = shell.pager, try await pager(text) { return }
    try await output.show(text) {
      $0.string("event", "help")
      $0.string("text", text)
    }
  }
}

/// The recorder of a session's lines for `--record`.
@LoopActor
package protocol LineRecorder: CommandRecorder {
  /// Adds a line to the script and returns the observer of its command. `device` is nil for a command without a device.
  func begin(_ line: ShellLine, _ device: SessionDevice?, _ output: Output) -> any CommandObserver
}
