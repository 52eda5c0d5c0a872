import Glibc
package import SystemPackage

/// A failed connect() of an ATT socket. The kernel converts the controller's status to an errno (`bt_to_errno`).
/// ENOSYS means a status without a matching errno.
struct ConnectFailure: ConnectionError, Equatable {
  enum Stage {
    /// connect() itself failed, so the kernel sent nothing.
    case starting
    /// connect() succeeded, and SO_ERROR reported an error later.
    case completing
  }

  let errno: Errno
  let stage: Stage
  /// The status in LE Connection Complete. Nil if the process did not receive this event.
  var status: ControllerErrorCode?
  /// Whether the adapter went down during the attempt. The kernel then reports ECONNABORTED, as after a cancellation.
  var isAdapterDown = false

  var retryReason: RetryReason? {
    switch (stage, errno) {
    case (.completing, .noFunction): RetryReason(status ?? .connectionFailedToBeEstablished)
    case (.completing, .connectionReset): .closedByPeer
    default: nil
    }
  }

  /// Returns the error for the caller of `connect`: AdapterProblem, GAPError or NoConnection.
  /// - Parameters:
  ///   - limit: The time limit of the connection attempt.
  func error(_ peer: PeerAddress, adapter: String, limit: Duration) -> any Error {
    func none(_ cause: NoConnection.Cause) -> NoConnection {
      NoConnection(peer: peer, adapter: adapter, cause: cause, errno: errno, status: status)
    }
    return switch (stage, errno) {
    case (.starting, .connectionRefused): AdapterProblem.leDisabled(adapter)
    case (.starting, .noRouteToHost): AdapterProblem.down(adapter)
    case (.completing, .connectionAbort) where isAdapterDown: AdapterProblem.down(adapter)
    // The kernel reports its own time limit as a refused connection.
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

/// The reason why the kernel opened no link to a peer.
package struct NoConnection: PassingError, Sendable, Equatable {
  package enum Cause: Sendable, Equatable {
    /// Another program uses the peer's ATT channel, or is connecting to the peer.
    case takenByAnother
    /// The controller has its maximum number of connections.
    case tooManyLinks
    case endedByPeer
    /// This host canceled the attempt, perhaps through another program.
    case givenUpHere
    case notEstablished
    /// Authentication failed, or one of the two devices rejected the authentication.
    case security
  }

  package var mayPass: Bool { cause != .security }

  package let peer: PeerAddress
  package let adapter: String
  package let cause: Cause
  package let errno: Errno
  /// The status in the LE Connection Complete event. Nil if the process did not receive this event.
  package let status: ControllerErrorCode?
}

/// The reason why a kernel link went down.
package struct SocketEnd: ConnectionError, Sendable, Equatable {
  package enum Cause: Sendable, Equatable {
    /// The reason in the Disconnection Complete event.
    case reason(ControllerErrorCode)
    /// The error of the ATT socket. Nil if the socket closed without an error.
    case errno(Errno?)
    /// The adapter is down or unplugged.
    case adapterGone(String)
  }

  package let peer: PeerAddress
  package let cause: Cause

  package init(_ peer: PeerAddress, _ cause: Cause) { (self.peer, self.cause) = (peer, cause) }

  package var retryReason: RetryReason? {
    switch cause {
    case .reason(let reason): RetryReason(reason)
    case .errno(.connectionReset?): .closedByPeer
    case .errno, .adapterGone: nil
    }
  }
  package var mayPass: Bool { true }
  package var reason: ControllerErrorCode? { if case .reason(let reason) = cause { reason } else { nil } }

  /// Returns the reason in words for a link that ended with an error of its socket.
  package static func words(endedWith errno: Errno) -> String {
    switch errno {
    case .timedOut: "the device stopped answering, and may be off or out of range"
    case .connectionReset: "the device closed it"
    case .connectionAbort: "this computer closed it, perhaps for another program"
    case .noFunction: "the Link Layer failed (encryption, or an update that the device did not follow)"
    case .operationNotSupportedByDevice, .networkDown, .brokenPipe: "the adapter was switched off or unplugged"
    default: errno.words
    }
  }
}
