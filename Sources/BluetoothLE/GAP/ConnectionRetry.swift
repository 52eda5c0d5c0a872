// SPDX-License-Identifier: Apache-2.0
/// An error that may be temporary, for example because the device is not ready or is too far away.
package protocol PassingError: Error {
  /// Whether the cause of the error may be temporary, so that an attempt on a new link may succeed.
  var mayPass: Bool { get }
}

/// An error of a connection attempt, or of a link on which the device has not answered yet.
package protocol ConnectionError: PassingError {
  /// The reason why another attempt may succeed. Nil if another attempt would fail in the same way.
  var retryReason: RetryReason? { get }
  /// The reason in Disconnection Complete. Nil without one.
  var reason: ControllerErrorCode? { get }
}

extension ConnectionError {
  package var mayPass: Bool { retryReason != nil }
  package var reason: ControllerErrorCode? { nil }

  /// Whether the device closed the link for lack of security.
  package var isOfSecurity: Bool {
    reason.map { [.authenticationFailure, .pinOrKeyMissing, .insufficientSecurity].contains($0) } ?? false
  }
}

/// The cause of a failed connection attempt that another attempt may overcome.
package enum RetryReason: Sendable, Equatable {
  /// The advertiser missed the first packets, or accepted another device's request: Connection Failed to be Established (0x3E).
  case notEstablished
  /// The device closed the link. Devices exist that accept only every second or third connection.
  case closedByPeer

  /// Derives the retry reason from an error code. Returns nil if another attempt would fail in the same way.
  /// - Parameter reason: the status of Connection Complete, or the reason of Disconnection Complete.
  package init?(_ reason: ControllerErrorCode) {
    switch reason {
    case .connectionFailedToBeEstablished: self = .notEstablished
    case .remoteUserTerminated, .remoteLowResources, .remotePowerOff: self = .closedByPeer
    default: return nil
    }
  }
}

extension GAPError: ConnectionError {
  package var retryReason: RetryReason? {
    if case .connectionFailed(_, .connectionFailedToBeEstablished) = self { .notEstablished } else { nil }
  }

  package var mayPass: Bool {
    switch self {
    case .noConnection, .scanEnded: true
    case .connectionFailed(_, let status):
      ![.hardwareFailure, .commandDisallowed, .unsupportedFeature, .invalidParameters, .authenticationFailure].contains(status)
    default: false
    }
  }
}

extension ATTError: PassingError { package var mayPass: Bool { if case .violation = self { false } else { true } } }

extension PairingFailure: PassingError {
  /// Only silence and the end of the link may pass. A device that lost its bond stays without it.
  package var mayPass: Bool {
    switch self {
    case .silent, .disconnected, .closed: true
    default: false
    }
  }
}

extension Central {
  /// Retries a connection up to `times` times, within the time limit of `attempt`, and sends a note before each retry.
  /// Disconnects a link that `confirm` rejects before the next attempt.
  package func retrying<Value>(
    _ peer: PeerAddress, times: Int, confirm: @LoopActor (any Link, Int) async throws -> Value,
    _ attempt: @LoopActor () async throws -> any Link
  ) async throws -> Value {
    var left = times
    while true {
      do {
        let link = try await attempt()
        do { return try await confirm(link, left) } catch {
          await link.disconnect()
          throw error
        }
      } catch let error as any ConnectionError where left > 0 {
        guard let reason = error.retryReason else { throw error }
        left -= 1
        onNote?(.tryingAgain(peer, reason))
      }
    }
  }

  /// Connects without checking that the device answers. Retries like `connect(_:timeout:retries:confirm:)`.
  package func connect(_ peer: PeerAddress, timeout: Duration, retries: Int = 1) async throws -> any Link {
    try await connect(peer, timeout: timeout, retries: retries) { link, _ in link }
  }
}
