package import Bluetooth
package import GAP
package import SystemPackage

/// Why a link of the kernel's that was up is down.
package struct SocketEnd: ConnectionError, Sendable, Equatable {
  package enum Cause: Sendable, Equatable {
    /// The reason of Disconnection Complete, when we may see events.
    case reason(ControllerErrorCode)
    /// What the ATT socket said; nil when it was just closed.
    case errno(Errno?)
    /// The adapter was switched off or unplugged.
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
