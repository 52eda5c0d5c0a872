package import EventLoop

/// The seam below a host: whole HCI packets in H4 form (packet indicator first, Vol 4 Part A §2), in order.
/// Implemented by H4 streams, the kernel's user channel and the virtual controller.
@LoopActor
package protocol Transport: AnyObject {
  /// Called for every packet, and once with `.closed` when no more can come. Packets that arrive before it is set are kept.
  var handler: (@LoopActor (TransportEvent) -> Void)? { get set }
  /// Queues one packet; it is never dropped silently. After `.closed` it does nothing.
  func send(_ packet: [UInt8])
  /// The packets of the controller that were lost below the transport so far. Nil if unknown.
  var droppedPackets: Int? { get }
  /// Idempotent; releases the descriptor.
  func close()
}

extension Transport {
  package var droppedPackets: Int? { nil }
}

/// A transport as a controller has it: a host is at its other end, who may be slow to take what it is sent.
@LoopActor
package protocol HostTransport: Transport {
  /// Octets that were sent and that the host has not taken yet.
  var backlog: Int { get }
}

package enum TransportEvent: Sendable {
  case received([UInt8])
  /// The oldest command of this kind gets no answer, and why: of a transport that has no controller behind it.
  case refused(Opcode, any Error)
  /// As well, for a link that cannot go on; it is down.
  case linkEnded(ConnectionHandle, any Error)
  /// Nothing more comes on the link until the host sends something on it.
  case linkExhausted(ConnectionHandle, any Error)
  /// With why: an error of the room that implements the seam.
  case closed(any Error)
}

/// Sees every packet that crosses a transport, in both directions.
@LoopActor
package protocol Tap: AnyObject {
  /// Records one packet.
  /// - Parameters:
  ///   - packet: H4 form.
  ///   - isOurs: false for a packet about a link of another program.
  func record(_ packet: [UInt8], _ direction: Direction, isOurs: Bool)
}

package enum Direction: Sendable, Equatable {
  case hostToController
  case controllerToHost
}
