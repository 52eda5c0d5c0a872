// SPDX-License-Identifier: Apache-2.0
package import BluetoothLEText

/// An event of a search, a connection attempt or an open link, for the user.
package enum LinkEvent: Sendable {
  /// The search repeats until the device appears.
  case waiting(PeerSelector)
  /// A search for a device starts. It lasts at most the given time.
  case searching(PeerSelector, within: Duration)
  /// The number of devices that the search has heard so far.
  case heard(Int)
  /// The devices that the search heard, including devices that do not match.
  case searched([DeviceView])
  case searchEnded
  /// Several devices match the selector. The search chose the strongest.
  case chose(PeerMatch, PeerSelector)
  /// The search chose a device that has the name of a bonded device. If the search still waits for the bonded device, `isWaiting` is true.
  case namesake(Namesake, isWaiting: Bool)
  /// A session already has a link to the device, under another name.
  case isSame(String, as: String)
  case connecting(PeerAddress, name: UntrustedText?)
  /// The connection attempt failed with this error. Another attempt follows.
  case stillWaiting(any Error)
  case connected
  /// The link is ready, after the requests for its parameters.
  case ready(Connection)
  /// The device agreed to an MTU, in bytes, that differs from the requested MTU.
  case mtu(Int, requested: Int)
  /// The link keeps its MTU, in bytes. A client can exchange the MTU only once on a link.
  case mtuStays(Int, requested: Int)
  /// The device answered the request for a parameter. The agreed value is nil if unknown.
  case agreed(LinkParameter?, requested: LinkParameter)
  /// The device or the controller refused a parameter. The link remains usable.
  case refused(LinkParameter, any Error)
  /// The device closed the link before it answered a request. blectl connects again.
  case tryingAgain(PeerAddress, RetryReason)
  /// The link is lost. The next attempt follows after a pause, which is nil if all pauses have the same length.
  case reconnecting(after: any Error, in: Duration?)
}

/// The facts about a failed search or connection attempt.
package struct FailedSearch: Sendable {
  package let selector: PeerSelector
  /// The first and the last time the search heard the device, in nanoseconds since 1970-01-01T00:00:00Z. Nil if the search never heard it.
  package var heard: ClosedRange<Int64>?
  /// The device that the search found. Nil if it found none.
  package var identity: PeerAddress?
}

/// A reporter that shows the events of links to the user, and adds advice and facts to errors.
@LoopActor
package protocol LinkReporter: AnyObject {
  func report(_ event: LinkEvent)
  /// Adds advice for the user to the error of a search or a connection attempt, and returns the resulting error.
  func explained(_ error: any Error, _ search: FailedSearch) -> any Error
  /// Adds facts about the connection to the error of a command, and returns the resulting error.
  func explained(_ error: any Error, on connection: Connection) -> any Error
  /// Looks up the name that a device advertised earlier. Returns nil if no name is stored.
  func storedName(of peer: PeerAddress) -> UntrustedText?
}
