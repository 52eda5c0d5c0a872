import CommandLine

/// A command that uses the connections, the settings or the lines of its session.
protocol SessionCommand: LoopCommand {
  @LoopActor func run(in context: Context, _ session: SessionLinks) async throws
}

extension SessionCommand {
  /// Throws an internal failure, because this command runs only in a session.
  func run(in context: Context) async throws { throw Failure(.internal, "This command needs a session.") }

  /// The global options that have no effect. Without a PEER, the command ignores `--timeout`.
  static var unusedOptions: [String] { takesPeer ? [] : ["--timeout"] }

  /// The form of the command in a recorded script. The script omits a command that takes no PEER.
  var recordedForm: RecordedForm { RecordedForm(isLeftOut: !Self.takesPeer) }
}
