import CommandLine
import EventLoop
import Presentation

/// A command that uses the session that it runs in: its links, its settings, or its lines.
protocol SessionCommand: LoopCommand {
  @LoopActor func run(in context: Context, _ session: SessionLinks) async throws
}

extension SessionCommand {
  /// Runs on the command line, which does not have most of these commands.
  func run(in context: Context) async throws { throw Failure(.internal, "This command needs a session.") }

  /// Only commands about a device wait for one.
  static var unusedOptions: [String] { takesPeer ? [] : ["--timeout"] }
}
