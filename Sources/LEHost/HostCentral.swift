package import Bluetooth
package import EventLoop
package import GAP
package import HCI
import HostCommon

/// The central role of our own LE host, over any HCI transport.
@LoopActor
package final class HostCentral: GAP.Central {
  package var onNote: (@LoopActor (GAPNote) -> Void)? {
    didSet {
      // The start has no observer yet.
      if malformedPackets > 0 { onNote?(.malformedPackets(adapter: name, malformedPackets)) }
    }
  }
  /// Looks up a device that a scan cannot find, such as one without advertisements in a recording. Nil on a radio.
  package var unheardPeer: (@LoopActor (Address) -> PeerAddress?)?

  let host: Host
  /// The connection that is being created. Others wait for their turn.
  var initiation: Initiation?
  let initiators = TurnQueue()
  var scan: Scan?
  /// Devices seen on the coded PHY: they can only be reached there. Bounded.
  var codedPeers: Set<PeerAddress> = []

  package init(_ transport: any HCI.Transport, name: String, tap: (any HCI.Tap)? = nil) {
    host = Host(tap.map { TappedTransport(transport, tap: $0) } ?? transport, name: name)
    host.onEvent = { [weak self] event in self?.handle(event) }
    host.onFailure = { [weak self] error in
      self?.initiation?.settle(.failure(error))
      self?.scan?.ended.resume(throwing: error)
    }
    host.controller.onMalformed = { [weak self] count in
      // At 1, 10, 100, …: a broken controller sends thousands.
      if Self.isPowerOfTen(count) { self?.onNote?(.malformedPackets(adapter: name, count)) }
    }
  }

  private static func isPowerOfTen(_ count: Int) -> Bool {
    var count = count
    while count > 1, count.isMultiple(of: 10) { count /= 10 }
    return count == 1
  }

  /// The controller's name for the user: `tcp:127.0.0.1:9000`.
  package var name: String { host.name }
  /// The controller's answers to `start`.
  package var adapterInfo: ControllerInfo { host.adapterInfo }
  package var controllerFacts: ControllerFacts? {
    ControllerFacts(name: name, address: adapterInfo.address, features: adapterInfo.features)
  }
  /// The links that are up.
  package var openLinks: [HostLink] { host.openLinks }
  package var failure: (any Error)? { host.controller.failure }
  /// The number of malformed packets from the controller. The host ignores them.
  package var malformedPackets: Int { host.controller.malformed }

  package func connectedPeer(_ address: Address) -> PeerAddress? {
    host.links.values.first { $0.peer.address == address }?.peer ?? unheardPeer?(address)
  }

  /// Starts the controller. Idempotent.
  /// - Throws: ControllerError if the controller does not answer, lacks LE, or refuses an indispensable command.
  package func start() async throws { try await host.start() }

  package func close() async {
    await host.close([scan?.commands.disable, initiation.map { _ in LECreateConnectionCancel().packet }].compactMap(\.self))
  }

  private func handle(_ event: Event) {
    if case .leConnectionComplete(let complete) = event { connected(complete) } else { scan?.reader.receive(event) }
  }
}
