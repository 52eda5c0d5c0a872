import CommandLine
import EventLoop
import Presentation

/// A command that uses the links, the settings or the lines of its session.
protocol SessionCommand: LoopCommand {
  @LoopActor func run(in context: Context, _ session: SessionLinks) async throws
}

extension SessionCommand {
  /// Throws a failure, because the command needs a session.
  func run(in context: Context) async throws { throw Failure(.internal, "This command needs a session.") }

  /// The options without effect. Only commands with a PEER wait for a device.
  static var unusedOptions: [String] { takesPeer ? [] : ["--timeout"] }

  /// The form in a recorded script, which omits the commands of the session itself.
  var recordedForm: RecordedForm { RecordedForm(isLeftOut: !Self.takesPeer) }
}
