package import Bluetooth
import EventLoop

/// An error of a connection attempt that a device may cause before it is ready, or when it is too far away.
package protocol PassingError: Error {
  /// Whether a later attempt may succeed.
  var mayPass: Bool { get }
}

/// An error of a connection attempt, or of a link that has not carried an answer yet.
package protocol ConnectionError: PassingError {
  /// The reason why another attempt may succeed. Nil if it would fail again.
  var retryReason: RetryReason? { get }
}

extension ConnectionError {
  package var mayPass: Bool { retryReason != nil }
}

/// The reason why another connection attempt may succeed.
package enum RetryReason: Sendable, Equatable {
  /// Connection Failed to be Established (0x3E): the advertiser missed the first packets, or accepted another device's request first.
  case notEstablished
  /// The device closed the link. Some devices accept only every second or third connection.
  case closedByPeer

  /// Derives the reason.
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

  package var mayPass: Bool { if case .noConnection = self { true } else { retryReason != nil } }
}

extension Central {
  /// Retries a connection up to `times` times within the same time limit, with a note each time. Disconnects a link that `confirm` rejects
  /// before the next attempt.
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

  /// Connects without a check that the device answers, and retries like `connect(_:timeout:retries:confirm:)`.
  package func connect(_ peer: PeerAddress, timeout: Duration, retries: Int = 1) async throws -> any Link {
    try await connect(peer, timeout: timeout, retries: retries) { link, _ in link }
  }
}
