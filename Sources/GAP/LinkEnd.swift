package import Bluetooth

/// Why a link is down.
package struct LinkEnd: Error, Sendable, Equatable, ConnectionError {
  package enum Cause: Sendable, Equatable {
    /// The reason of Disconnection Complete.
    case lost(ControllerErrorCode)
    /// This side ended it; the reason is the controller's, nil when it did not confirm.
    case endedHere(ControllerErrorCode?)
    /// The controller gave its handle to another link.
    case handleReused(adapter: String)
    /// This side closed the channel; the link may still be up.
    case channelClosed
  }

  package let peer: PeerAddress
  package let cause: Cause

  package init(_ peer: PeerAddress, _ cause: Cause) {
    self.peer = peer
    self.cause = cause
  }

  /// A link may still fail to be established after LE Connection Complete (Vol 6 Part B §4.5).
  package var retryReason: RetryReason? { if case .lost(let reason) = cause { RetryReason(reason) } else { nil } }
}
