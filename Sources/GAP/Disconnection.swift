package import Bluetooth

/// The reason why a link is down.
package struct Disconnection: Error, Sendable, Equatable, ConnectionError {
  package enum Cause: Sendable, Equatable {
    /// The controller lost the link, with the reason in Disconnection Complete.
    case lost(ControllerErrorCode)
    /// This side disconnected, with the controller's reason. Nil if the controller did not confirm.
    case endedHere(ControllerErrorCode?)
    /// The controller reused the handle for another link.
    case handleReused(adapter: String)
    /// This side closed the channel. The link may still be up.
    case channelClosed
  }

  package let peer: PeerAddress
  package let cause: Cause

  package init(_ peer: PeerAddress, _ cause: Cause) {
    self.peer = peer
    self.cause = cause
  }

  /// The reason for a retry. A link may still fail to be established after LE Connection Complete (Vol 6 Part B §4.5).
  package var retryReason: RetryReason? { if case .lost(let reason) = cause { RetryReason(reason) } else { nil } }
}
