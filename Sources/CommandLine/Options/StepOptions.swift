import EventLoop
import Finding
package import Operations

/// What `--timeout` says of one command: in a session that stays open each may have its own.
package struct StepOptions {
  /// Seconds, more than 0 and up to 86400.
  package let timeout: Double?

  /// How long a device may take to turn up.
  package var searchLimit: Duration { timeout.map { .limited(seconds: $0) } ?? PeerSearch.usualLimit }

  /// How long it is waited for a device that is not there yet.
  package var waitLimit: Duration { .limited(seconds: timeout ?? 3600) }

  /// How long it may take to accept the connection, and to answer.
  package var limits: Session.Limits {
    var limits = Session.Limits()
    guard let timeout else { return limits }
    limits.connecting = .limited(seconds: timeout)
    limits.transaction = .limited(seconds: timeout)
    return limits
  }
}
