// SPDX-License-Identifier: Apache-2.0
/// Links of which each serves one command, or one connection of the library.
@LoopActor
package final class OneShotLinks: DeviceLinks {
  package let session: Session
  package let reporter: any LinkReporter
  package let clientObserver: Session.ClientObserver?

  package init(_ session: Session, _ reporter: any LinkReporter, _ clientObserver: Session.ClientObserver?) {
    (self.session, self.reporter, self.clientObserver) = (session, reporter, clientObserver)
  }
}

extension DeviceLinks {
  package func connection(for request: LinkRequest) async throws -> Connection { try await open(request) }

  package func keeps(_ connection: Connection) -> Bool { false }

  package func search(for request: LinkRequest, within limit: Duration) async throws -> FoundDevice {
    .peer(try await session.find(request.search(within: limit), reporter))
  }
}
