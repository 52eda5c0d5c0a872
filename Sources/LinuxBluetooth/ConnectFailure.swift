package import Bluetooth
import GAP
import Glibc
import LinuxIO
package import SystemPackage

/// What the errno of an ATT socket's connect() means. The kernel folds the controller's status into errno (`bt_to_errno`), and everything
/// that it has no errno for into ENOSYS.
struct ConnectFailure: ConnectionError, Equatable {
  enum Stage {
    /// From connect() itself: nothing has happened on the air.
    case starting
    /// From SO_ERROR, later.
    case completing
  }

  let errno: Errno
  let stage: Stage
  /// The status of the LE Connection Complete event, when we may see events.
  var status: ControllerErrorCode?
  /// The adapter was switched off meanwhile, which the kernel reports like a change of mind (ECONNABORTED).
  var isAdapterDown = false

  var retryReason: RetryReason? {
    switch (stage, errno) {
    case (.completing, .noFunction): RetryReason(status ?? .connectionFailedToBeEstablished)
    case (.completing, .connectionReset): .closedByPeer
    default: nil
    }
  }

  /// What the caller of `connect` is told: AdapterProblem, GAPError or NoConnection.
  /// - Parameters:
  ///   - limit: what the connection attempt had.
  func error(_ peer: PeerAddress, adapter: String, limit: Duration) -> any Error {
    func none(_ cause: NoConnection.Cause) -> NoConnection { NoConnection(peer, adapter: adapter, cause, errno: errno, status: status) }
    return switch (stage, errno) {
    case (.starting, .connectionRefused): AdapterProblem.leDisabled(adapter)
    case (.starting, .noRouteToHost): AdapterProblem.down(adapter)
    case (.completing, .connectionAbort) where isAdapterDown: AdapterProblem.down(adapter)
    // The kernel calls its own limit a refused connection.
    case (.completing, .connectionRefused), (.completing, .timedOut): GAPError.noConnection(peer, within: limit)
    case (_, .resourceBusy): none(.takenByAnother)
    case (_, .tooManyLinks): none(.tooManyLinks)
    case (.completing, .connectionReset): none(.endedByPeer)
    case (.completing, .connectionAbort): none(.givenUpHere)
    case (.completing, .noFunction): none(.notEstablished)
    case (.completing, .permissionDenied), (.completing, .invalidExchange): none(.security)
    case (_, .operationNotSupportedByDevice), (_, .brokenPipe), (.completing, .noRouteToHost), (.completing, .networkDown):
      AdapterProblem.unplugged(adapter)
    default: AdapterProblem.of(errno, adapter: adapter, .connecting(peer))
    }
  }
}

/// Why the kernel made no link to a peer.
package struct NoConnection: PassingError, Sendable, Equatable {
  package enum Cause: Sendable, Equatable {
    /// Another program has the peer's ATT channel, or is making the connection.
    case takenByAnother
    /// The controller has as many as it can have.
    case tooManyLinks
    case endedByPeer
    /// On this side, perhaps by another program.
    case givenUpHere
    case notEstablished
    /// Authentication failed, or was refused.
    case security
  }

  package var mayPass: Bool { cause == .notEstablished || cause == .endedByPeer }

  package let peer: PeerAddress
  package let adapter: String
  package let cause: Cause
  package let errno: Errno
  /// The status in the LE Connection Complete event. Nil without the right to see events.
  package let status: ControllerErrorCode?

  package init(_ peer: PeerAddress, adapter: String, _ cause: Cause, errno: Errno, status: ControllerErrorCode? = nil) {
    self.peer = peer
    self.adapter = adapter
    self.cause = cause
    self.errno = errno
    self.status = status
  }
}
