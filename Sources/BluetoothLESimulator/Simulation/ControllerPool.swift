// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// A pool that gives each connected host a virtual controller of its own in one air.
/// When a host leaves, its controller disappears like an unplugged adapter. Devices notice the loss after the supervision timeout.
@LoopActor
package final class ControllerPool {
  package enum Event {
    /// A host sent its first packet. The pool does not report a host that connects but sends nothing.
    case came(Host)
    /// A host left. Its `number` is nil if it never sent a packet.
    case left(Host, Departure)
    /// The pool closed a new stream, because all its controllers are in use.
    case refused
  }

  package enum Departure {
    /// The stream ended with this error.
    case ended(any Error)
    /// The host did not read its packets. The pool disconnected the host when this number of bytes waited.
    case stuck(bytes: Int)
  }

  package var onEvent: (@LoopActor (Event) -> Void)?
  /// The connected hosts, including those that have sent nothing yet.
  package private(set) var hosts: [Host] = []
  /// The number of hosts that have sent a packet so far.
  package private(set) var arrivals = 0

  private let air: Air
  private let configuration: VirtualController.Configuration
  private let tap: (any Tap)?

  /// The maximum number of hosts. Each host has its own connection handles and a documentation address (RFC 7042 §2.1.1).
  package nonisolated static let limit = 250
  /// The numbers of waiting bytes above which the pool withholds advertising reports from a host (`crowded`), and disconnects it (`stuck`).
  package nonisolated static let (crowded, stuck) = (1 << 16, 1 << 20)

  /// Creates a pool whose controllers work in `air`.
  /// - Parameter tap: The observer of the packets of all controllers. The connection handles of different controllers differ.
  package init(air: Air, configuration: VirtualController.Configuration = .init(), tap: (any Tap)? = nil) {
    (self.air, self.configuration, self.tap) = (air, configuration, tap)
  }

  /// Gives a controller to the host that uses the stream. Closes the stream if all controllers are in use.
  package func attach(_ stream: any HostTransport) {
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

  /// Disconnects all hosts and closes their controllers.
  package func close() {
    let all = hosts
    hosts = []
    for host in all { host.close() }
  }

  /// A connected host and the controller that serves it.
  @LoopActor
  package final class Host {
    /// The number of the host in the order of first packets, from 1. Nil before its first packet.
    package fileprivate(set) var number: Int?
    fileprivate let slot: Int
    private let controller: VirtualController
    /// The transport to the controller, through the tap if there is one.
    private let transport: any Transport
    private let stream: any HostTransport
    private var isOver = false

    fileprivate init(_ controller: VirtualController, _ transport: any Transport, _ stream: any HostTransport, _ slot: Int) {
      (self.controller, self.transport, self.stream, self.slot) = (controller, transport, stream, slot)
    }

    /// The address of the host's controller.
    package var address: Address { controller.address }
    /// The number of advertising events that the controller dropped because the host had not read earlier packets.
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
        // A host stream does not send these events.
        case .refused, .linkEnded, .linkExhausted: break
        }
      }
      transport.handler = { [weak self] event in
        guard let self, !isOver, case .received(let packet) = event else { return }
        stream.send(packet)
        guard stream.backlog > ControllerPool.stuck else { return }
        let bytes = stream.backlog
        close()
        left(.stuck(bytes: bytes))
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
