package import BluetoothLE
package import BluetoothLEDeviceFiles

/// The links of one-shot commands. Each command opens its own link.
@LoopActor
package final class OneShotLinks: CommandLinks {
  package let session: Session
  package let reporter: any LinkReporter
  package let clientObserver: Session.ClientObserver?
  package var device: DeviceDescription?

  package init(_ session: Session, _ reporter: any LinkReporter, _ clientObserver: Session.ClientObserver?) {
    (self.session, self.reporter, self.clientObserver) = (session, reporter, clientObserver)
  }

  package func connection(for request: LinkRequest) async throws -> Connection { try await open(request) }

  package func keeps(_ connection: Connection) -> Bool { false }

  package func search(for request: LinkRequest, within limit: Duration) async throws -> FoundDevice {
    .peer(try await session.find(request.search(within: limit), reporter))
  }
}
