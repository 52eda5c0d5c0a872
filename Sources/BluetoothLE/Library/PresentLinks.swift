// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// The links of a transfer on an open connection, which somebody else restores.
@LoopActor
final class PresentLinks: DeviceLinks {
  let session: Session
  let reporter: any LinkReporter = SilentReporter()
  var clientObserver: Session.ClientObserver? { nil }
  private let device: Connection
  private let lifeline: Lifeline

  init(_ session: Session, _ device: Connection, _ lifeline: Lifeline) {
    (self.session, self.device, self.lifeline) = (session, device, lifeline)
  }

  func connection(for request: LinkRequest) async throws -> Connection {
    try await device.untilRestored()
    // No attempt is left, so the transfer must not wait for another one.
    if let failure = lifeline.failure { throw LinkGone(cause: failure) }
    if let closed = device.client.closed { throw closed }
    return device
  }

  func keeps(_ connection: Connection) -> Bool { true }

  func search(for request: LinkRequest, within limit: Duration) async throws -> FoundDevice { .connection(device) }
}

/// The end of a link that stays lost.
struct LinkGone: Error {
  let cause: any Error
}

/// A reporter for callers who see results and errors only.
@LoopActor
final class SilentReporter: LinkReporter {
  private let name: UntrustedText?

  /// - Parameter name: The name of the device, if it is known and there is one.
  nonisolated init(name: UntrustedText? = nil) { self.name = name }

  func report(_ event: LinkEvent) {}
  func explained(_ error: any Error, _ search: FailedSearch) -> any Error { error }
  func explained(_ error: any Error, on connection: Connection) -> any Error { connection.withDemand(error) }
  func storedName(of peer: PeerAddress) -> UntrustedText? { name }
}
