// SPDX-License-Identifier: Apache-2.0
/// The error of a link that is down, with the cause.
package struct Disconnection: Error, Sendable, Equatable, ConnectionError {
  package enum Cause: Sendable, Equatable {
    /// The controller reported that the link is down, with the reason in Disconnection Complete.
    case lost(ControllerErrorCode)
    /// blectl disconnected the link. The code is the controller's reason, nil if the controller did not confirm the disconnection.
    case endedHere(ControllerErrorCode?)
    /// The controller reused the connection handle for another link.
    case handleReused(adapter: String)
    /// blectl closed the channel. The link may still be up.
    case channelClosed
  }

  package let peer: PeerAddress
  package let cause: Cause

  package init(_ peer: PeerAddress, _ cause: Cause) { (self.peer, self.cause) = (peer, cause) }

  /// The controller's reason. Nil without one.
  package var reason: ControllerErrorCode? {
    switch cause {
    case .lost(let reason): reason
    case .endedHere(let reason): reason
    case .handleReused, .channelClosed: nil
    }
  }

  /// The reason for a retry. Nil if no retry can help. A link may fail even after LE Connection Complete (Vol 6 Part B §4.5).
  package var retryReason: RetryReason? { if case .lost(let reason) = cause { RetryReason(reason) } else { nil } }
  package var mayPass: Bool { true }
}
