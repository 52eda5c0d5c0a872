import ArgumentParser
import EventLoop
import Operations

/// Options of one command, which every command takes, before or after its name: in a session that stays open each may have its own.
struct StepOptions: ParsableArguments {
  @Option(
    name: [.customShort("t", allowingJoined: true), .long], parsing: .unconditional,
    help: ArgumentHelp("Limit for each step that waits on the peer (connect 20, ATT transaction 30).", valueName: "seconds"))
  var timeout: Double?

  /// Those that take a value, for moving them behind the command's name.
  static let namesWithValue = ["-t", "--timeout"]

  func validate() throws {
    if let timeout, !(timeout > 0 && timeout <= 86_400) {
      throw ValidationError("--timeout takes seconds, more than 0 and up to 86400, not \(timeout.plainText)")
    }
  }

  /// How long a device may take to turn up.
  var searchLimit: Duration { .limited(seconds: timeout ?? 10) }

  /// How long it is waited for a device that is not there yet.
  var waitLimit: Duration { .limited(seconds: timeout ?? 3600) }

  /// How long it may take to accept the connection, and to answer.
  var limits: Session.Limits {
    var limits = Session.Limits()
    guard let timeout else { return limits }
    limits.connecting = .limited(seconds: timeout)
    limits.transaction = .limited(seconds: timeout)
    return limits
  }
}
