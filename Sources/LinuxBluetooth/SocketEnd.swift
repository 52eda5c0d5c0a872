package import Bluetooth
package import GAP
package import SystemPackage

/// The reason why a kernel link went down.
package struct SocketEnd: ConnectionError, Sendable, Equatable {
  package enum Cause: Sendable, Equatable {
    /// The reason in Disconnection Complete, if the process may see events.
    case reason(ControllerErrorCode)
    /// The error of the ATT socket. Nil if the socket closed without an error.
    case errno(Errno?)
    /// The adapter is down or unplugged.
    case adapterGone(String)
  }

  package let peer: PeerAddress
  package let cause: Cause

  package init(_ peer: PeerAddress, _ cause: Cause) {
    self.peer = peer
    self.cause = cause
  }

  package var retryReason: RetryReason? {
    switch cause {
    case .reason(let reason): RetryReason(reason)
    case .errno(.connectionReset?): .closedByPeer
    case .errno, .adapterGone: nil
    }
  }
}
