// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// The links of a transfer on an open connection, which somebody else restores.
@LoopActor
final class PresentLinks: DeviceLinks {
  let session: Session
  let reporter: any LinkReporter = SilentReporter()
  var clientObserver: Session.ClientObserver? { nil }
  private let device: Connection

  init(_ session: Session, _ device: Connection) { (self.session, self.device) = (session, device) }

  func connection(for request: LinkRequest) async throws -> Connection {
    try await device.untilRestored()
    if let closed = device.client.closed { throw closed }
    return device
  }

  func keeps(_ connection: Connection) -> Bool { true }

  func search(for request: LinkRequest, within limit: Duration) async throws -> FoundDevice { .connection(device) }
}

/// A reporter for callers who see results and errors only.
@LoopActor
final class SilentReporter: LinkReporter {
  nonisolated init() {}

  func report(_ event: LinkEvent) {}
  func explained(_ error: any Error, _ search: FailedSearch) -> any Error { error }
  func explained(_ error: any Error, on connection: Connection) -> any Error { connection.withDemand(error) }
  func storedName(of peer: PeerAddress) -> UntrustedText? { nil }
}
