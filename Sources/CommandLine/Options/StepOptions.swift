import EventLoop
import Finding
package import Operations

/// The value of `--timeout`, which each command of a session may set.
package struct StepOptions {
  /// The time limit in seconds, more than 0 and up to 86400.
  package let timeout: Double?

  /// The time limit of a search.
  package var searchLimit: Duration { timeout.map { .limited(seconds: $0) } ?? PeerSearch.usualLimit }

  /// The time limit of `--wait`, which waits for a device to appear.
  package var waitLimit: Duration { .limited(seconds: timeout ?? 3600) }

  /// The time limits for connecting and for answers.
  package var limits: Session.Limits {
    var limits = Session.Limits()
    guard let timeout else { return limits }
    limits.connecting = .limited(seconds: timeout)
    limits.transaction = .limited(seconds: timeout)
    return limits
  }
}
