package import Bluetooth
package import EventLoop
package import HCI

/// Controllers in one air for hosts that come and go: each host has one of its own for as long as it is connected. When it goes, in whatever
/// state, its controller goes with it, as an adapter that is pulled out: peers of its links hear nothing any more and notice after the
/// supervision timeout.
@LoopActor
package final class ControllerPool {
  package enum Event {
    /// The first packet of a host. Who connects and says nothing, as to see whether anybody listens, is none.
    case came(Host)
    /// Told of hosts that came, and of those whose stream cannot be one.
    case left(Host, Departure)
    /// All controllers are in use; the stream was closed.
    case refused
  }

  package enum Departure {
    /// The stream is over, with why.
    case ended(any Error)
    /// It did not take what it was sent, until this many octets waited. Dropping events or data would have corrupted its view of its links.
    case stuck(octets: Int)
  }

  package var onEvent: (@LoopActor (Event) -> Void)?
  /// Those that are connected, also those that have said nothing yet.
  package private(set) var hosts: [Host] = []
  /// Hosts that came so far.
  package private(set) var arrivals = 0

  private let air: Air
  private let configuration: VirtualController.Configuration
  private let tap: (any HCI.Tap)?

  /// So many have addresses of the block for documentation (RFC 7042 §2.1.1), and connection handles of their own.
  package nonisolated static let limit = 250
  /// Octets that wait for a host: from the first on it gets no more advertising reports, at the second it is given up.
  package nonisolated static let (crowded, stuck) = (1 << 16, 1 << 20)

  /// - Parameter tap: sees the packets of all controllers. Their connection handles differ, so that links can be told from each other.
  package init(air: Air, configuration: VirtualController.Configuration = .init(), tap: (any HCI.Tap)? = nil) {
    self.air = air
    self.configuration = configuration
    self.tap = tap
  }

  /// Gives the host at the stream's other end a controller.
  package func attach(_ stream: any HCI.HostTransport) {
    guard let slot = (0..<Self.limit).first(where: { slot in !hosts.contains { $0.slot == slot } }) else {
      stream.close()
      onEvent?(.refused)
      return
    }
    var configuration = configuration
    configuration.firstHandle += UInt16(slot * configuration.maxConnections)
    let address = Address(rawValue: VirtualController.defaultAddress.rawValue + UInt64(slot))
    let controller = VirtualController(air: air, address: address, configuration: configuration)
    controller.isHostBehind = { stream.backlog > Self.crowded }
    let host = Host(controller, tap.map { TappedTransport(controller, tap: $0) } ?? controller, stream, slot)
    hosts.append(host)
    host.run(
      greeted: { [weak self, weak host] in
        guard let self, let host else { return }
        arrivals += 1
        host.number = arrivals
        onEvent?(.came(host))
      },
      left: { [weak self, weak host] reason in
        guard let self, let host else { return }
        hosts.removeAll { $0 === host }
        onEvent?(.left(host, reason))
      })
  }

  /// Pulls all controllers out. Idempotent.
  package func close() {
    let all = hosts
    hosts = []
    for host in all { host.close() }
  }

  /// A host and its controller.
  @LoopActor
  package final class Host {
    /// In the order of their first packets, from 1; nil for who has said nothing.
    package fileprivate(set) var number: Int?
    fileprivate let slot: Int
    private let controller: VirtualController
    /// The controller, with the tap before it.
    private let transport: any HCI.Transport
    private let stream: any HCI.HostTransport
    private var isOver = false

    fileprivate init(_ controller: VirtualController, _ transport: any HCI.Transport, _ stream: any HCI.HostTransport, _ slot: Int) {
      self.controller = controller
      self.transport = transport
      self.stream = stream
      self.slot = slot
    }

    /// The controller's.
    package var address: Address { controller.address }
    /// Advertising events that it did not get, because it did not take those before.
    package var droppedReports: Int { controller.droppedReports }

    fileprivate func run(greeted: @escaping @LoopActor () -> Void, left: @escaping @LoopActor (Departure) -> Void) {
      stream.handler = { [weak self] event in
        guard let self, !isOver else { return }
        switch event {
        case .received(let packet):
          if number == nil { greeted() }
          transport.send(packet)
        case .closed(let error):
          close()
          left(.ended(error))
        // A stream has nothing to say itself.
        case .refused, .linkEnded, .linkExhausted: break
        }
      }
      transport.handler = { [weak self] event in
        guard let self, !isOver, case .received(let packet) = event else { return }
        stream.send(packet)
        guard stream.backlog > ControllerPool.stuck else { return }
        let octets = stream.backlog
        close()
        left(.stuck(octets: octets))
      }
    }

    fileprivate func close() {
      guard !isOver else { return }
      isOver = true
      transport.close()
      stream.close()
    }
  }
}
