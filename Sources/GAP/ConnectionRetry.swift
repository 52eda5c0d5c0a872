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
  /// The one rule for connecting again: once, within the same limit, and told.
  package func retrying<Value>(_ peer: PeerAddress, _ attempt: @LoopActor () async throws -> Value) async throws -> Value {
    do {
      return try await attempt()
    } catch let error as any ConnectionError where error.isWorthRetrying {
      onNote?(.tryingAgain(peer))
      return try await attempt()
    }
  }
}
