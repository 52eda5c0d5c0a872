package import Bluetooth
package import EventLoop
package import Finding
package import GAP
package import Text

/// An event of a connection attempt.
package enum LinkEvent: Sendable {
  /// The search repeats until the device appears.
  case waiting(PeerSelector)
  /// A search starts.
  case searching(PeerSelector, within: Duration)
  /// The number of devices heard so far.
  case heard(Int)
  /// The devices heard by the search, including those that do not match.
  case searched([DeviceView])
  case searchEnded
  /// Several devices match. This one is the strongest.
  case chose(PeerMatch, PeerSelector)
  /// A session already has the device, under another name.
  case isSame(String, as: String)
  case connecting(PeerAddress, name: UntrustedText?)
  /// The attempt failed. Another one follows.
  case stillWaiting(any Error)
  case connected
  /// The link is ready, after the requests for its parameters.
  case ready(Connection)
  /// The device agreed to another MTU.
  case mtu(Int, requested: Int)
  /// The link keeps its MTU, because a client can exchange the MTU only once.
  case mtuStays(Int, requested: Int)
  /// The device agreed to a parameter. Nil if the result is unknown.
  case agreed(LinkParameter?, requested: LinkParameter)
  /// The device or the controller refused a parameter. The link works, but slower.
  case refused(LinkParameter, any Error)
  /// The device closed the link before it answered. The session connects again.
  case tryingAgain(PeerAddress, RetryReason)
  /// The link is lost. The next attempt follows after this pause. Nil if all pauses have the same length.
  case reconnecting(after: any Error, in: Duration?)
}

/// The meaning of an error for a link.
package enum LinkProblem: Sendable, Equatable {
  /// The link is lost.
  case disconnected
  /// The search did not find the device, or the device did not answer in time.
  case absent
  case other

  /// Whether a new link may help.
  package var isLoss: Bool { self != .other }
}

/// The facts about a failed search or connection attempt.
package struct FailedSearch: Sendable {
  package let selector: PeerSelector
  /// The first and the last time the search heard the device, in nanoseconds since 1970-01-01T00:00:00Z. Nil if it never did.
  package var heard: ClosedRange<Int64>?
}

/// Shows the events of links, and explains errors.
@LoopActor
package protocol LinkReporter: AnyObject {
  func report(_ event: LinkEvent)
  /// Adds advice to the error of a search or a connection attempt.
  func explained(_ error: any Error, _ search: FailedSearch) -> any Error
  /// Adds facts about the connection to the error of a command.
  func explained(_ error: any Error, on connection: Connection) -> any Error
  func problem(_ error: any Error) -> LinkProblem
  /// Looks up the name that a device advertised earlier.
  func storedName(of peer: PeerAddress) -> UntrustedText?
}
