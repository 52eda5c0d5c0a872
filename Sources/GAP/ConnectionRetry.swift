package import Bluetooth
import EventLoop

/// An error of a connection attempt that may be chance.
package protocol ConnectionError: Error {
  /// Connection Failed to be Established (0x3E): the advertiser did not hear the first packets, or another's request first. Common, and
  /// cured by trying again.
  var isWorthRetrying: Bool { get }
}

extension GAPError: ConnectionError {
  package var isWorthRetrying: Bool {
    if case .connectionFailed(_, .connectionFailedToBeEstablished) = self { true } else { false }
  }
}

extension Central {
  /// The one rule for connecting again: so many times at most, within the same limit, and told.
  package func retrying<Value>(_ peer: PeerAddress, times: Int, _ attempt: @LoopActor () async throws -> Value) async throws -> Value {
    var left = times
    while true {
      do {
        return try await attempt()
      } catch let error as any ConnectionError where error.isWorthRetrying && left > 0 {
        left -= 1
        onNote?(.tryingAgain(peer))
      }
    }
  }

  /// As `connect(_:timeout:retries:)` does unless asked otherwise.
  package func connect(_ peer: PeerAddress, timeout: Duration) async throws -> any Link {
    try await connect(peer, timeout: timeout, retries: 1)
  }
}
